#pragma once
// Several DBN files into one, ordered by index time.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "foxhunt/columns/record_io.h"

namespace foxhunt::columns {

struct MergeOptions {
  int level = 9;  ///< of zstd, where the name of the output ends in .zst
  bool allow_truncated = false;
};

struct MergeReport {
  std::int64_t records = 0;
  std::vector<std::int64_t> of_file{};  ///< in the order of the inputs
  /// Records earlier than the one before them in their own file: they stay behind it.
  std::int64_t back_steps = 0;
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = ~std::uint64_t{0};
  std::vector<std::string> partial{};    ///< symbols that did not resolve on every day
  std::vector<std::string> not_found{};  ///< on no day
  bool truncated = false;
};

/// Merges DBN of any version into version 3. Stable: of equal times the file named first comes
/// first, and the records of one file keep their order. Memory: a buffer for each input.
/// Errors  DataError: what unite() refuses, no record in all inputs, an input cut short (unless
///         allowed); FormatError, IoError. `out` is then as it was.
MergeReport merge_files(const std::vector<std::filesystem::path>& inputs,
                        const std::filesystem::path& out, const MergeOptions& options = {},
                        const std::function<void(std::int64_t)>& progress = {});

}  // namespace foxhunt::columns
