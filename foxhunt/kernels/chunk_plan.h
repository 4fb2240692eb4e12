#pragma once
// How the rows of a batch are cut: into runs (one sequence each), and runs into chunks.
//
// A run begins where the row begins and wherever the segment number changes; only a run with
// segment 0 at the start of its row continues the row's state. Padding belongs to no run.

#include <cstdint>
#include <vector>

namespace foxhunt::kernels {

struct Chunk {
  std::int64_t start;   ///< first token within the row
  std::int64_t tokens;  ///< 1 .. Q
  std::int64_t run;     ///< first token of its run
  bool continues;       ///< its run began with the row's state
  bool last_of_run;
};

struct ChunkPlan {
  std::vector<Chunk> chunks;            ///< row by row, in time order
  std::vector<std::int64_t> row_begin;  ///< [B + 1] where a row's chunks begin

  std::int64_t size() const { return static_cast<std::int64_t>(chunks.size()); }
};

/// segments [B, T] or null (one run a row); lengths [B], 0 .. T, or null (all T).
ChunkPlan plan_chunks(std::int64_t batch, std::int64_t tokens, std::int64_t chunk,
                      const std::int64_t* segments, const std::int64_t* lengths);

}  // namespace foxhunt::kernels
