#pragma once
// A queue between two processes on one machine: one producer, one consumer, fixed slots, no call of
// the system on the way. The layout is plain memory (RingHeader, then slots of 64 bytes'
// multiples), so that programs of others can take part; shared_ring.h maps it by name and does the
// waiting.
//
// A slot is published by its sequence word: place i of the stream lies in slot i mod capacity and
// is there when that slot's word is i + 1. The consumer gives slots back in order by `head`. push()
// answers false when the ring is full: what then is the caller's decision, nothing is ever
// overwritten.
//
// Waiting is Dekker's: who wants to sleep says so (`waiters`) and looks again, who publishes looks
// for sleepers afterwards; all four accesses are sequentially consistent, so that one of the two
// sees the other.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace foxhunt::serve {

inline constexpr char kRingMagic[8] = {'F', 'X', 'R', 'I', 'N', 'G', '0', '1'};
inline constexpr std::uint32_t kRingVersion = 1;
inline constexpr std::size_t kLine = 64;              ///< bytes of a cache line
inline constexpr std::size_t kRingHeaderSize = 4096;  ///< a page; slots begin behind it

/// What its slots hold; slots.h has their layouts.
enum class RingKind : std::uint32_t { kRecords = 1, kAnswers = 2, kOrders = 3 };

/// What one side writes lies in lines of its own.
struct RingHeader {
  std::atomic<std::uint64_t> magic{0};  ///< kRingMagic, written last: the rest is valid then
  std::uint32_t version = kRingVersion;
  std::uint32_t kind = 0;           ///< RingKind
  std::uint32_t payload_bytes = 0;  ///< of a slot's payload
  std::uint32_t slot_bytes = 0;     ///< from slot to slot
  std::uint64_t capacity = 0;       ///< slots, a power of two
  std::uint64_t id = 0;             ///< drawn when the ring was made: tells rings of one name apart

  alignas(kLine) std::atomic<std::uint64_t> tail{0};  ///< producer: records published
  std::atomic<std::uint64_t> full{0};                 ///< producer: pushes that met a full ring
  std::atomic<std::uint32_t> closed{0};               ///< producer: 1 after the last record
  std::atomic<std::int32_t> producer{0};              ///< process id, for messages

  alignas(kLine) std::atomic<std::uint64_t> head{0};  ///< consumer: slots given back
  std::atomic<std::int32_t> consumer{0};              ///< process id, for messages

  alignas(kLine) std::atomic<std::uint32_t> data{0};  ///< changes to wake a waiting consumer
  std::atomic<std::uint32_t> data_waiters{0};
  alignas(kLine) std::atomic<std::uint32_t> space{0};  ///< changes to wake a waiting producer
  std::atomic<std::uint32_t> space_waiters{0};
};
static_assert(sizeof(RingHeader) <= kRingHeaderSize);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

template <class T>
struct RingSlot {
  static_assert(std::is_trivially_copyable_v<T>);
  alignas(kLine) std::atomic<std::uint64_t> sequence{0};
  T payload;
};

/// Bytes of a ring.
template <class T>
constexpr std::size_t ring_bytes(std::uint64_t capacity) {
  return kRingHeaderSize + static_cast<std::size_t>(capacity) * sizeof(RingSlot<T>);
}

template <class T>
class RingProducer {
 public:
  /// Goes on behind what is in the ring. `memory` holds ring_bytes<T>() of it.
  explicit RingProducer(void* memory)
      : header_(static_cast<RingHeader*>(memory)),
        slots_(reinterpret_cast<RingSlot<T>*>(static_cast<std::byte*>(memory) + kRingHeaderSize)),
        mask_(header_->capacity - 1),
        next_(header_->tail.load(std::memory_order_acquire)),
        head_(header_->head.load(std::memory_order_acquire)) {
    // A producer that died between slot and counter has published its record all the same.
    while (slots_[next_ & mask_].sequence.load(std::memory_order_acquire) == next_ + 1) ++next_;
    header_->tail.store(next_, std::memory_order_release);
    header_->closed.store(0, std::memory_order_release);
  }
  /// False when the ring is full: the value was not taken.
  bool push(const T& value) noexcept {
    if (next_ - head_ > mask_) {
      head_ = header_->head.load(std::memory_order_seq_cst);
      if (next_ - head_ > mask_) return false;
    }
    RingSlot<T>& slot = slots_[next_ & mask_];
    slot.payload = value;
    slot.sequence.store(++next_, std::memory_order_seq_cst);
    header_->tail.store(next_, std::memory_order_release);
    return true;
  }
  bool consumer_waits() const noexcept {
    return header_->data_waiters.load(std::memory_order_seq_cst) != 0;
  }
  void count_full() noexcept { header_->full.fetch_add(1, std::memory_order_relaxed); }
  void close() noexcept { header_->closed.store(1, std::memory_order_seq_cst); }
  std::uint64_t pushed() const noexcept { return next_; }
  /// The value that was pushed last; nullptr when there was none in this ring.
  const T* last() const noexcept {
    return next_ == 0 ? nullptr : &slots_[(next_ - 1) & mask_].payload;
  }

 private:
  RingHeader* header_;
  RingSlot<T>* slots_;
  std::uint64_t mask_, next_, head_;
};

template <class T>
class RingConsumer {
 public:
  /// Starts at the first slot that was not given back.
  explicit RingConsumer(void* memory)
      : header_(static_cast<RingHeader*>(memory)),
        slots_(reinterpret_cast<RingSlot<T>*>(static_cast<std::byte*>(memory) + kRingHeaderSize)),
        mask_(header_->capacity - 1),
        next_(header_->head.load(std::memory_order_acquire)) {}
  /// The next value, or nullptr while there is none. It stays where it is until release().
  const T* front() const noexcept {
    const RingSlot<T>& slot = slots_[next_ & mask_];
    return slot.sequence.load(std::memory_order_seq_cst) == next_ + 1 ? &slot.payload : nullptr;
  }
  void pop() noexcept { ++next_; }  ///< takes front(); its slot is not given back yet
  /// Gives back every slot that was taken.
  void release() noexcept { header_->head.store(next_, std::memory_order_seq_cst); }
  bool producer_waits() const noexcept {
    return header_->space_waiters.load(std::memory_order_seq_cst) != 0;
  }
  bool closed() const noexcept { return header_->closed.load(std::memory_order_seq_cst) != 0; }
  std::uint64_t taken() const noexcept { return next_; }

 private:
  RingHeader* header_;
  RingSlot<T>* slots_;
  std::uint64_t mask_, next_;
};

}  // namespace foxhunt::serve
