#include "foxhunt/market/dbn_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferSize = std::size_t{128} << 10;

/// A file under a temporary name beside its own until commit(); gone if that never comes.
class PendingFile {
 public:
  explicit PendingFile(fs::path path) : path_(std::move(path)) {
    // A name of a process that died stays in the way: try the next.
    for (int i = 0; fd_ < 0; ++i) {
      temporary_ = path_.parent_path() /
                   fmt::format(".{}.tmp{}.{}", path_.filename().string(), ::getpid(), i);
      fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (fd_ < 0 && (errno != EEXIST || i == kMaxNames)) fail("cannot be created");
    }
  }
  ~PendingFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void commit() {
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

/// One zstd frame with a checksum. The same input and library give the same bytes.
class Compressor {
 public:
  explicit Compressor(int level) : context_(ZSTD_createCCtx()), out_(ZSTD_CStreamOutSize()) {
    if (!context_) throw std::bad_alloc();
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
  }

  void write(std::span<const std::byte> bytes, ZSTD_EndDirective mode, PendingFile& file) {
    ZSTD_inBuffer source{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer target{out_.data(), out_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &target, &source, mode);
      check(left);
      file.write(std::span(out_).first(target.pos));
    } while (mode == ZSTD_e_end ? left != 0 : source.pos < source.size);
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

  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<std::byte> out_;
};

}  // namespace

class DbnWriter::Impl {
 public:
  Impl(const fs::path& path, const StreamInfo& info, const DbnWriteOptions& options)
      : name_(path.string()), schema_(info.schema), bar_rtype_(dbn_bar_rtype(info.schema)) {
    if (bar_rtype_ == rtype::kOhlcvEod || (!bar_rtype_ && schema_ != "definition")) {
      throw DataError(
          fmt::format("[dbn_writer] schema '{}' is not written; ohlcv-1s, ohlcv-1m, "
                      "ohlcv-1h, ohlcv-1d and definition are",
                      schema_));
    }
    if (options.level < 1 || options.level > kMaxLevel) {
      throw ConfigError(
          fmt::format("[dbn_writer] level = {} is outside [1, {}]", options.level, kMaxLevel));
    }
    const std::string metadata = encode_dbn_metadata(from_stream_info(info));
    file_.emplace(path);
    if (options.compress) compressor_.emplace(options.level);
    buffer_.reserve(kBufferSize);
    append(std::as_bytes(std::span(metadata)));
  }

  void write(const Bar& bar) {
    require_open();
    if (!bar_rtype_ || bar.span != dbn_bar_span(*bar_rtype_)) {
      throw DataError(fmt::format("{}: a bar of {} s does not belong into a file of schema '{}'",
                                  name_, std::chrono::duration<double>(bar.span).count(), schema_));
    }
    // Files are ordered by time; readers count on it.
    if (!is_null(bar.start)) {
      if (bar.start < last_start_) {
        throw DataError(fmt::format("{}: record {} starts at {}, before the one before it ({})",
                                    name_, records_, to_string(bar.start), to_string(last_start_)));
      }
      last_start_ = bar.start;
    }
    append(encode_bar(bar, *bar_rtype_));
    ++records_;
  }

  void write(const Definition& definition) {
    require_open();
    if (bar_rtype_) {
      throw DataError(fmt::format("{}: a definition does not belong into a file of schema '{}'",
                                  name_, schema_));
    }
    append(encode_definition(definition));
    ++records_;
  }

  void finish() {
    require_open();
    flush(/*last=*/true);
    guarded([&] { file_->commit(); });
    file_.reset();
  }

  std::int64_t records() const { return records_; }

 private:
  static constexpr int kMaxLevel = 19;

  void require_open() const {
    if (!file_) throw DataError(fmt::format("{}: is finished, or failed before", name_));
  }

  void append(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > kBufferSize) flush(/*last=*/false);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }

  void flush(bool last) {
    guarded([&] {
      if (compressor_) {
        compressor_->write(buffer_, last ? ZSTD_e_end : ZSTD_e_continue, *file_);
      } else {
        file_->write(buffer_);
      }
    });
    buffer_.clear();
  }

  /// A file that lacks some of its bytes must never be put in place: a failure drops it.
  template <class Step>
  void guarded(Step step) {
    try {
      step();
    } catch (...) {
      file_.reset();
      throw;
    }
  }

  std::string name_;
  std::string schema_;
  std::optional<int> bar_rtype_;
  std::optional<PendingFile> file_;
  std::optional<Compressor> compressor_;
  std::vector<std::byte> buffer_;
  UnixNanos last_start_ = kNullTime;  ///< less than any time
  std::int64_t records_ = 0;
};

DbnWriter::DbnWriter(const fs::path& path, const StreamInfo& info, const DbnWriteOptions& options)
    : impl_(std::make_unique<Impl>(path, info, options)) {}
DbnWriter::~DbnWriter() = default;

void DbnWriter::write(const Bar& bar) { impl_->write(bar); }
void DbnWriter::write(const Definition& definition) { impl_->write(definition); }
void DbnWriter::finish() { impl_->finish(); }
std::int64_t DbnWriter::records() const { return impl_->records(); }

}  // namespace foxhunt::market
