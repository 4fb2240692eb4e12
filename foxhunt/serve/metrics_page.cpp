#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include "foxhunt/base/error.h"
#include "foxhunt/serve/metrics.h"

namespace foxhunt::serve {
namespace {

constexpr std::size_t kMostRequest = 8192;
constexpr std::chrono::seconds kMostWait{2};  // for a whole request, and for a whole answer

[[noreturn]] void fail(std::uint16_t port, const char* what) {
  throw IoError(fmt::format("metrics on 127.0.0.1:{}: {}: {}", port, what, std::strerror(errno)));
}

using Clock = std::chrono::steady_clock;

bool wait(int fd, short events, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd p{.fd = fd, .events = events, .revents = 0};
  return left > 0 && ::poll(&p, 1, static_cast<int>(left)) == 1;
}

/// Up to the empty line behind the headers; "" where none comes in time.
std::string read_request(int fd) {
  const auto until = Clock::now() + kMostWait;
  std::string text;
  std::array<char, 1024> part{};
  while (text.size() < kMostRequest && wait(fd, POLLIN, until)) {
    const ssize_t got = ::recv(fd, part.data(), part.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.find("\r\n\r\n") != std::string::npos || text.find("\n\n") != std::string::npos)
      return text;
  }
  return {};
}

void send_all(int fd, std::string_view text) {
  const auto until = Clock::now() + kMostWait;
  while (!text.empty() && wait(fd, POLLOUT, until)) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

MetricsPage::MetricsPage(std::uint16_t port, std::function<std::string()> page)
    : page_(std::move(page)), port_(port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail(port, "no socket");
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    const int code = errno;
    ::close(listener_);
    errno = code;
    fail(port, "cannot be listened on");
  }
  port_ = ntohs(address.sin_port);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  // Signals are the serving thread's: the new thread inherits a mask that takes none.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

MetricsPage::~MetricsPage() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(stop_);
  ::close(listener_);
}

void MetricsPage::run() {
  std::array<pollfd, 2> fds{pollfd{.fd = listener_, .events = POLLIN, .revents = 0},
                            pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    answer(fd);
    ::close(fd);
  }
}

void MetricsPage::answer(int fd) const {
  const std::string request = read_request(fd);
  if (request.empty()) return;
  const std::string_view line = std::string_view(request).substr(0, request.find_first_of("\r\n"));
  std::string_view status = "404 Not Found";
  std::string body = "only GET /metrics is answered here\n";
  if (line.starts_with("GET /metrics ") || line == "GET /metrics") {
    status = "200 OK";
    body = page_();
  }
  send_all(fd, fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4\r\n"
                           "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                           status, body.size(), body));
}

}  // namespace foxhunt::serve
