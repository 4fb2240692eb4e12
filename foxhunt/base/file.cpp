#include "foxhunt/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view what, int code) {
  throw IoError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(code)));
}

fs::path temporary_beside(const fs::path& path) {
  return path.parent_path() / fmt::format(".{}.tmp{}", path.filename().string(), ::getpid());
}

void write_and_sync(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) fail(path, "cannot be synced", errno);
}

}  // namespace

std::string read_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "cannot be opened", errno);
  // Until there is no more, since what is no plain file (a pipe, /proc) does not say how long it
  // is.
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0 && status.st_size > 0;
  std::string text(known ? static_cast<std::size_t>(status.st_size) + 1 : 4096, '\0');
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(2 * text.size());
    const ssize_t got = ::read(fd, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int code = errno;
      ::close(fd);
      if (got < 0) fail(path, "cannot be read", code);
      text.resize(used);
      return text;
    }
    used += static_cast<std::size_t>(got);
  }
}

void sync_path(const fs::path& path) {
  const int fd = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "cannot be opened to sync it", errno);
  const int result = ::fsync(fd);
  const int code = errno;
  ::close(fd);
  if (result != 0 && code != EINVAL) fail(path, "cannot be synced", code);
}

void write_file_atomic(const fs::path& path, std::string_view bytes) {
  const fs::path temporary = temporary_beside(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail(path, "cannot be created", errno);
  try {
    write_and_sync(fd, bytes, path);
  } catch (...) {
    ::close(fd);
    ::unlink(temporary.c_str());
    throw;
  }
  if (::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail(path, "cannot be put in place", code);
  }
  sync_path(path.parent_path());
}

void replace_symlink(const fs::path& link, const fs::path& target) {
  const fs::path temporary = temporary_beside(link);
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) fail(link, "cannot be linked", errno);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail(link, "cannot be put in place", code);
  }
  sync_path(link.parent_path());
}

void make_folder(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw IoError(fmt::format("{}: cannot be created: {}", path.string(), code.message()));
}

}  // namespace foxhunt
