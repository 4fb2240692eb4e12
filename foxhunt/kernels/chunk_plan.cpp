#include "foxhunt/kernels/chunk_plan.h"

#include <algorithm>

namespace foxhunt::kernels {
namespace {

void plan_run(std::int64_t begin, std::int64_t end, std::int64_t chunk, bool continues,
              std::vector<Chunk>& out) {
  for (std::int64_t at = begin; at < end; at += chunk) {
    out.push_back({at, std::min(chunk, end - at), begin, continues, at + chunk >= end});
  }
}

}  // namespace

ChunkPlan plan_chunks(std::int64_t batch, std::int64_t tokens, std::int64_t chunk,
                      const std::int64_t* segments, const std::int64_t* lengths) {
  ChunkPlan plan;
  plan.row_begin.push_back(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t end = lengths == nullptr ? tokens : lengths[b];
    const std::int64_t* row = segments == nullptr ? nullptr : segments + b * tokens;
    std::int64_t begin = 0;
    while (begin < end) {
      std::int64_t stop = end;
      if (row != nullptr) {
        stop = begin + 1;
        while (stop < end && row[stop] == row[begin]) ++stop;
      }
      plan_run(begin, stop, chunk, begin == 0 && (row == nullptr || row[0] == 0), plan.chunks);
      begin = stop;
    }
    plan.row_begin.push_back(plan.size());
  }
  return plan;
}

}  // namespace foxhunt::kernels
