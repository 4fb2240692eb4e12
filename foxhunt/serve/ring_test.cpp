// The queue itself: order, fullness, both roles dying at any moment, two threads at once.
#include "foxhunt/serve/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>

#include "foxhunt/serve/shared_ring.h"

namespace foxhunt::serve {
namespace {

/// Two words that must agree: a torn read shows.
struct Pair {
  std::uint64_t a = 0;
  std::uint64_t filling[20]{};
  std::uint64_t b = 0;
};

/// A ring in this process alone: threads see one address, which the thread sanitizer needs.
class LocalRing {
 public:
  explicit LocalRing(std::uint64_t capacity)
      : memory_(::operator new (ring_bytes<Pair>(capacity), std::align_val_t{4096})) {
    std::memset(memory_, 0, ring_bytes<Pair>(capacity));
    auto* header = new (memory_) RingHeader;
    header->capacity = capacity;
  }
  ~LocalRing() { ::operator delete (memory_, std::align_val_t{4096}); }
  LocalRing(const LocalRing&) = delete;
  LocalRing& operator=(const LocalRing&) = delete;
  void* memory() const { return memory_; }
  RingHeader& header() const { return *static_cast<RingHeader*>(memory_); }

 private:
  void* memory_;
};

Pair pair_of(std::uint64_t i) { return {.a = i, .b = ~i}; }

TEST(Ring, GivesValuesBackInOrderAndSaysFullAndEmpty) {
  const LocalRing ring(4);
  RingProducer<Pair> producer(ring.memory());
  RingConsumer<Pair> consumer(ring.memory());
  EXPECT_EQ(consumer.front(), nullptr);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (int round = 0; round < 100; ++round) {
    while (producer.push(pair_of(in))) ++in;
    EXPECT_EQ(in - out, 4U);
    EXPECT_FALSE(producer.push(pair_of(99)));  // still full, and nothing was overwritten
    for (int i = 0; i <= round % 4; ++i) {
      ASSERT_NE(consumer.front(), nullptr);
      ASSERT_EQ(consumer.front()->a, out);
      consumer.pop();
      ++out;
    }
    consumer.release();
  }
}

TEST(Ring, KeepsWhatWasTakenUntilItIsReleased) {
  const LocalRing ring(4);
  RingProducer<Pair> producer(ring.memory());
  {
    RingConsumer<Pair> consumer(ring.memory());
    for (std::uint64_t i = 0; i < 4; ++i) producer.push(pair_of(i));
    consumer.pop();
    consumer.release();
    consumer.pop();
    consumer.pop();
  }  // dies with two taken
  EXPECT_TRUE(producer.push(pair_of(4)));
  EXPECT_FALSE(producer.push(pair_of(5))) << "a slot that was taken and not released is not free";
  RingConsumer<Pair> next(ring.memory());
  for (std::uint64_t i = 1; i < 5; ++i) {
    ASSERT_NE(next.front(), nullptr);
    EXPECT_EQ(next.front()->a, i);
    next.pop();
  }
  EXPECT_EQ(next.front(), nullptr);
}

TEST(Ring, AProducerGoesOnBehindOneThatDiedBetweenSlotAndCounter) {
  const LocalRing ring(8);
  {
    RingProducer<Pair> producer(ring.memory());
    for (std::uint64_t i = 0; i < 3; ++i) producer.push(pair_of(i));
  }
  ring.header().tail.store(2);  // the third is in its slot, the counter was not reached
  RingProducer<Pair> next(ring.memory());
  EXPECT_EQ(next.pushed(), 3U);
  ASSERT_NE(next.last(), nullptr);
  EXPECT_EQ(next.last()->a, 2U);
  next.push(pair_of(3));
  RingConsumer<Pair> consumer(ring.memory());
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_NE(consumer.front(), nullptr);
    EXPECT_EQ(consumer.front()->a, i);
    consumer.pop();
  }
}

TEST(Ring, AHalfWrittenSlotIsNotThere) {
  const LocalRing ring(2);
  auto* slots =
      reinterpret_cast<RingSlot<Pair>*>(static_cast<std::byte*>(ring.memory()) + kRingHeaderSize);
  slots[0].payload = pair_of(7);  // a producer dies before it publishes
  RingConsumer<Pair> consumer(ring.memory());
  EXPECT_EQ(consumer.front(), nullptr);
  RingProducer<Pair> next(ring.memory());
  next.push(pair_of(8));
  ASSERT_NE(consumer.front(), nullptr);
  EXPECT_EQ(consumer.front()->a, 8U);
}

void two_threads(Waiting waiting) {
  constexpr std::uint64_t kValues = 200'000;
  const LocalRing ring(64);
  RingHeader& header = ring.header();
  std::thread feeder([&] {
    RingProducer<Pair> producer(ring.memory());
    for (std::uint64_t i = 0; i < kValues; ++i) {
      bool pushed = producer.push(pair_of(i));
      while (!pushed) {
        wait_for(header.space, header.space_waiters, waiting,
                 [&] { return pushed = pushed || producer.push(pair_of(i)); });
      }
      if (producer.consumer_waits()) wake(header.data);
    }
    producer.close();
    wake(header.data);
  });
  RingConsumer<Pair> consumer(ring.memory());
  std::uint64_t n = 0;
  for (;;) {
    const Pair* value = consumer.front();
    if (value == nullptr) {
      if (consumer.closed() && consumer.front() == nullptr) break;
      wait_for(header.data, header.data_waiters, waiting,
               [&] { return consumer.front() != nullptr || consumer.closed(); });
      continue;
    }
    EXPECT_EQ(value->a, n);
    EXPECT_EQ(value->b, ~n);
    if (value->a != n || value->b != ~n) break;
    consumer.pop();
    consumer.release();
    if (consumer.producer_waits()) wake(header.space);
    ++n;
  }
  feeder.join();
  EXPECT_EQ(n, kValues);
}

TEST(Ring, TwoThreadsLoseAndTearNothingAsleep) { two_threads(Waiting::kBlock); }
TEST(Ring, TwoThreadsLoseAndTearNothingSpinning) { two_threads(Waiting::kSpin); }

}  // namespace
}  // namespace foxhunt::serve
