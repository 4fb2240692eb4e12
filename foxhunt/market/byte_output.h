#pragma once
// Where written bytes go: a file that appears whole or not at all, memory, one zstd frame around
// either.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace foxhunt::market {

class ByteOutput {
 public:
  virtual ~ByteOutput() = default;  ///< without commit() nothing is left behind
  virtual void write(std::span<const std::byte> bytes) = 0;  ///< Errors  IoError
  /// Call once, after the last write. Errors  IoError.
  virtual void commit() = 0;
};

/// A file under a temporary name beside its own until commit(), which syncs it and puts it in place
/// in one step. Errors  IoError: the folder cannot be written.
std::unique_ptr<ByteOutput> file_output(std::filesystem::path path);
/// Appends to `bytes`, which outlives it.
std::unique_ptr<ByteOutput> memory_output(std::string& bytes);
/// One zstd frame with a checksum into `inner`. The same input and library give the same bytes.
/// Errors  ConfigError: a level outside [1, 19].
std::unique_ptr<ByteOutput> zstd_output(std::unique_ptr<ByteOutput> inner, int level);

}  // namespace foxhunt::market
