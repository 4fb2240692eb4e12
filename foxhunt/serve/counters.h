#pragma once
// What the serving thread counts and others read. One writer, so that no counter needs a locked
// instruction: relaxed loads and stores.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace foxhunt::serve {

inline constexpr std::size_t kStatuses = 7;  ///< of engine::Status
/// Upper edges of the latency buckets, ns; one more bucket is without an edge.
inline constexpr std::array<std::int64_t, 14> kLatencyEdges{
    500,    1'000,  2'000,   3'000,     5'000,      7'000,       10'000,
    20'000, 50'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

class Counter {
 public:
  void add(std::int64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::int64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  std::int64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Of this process, from its start on.
struct Counters {
  std::array<Counter, kStatuses> by_status{};  ///< records that reached the session
  Counter records{};                           ///< taken from the input
  Counter not_selected{};                      ///< no bars, other products, other contracts
  Counter answers{};                           ///< given to the output
  std::array<Counter, kLatencyEdges.size() + 1> latency{};
  Counter latency_sum{};    ///< ns
  Counter stalls{};         ///< waits for an output that takes nothing
  Counter stall_ns{};       ///< in them
  Counter stalled{};        ///< 1 while in one
  Counter producer_lost{};  ///< times the producer of the input ring was found gone
  Counter saves{};          ///< of the state
  Counter last_save{};      ///< ns since 1970; 0: none
  Counter last_event{};     ///< end of the last bar that was answered, ns since 1970; 0: none

  void add_latency(std::int64_t ns) noexcept {
    std::size_t bucket = 0;
    while (bucket < kLatencyEdges.size() && ns > kLatencyEdges[bucket]) ++bucket;
    latency[bucket].add();
    latency_sum.add(ns);
  }
};

}  // namespace foxhunt::serve
