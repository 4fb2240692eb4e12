#pragma once
// An open file as a reader's input: waits in steps, so that a stop is seen.

#include "foxhunt/market/byte_source.h"
#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

class FdInput final : public market::ByteInput {
 public:
  /// Opens `path`, or standard input for "-". Errors  IoError.
  FdInput(const std::string& path, Waiting waiting, const Hooks& hooks);
  ~FdInput() override;
  FdInput(const FdInput&) = delete;
  FdInput& operator=(const FdInput&) = delete;

  SourceKind kind() const { return kind_; }
  /// Errors  InterruptedError: hooks.stop() while something would have to be read from a stream.
  std::size_t read(std::span<std::byte> out) override;

 private:
  void wait();
  std::string name_;
  Waiting waiting_;
  const Hooks& hooks_;
  int fd_ = -1;
  SourceKind kind_ = SourceKind::kFile;
};

}  // namespace foxhunt::serve
