#include "foxhunt/serve/fd_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::serve {
namespace {

constexpr int kStepMs = 100;  // how long a stop may go unseen

}  // namespace

FdInput::FdInput(const std::string& path, Waiting waiting, const Hooks& hooks)
    : name_(path == "-" ? "standard input" : path), waiting_(waiting), hooks_(hooks) {
  for (;;) {
    fd_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ >= 0) break;
    if (errno != EINTR)
      throw IoError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
    if (hooks_.stop()) throw InterruptedError(fmt::format("{}: interrupted", name_));
  }
  struct stat status {};
  const bool file = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  kind_ = file ? SourceKind::kFile : SourceKind::kStream;
}

FdInput::~FdInput() { ::close(fd_); }

void FdInput::wait() {
  pollfd p{.fd = fd_, .events = POLLIN, .revents = 0};
  bool told = false;
  for (;;) {
    // Not an end: half a record may lie behind us.
    if (hooks_.stop()) throw InterruptedError(fmt::format("{}: interrupted", name_));
    const int ready = ::poll(&p, 1, told && waiting_ == Waiting::kBlock ? kStepMs : 0);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR)
      throw IoError(fmt::format("{}: cannot be waited for: {}", name_, std::strerror(errno)));
    if (!told) hooks_.before_waiting();
    told = true;
  }
}

std::size_t FdInput::read(std::span<std::byte> out) {
  for (;;) {
    if (kind_ == SourceKind::kStream) wait();
    const ssize_t got = ::read(fd_, out.data(), out.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN)
      throw IoError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  }
}

}  // namespace foxhunt::serve
