#include "foxhunt/serve/shared_ring.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <thread>

#include "foxhunt/base/error.h"

namespace foxhunt::serve {
namespace {

constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 24U;

[[noreturn]] void fail(const std::string& name, std::string_view what) {
  throw IoError(fmt::format("shm:{}: {}: {}", name, what, std::strerror(errno)));
}

/// What a lock is asked or taken on: one byte of the file a role.
struct flock byte_of(RingRole role) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(role);
  lock.l_len = 1;
  return lock;
}

/// What slots of such a ring hold, in words.
std::string held_by(std::uint32_t kind) {
  switch (static_cast<RingKind>(kind)) {
    case RingKind::kRecords:
      return "bars";
    case RingKind::kAnswers:
      return "answers";
    case RingKind::kOrders:
      return "order events";
  }
  return fmt::format("kind {}, which this program does not know", kind);
}

std::uint64_t magic_word() {
  std::uint64_t word = 0;
  std::memcpy(&word, kRingMagic, sizeof word);
  return word;
}

}  // namespace

SharedRing::SharedRing(const std::string& name, RingRole role, RingKind kind,
                       std::size_t payload_bytes, std::size_t slot_bytes, std::uint64_t capacity)
    : name_(name), role_(role) {
  if (name.empty() || name.find('/') != std::string::npos || name.size() > NAME_MAX - 1U) {
    throw ConfigError(
        fmt::format("shm:{}: a name of 1 to {} characters without '/'", name, NAME_MAX - 1));
  }
  if (!std::has_single_bit(capacity) || capacity < 2 || capacity > kMostSlots) {
    throw ConfigError(fmt::format("shm:{}: {} slots; a power of two from 2 to {} is possible", name,
                                  capacity, kMostSlots));
  }
  try {
    make_or_open(payload_bytes, slot_bytes, capacity, kind);
    take_role();
  } catch (...) {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
    if (fd_ >= 0) ::close(fd_);
    throw;
  }
}

SharedRing::~SharedRing() {
  auto& mine = role_ == RingRole::kProducer ? header().producer : header().consumer;
  mine.store(0, std::memory_order_relaxed);
  ::munmap(memory_, bytes_);
  ::close(fd_);  // gives the role back
}

void SharedRing::make_or_open(std::size_t payload_bytes, std::size_t slot_bytes,
                              std::uint64_t capacity, RingKind kind) {
  const std::string path = "/" + name_;
  fd_ = ::shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ >= 0) {
    initialise(payload_bytes, slot_bytes, capacity, kind);
    return;
  }
  if (errno != EEXIST) fail(name_, "cannot be made");
  fd_ = ::shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd_ < 0) fail(name_, "cannot be opened");
  // Its maker may not be done yet; it takes microseconds.
  struct stat status {};
  for (int i = 0; i < 1000; ++i) {
    if (::fstat(fd_, &status) != 0) fail(name_, "cannot be looked at");
    if (status.st_size >= static_cast<off_t>(kRingHeaderSize)) {
      if (memory_ == nullptr) map(static_cast<std::size_t>(status.st_size));
      if (header().magic.load(std::memory_order_acquire) == magic_word()) {
        check(payload_bytes, slot_bytes, kind);
        return;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  throw FormatError(
      fmt::format("shm:{}: no ring, or one whose maker died before it was done; remove /dev/shm/{}",
                  name_, name_));
}

void SharedRing::initialise(std::size_t payload_bytes, std::size_t slot_bytes,
                            std::uint64_t capacity, RingKind kind) {
  const std::size_t bytes = kRingHeaderSize + static_cast<std::size_t>(capacity) * slot_bytes;
  // Taken now, so that a full /dev/shm is an error here and not a signal at the first write.
  if (const int code = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes)); code != 0) {
    ::shm_unlink(("/" + name_).c_str());
    errno = code;
    fail(name_, fmt::format("{} bytes cannot be taken", bytes));
  }
  map(bytes);
  auto* h = new (memory_) RingHeader;
  h->kind = static_cast<std::uint32_t>(kind);
  h->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  h->slot_bytes = static_cast<std::uint32_t>(slot_bytes);
  h->capacity = capacity;
  if (::getrandom(&h->id, sizeof h->id, 0) != static_cast<ssize_t>(sizeof h->id)) {
    fail(name_, "no random number");
  }
  h->magic.store(magic_word(), std::memory_order_release);
}

void SharedRing::check(std::size_t payload_bytes, std::size_t slot_bytes, RingKind kind) const {
  const RingHeader& h = header();
  const auto expect = [this](std::string_view what, std::uint64_t has, std::uint64_t wants) {
    if (has != wants) {
      throw FormatError(fmt::format("shm:{}: its {} is {}, expected {}", name_, what, has, wants));
    }
  };
  expect("version", h.version, kRingVersion);
  if (h.kind != static_cast<std::uint32_t>(kind)) {
    throw FormatError(fmt::format("shm:{}: a ring of another kind: it holds {}, expected {}", name_,
                                  held_by(h.kind), held_by(static_cast<std::uint32_t>(kind))));
  }
  expect("payload", h.payload_bytes, payload_bytes);
  expect("slot size", h.slot_bytes, slot_bytes);
  if (!std::has_single_bit(h.capacity) || h.capacity > kMostSlots) {
    throw FormatError(fmt::format("shm:{}: a capacity of {} slots", name_, h.capacity));
  }
  expect("size", bytes_, kRingHeaderSize + h.capacity * h.slot_bytes);
}

void SharedRing::map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
  if (memory == MAP_FAILED) fail(name_, "cannot be mapped");
  memory_ = memory;
  bytes_ = bytes;
}

void SharedRing::take_role() {
  struct flock lock = byte_of(role_);
  const bool producer = role_ == RingRole::kProducer;
  auto& pid = producer ? header().producer : header().consumer;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) != 0) {
    if (errno != EAGAIN && errno != EACCES) fail(name_, "cannot be locked");
    throw UsageError(fmt::format("shm:{}: has a {} already (process {}); a ring has one", name_,
                                 producer ? "producer" : "consumer",
                                 pid.load(std::memory_order_relaxed)));
  }
  pid.store(::getpid(), std::memory_order_relaxed);
}

bool SharedRing::other_side_alive() const {
  struct flock lock =
      byte_of(role_ == RingRole::kProducer ? RingRole::kConsumer : RingRole::kProducer);
  if (::fcntl(fd_, F_OFD_GETLK, &lock) != 0) fail(name_, "cannot be asked for its locks");
  return lock.l_type != F_UNLCK;
}

void SharedRing::unlink() { ::shm_unlink(("/" + name_).c_str()); }

void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  const timespec most{.tv_sec = 0, .tv_nsec = 100'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& word) noexcept {
  word.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void relax() noexcept { _mm_pause(); }

}  // namespace foxhunt::serve
