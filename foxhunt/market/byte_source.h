#pragma once
// Bytes of a file, plain or zstd (any number of frames), as one forward stream in flat memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace foxhunt::market {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills as much of `out` as there is; less than out.size() only at the end of the stream.
  /// Errors  FormatError with file and compressed offset: corrupt frame, decoder without progress.
  virtual std::size_t read(std::span<std::byte> out) = 0;
  /// The input ended inside a zstd frame (what was whole has been delivered).
  virtual bool truncated() const = 0;
  /// zstd frames completed; 0 for a plain file.
  virtual std::int64_t frames() const = 0;
  virtual const std::string& name() const = 0;  ///< for messages
};

/// Looks at the first bytes: zstd magic or plain. Skippable zstd frames are passed over, except DBZ's, which is
/// refused by name. Errors  IoError, FormatError.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace foxhunt::market
