#include "foxhunt/market/byte_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"

namespace foxhunt::market {
namespace {

namespace fs = std::filesystem;

class FileOutput final : public ByteOutput {
 public:
  explicit FileOutput(fs::path path) : path_(std::move(path)) {
    // A name of a process that died stays in the way: try the next.
    for (int i = 0; fd_ < 0; ++i) {
      temporary_ = path_.parent_path() /
                   fmt::format(".{}.tmp{}.{}", path_.filename().string(), ::getpid(), i);
      fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (fd_ < 0 && (errno != EEXIST || i == kMaxNames)) fail("cannot be created");
    }
  }
  ~FileOutput() override {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void commit() override {
    if (::fsync(fd_) != 0) fail("cannot be synced");
    if (::close(std::exchange(fd_, -1)) != 0) fail("cannot be written");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
    temporary_.clear();
    sync_path(path_.parent_path());
  }

 private:
  static constexpr int kMaxNames = 1000;

  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(errno)));
  }

  fs::path path_;
  fs::path temporary_;
  int fd_ = -1;
};

class MemoryOutput final : public ByteOutput {
 public:
  explicit MemoryOutput(std::string& bytes) : bytes_(bytes) {}
  void write(std::span<const std::byte> bytes) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void commit() override {}

 private:
  std::string& bytes_;
};

class ZstdOutput final : public ByteOutput {
 public:
  ZstdOutput(std::unique_ptr<ByteOutput> inner, int level)
      : inner_(std::move(inner)), context_(ZSTD_createCCtx()), out_(ZSTD_CStreamOutSize()) {
    if (!context_) throw std::bad_alloc();
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
  }
  void write(std::span<const std::byte> bytes) override { compress(bytes, ZSTD_e_continue); }
  void commit() override {
    compress({}, ZSTD_e_end);
    inner_->commit();
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  static void check(std::size_t result) {
    if (ZSTD_isError(result) != 0) {
      throw IoError(fmt::format("[dbn_writer] zstd: {}", ZSTD_getErrorName(result)));
    }
  }
  void compress(std::span<const std::byte> bytes, ZSTD_EndDirective mode) {
    ZSTD_inBuffer source{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer target{out_.data(), out_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &target, &source, mode);
      check(left);
      inner_->write(std::span(out_).first(target.pos));
    } while (mode == ZSTD_e_end ? left != 0 : source.pos < source.size);
  }

  std::unique_ptr<ByteOutput> inner_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<std::byte> out_;
};

}  // namespace

std::unique_ptr<ByteOutput> file_output(fs::path path) {
  return std::make_unique<FileOutput>(std::move(path));
}

std::unique_ptr<ByteOutput> memory_output(std::string& bytes) {
  return std::make_unique<MemoryOutput>(bytes);
}

std::unique_ptr<ByteOutput> zstd_output(std::unique_ptr<ByteOutput> inner, int level) {
  constexpr int kMaxLevel = 19;
  if (level < 1 || level > kMaxLevel) {
    throw ConfigError(fmt::format("[dbn_writer] level = {} is outside [1, {}]", level, kMaxLevel));
  }
  return std::make_unique<ZstdOutput>(std::move(inner), level);
}

}  // namespace foxhunt::market
