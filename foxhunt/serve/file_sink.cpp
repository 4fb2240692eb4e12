#include "foxhunt/serve/file_sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "foxhunt/base/error.h"
#include "foxhunt/serve/stall.h"

namespace foxhunt::serve {
namespace {

constexpr std::size_t kBatch = std::size_t{64} << 10;
constexpr std::int64_t kBatchNs = 20'000'000;
constexpr int kStepMs = 100;

/// What both have: an open file, and the line of an answer.
class FdSink : public Sink {
 public:
  FdSink(int fd, const SinkOptions& options, Hooks hooks)
      : name_(options.spec == "-" ? "standard output" : options.spec),
        head_(options.head),
        timing_(options.timing),
        hooks_(std::move(hooks)),
        fd_(fd) {}
  ~FdSink() override { ::close(fd_); }
  FdSink(const FdSink&) = delete;
  FdSink& operator=(const FdSink&) = delete;

 protected:
  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(fmt::format("{}: {}: {}", name_, what, std::strerror(errno)));
  }
  std::string line(const AnswerSlot& answer) const { return line_of(answer, head_, timing_); }

  std::string name_;
  model::HeadConfig head_;
  bool timing_;
  Hooks hooks_;
  int fd_;
};

/// In blocks; a file takes everything at once or fails.
class PlainFileSink final : public FdSink {
 public:
  PlainFileSink(int fd, const SinkOptions& options, Hooks hooks)
      : FdSink(fd, options, std::move(hooks)), path_(options.spec) {
    buffer_.reserve(kBatch + 4096);
    if (options.resumed && path_ != "-") go_on(options);
  }

  Put put(const AnswerSlot& answer) override {
    tail_ = line(answer);
    const std::int64_t now = hooks_.clock.steady();
    if (buffer_.empty()) oldest_ = now;
    buffer_ += tail_;
    if (buffer_.size() >= kBatch || now - oldest_ >= kBatchNs) flush();
    return Put::kGiven;
  }
  void flush() override {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      rest.remove_prefix(static_cast<std::size_t>(written));
      bytes_ += written;
    }
    buffer_.clear();
  }
  void sync() override {
    flush();
    if (::fsync(fd_) != 0 && errno != EINVAL) fail("cannot be synced");
  }
  std::int64_t bytes() const override { return path_ == "-" ? -1 : bytes_; }
  std::string tail() const override { return tail_; }

 private:
  /// Cuts back what came behind the saved state, after a look whether this is that file.
  void go_on(const SinkOptions& options) {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) fail("cannot be looked at");
    const auto refuse = [this](const std::string& why) {
      throw DataError(
          fmt::format("{}: {}; it is not the output that the state goes on from", name_, why));
    };
    if (status.st_size < options.resume_bytes) {
      refuse(fmt::format("{} bytes, {} when the state was saved", status.st_size,
                         options.resume_bytes));
    }
    std::string end(options.resume_tail.size(), '\0');
    const auto at = options.resume_bytes - static_cast<std::int64_t>(end.size());
    if (!end.empty() &&
        (::pread(fd_, end.data(), end.size(), at) != static_cast<ssize_t>(end.size()) ||
         end != options.resume_tail)) {
      refuse(fmt::format("another line ends at byte {}", options.resume_bytes));
    }
    if (::ftruncate(fd_, options.resume_bytes) != 0 || ::lseek(fd_, 0, SEEK_END) < 0)
      fail("cannot be cut back");
    bytes_ = options.resume_bytes;
    tail_ = options.resume_tail;
  }

  std::string path_;
  std::string buffer_;
  std::string tail_;
  std::int64_t oldest_ = 0;  ///< of the buffer, steady clock
  std::int64_t bytes_ = 0;
};

/// A line a write: whole or not at all, as long as it fits into what a pipe takes in one piece.
class StreamSink final : public FdSink {
 public:
  using FdSink::FdSink;

  Put put(const AnswerSlot& answer) override {
    const std::string text = line(answer);
    std::string_view rest = text;
    while (!rest.empty()) {
      const Put ready = wait();
      if (ready != Put::kGiven) return ready;
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && (errno == EPIPE || errno == ECONNRESET)) return Put::kGone;
      if (written < 0 && errno != EINTR && errno != EAGAIN) fail("cannot be written");
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return Put::kGiven;
  }

 private:
  /// Until the other side takes something.
  Put wait() {
    if (const Put ready = poll(0); ready != Put::kStopped) return ready;
    const Stall stall(hooks_, name_);
    for (;;) {
      if (hooks_.stop()) return Put::kStopped;
      if (const Put ready = poll(kStepMs); ready != Put::kStopped) return ready;
    }
  }
  Put poll(int ms) const {
    pollfd p{.fd = fd_, .events = POLLOUT, .revents = 0};
    if (::poll(&p, 1, ms) != 1) return Put::kStopped;
    return (p.revents & POLLOUT) != 0 ? Put::kGiven : Put::kGone;
  }
};

}  // namespace

std::unique_ptr<Sink> open_file_sink(const SinkOptions& options, Hooks hooks) {
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (options.resumed ? 0 : O_TRUNC);
  const bool standard = options.spec == "-";
  const int fd = standard ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                          : ::open(options.spec.c_str(), flags, 0644);
  if (fd < 0)
    throw IoError(fmt::format("{}: cannot be opened: {}", options.spec, std::strerror(errno)));
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
    return std::make_unique<PlainFileSink>(fd, options, std::move(hooks));
  return std::make_unique<StreamSink>(fd, options, std::move(hooks));
}

}  // namespace foxhunt::serve
