#include "foxhunt/kernels/hardware/bandwidth.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace foxhunt::kernels {
namespace {

/// A multiple of what the readers below take a turn.
constexpr std::int64_t kBlock = 4096;
constexpr double kSampleSeconds = 2e-4;
constexpr double kLevelSeconds = 0.08;
/// Clocks that idled need this long to rise.
constexpr double kWarmUpSeconds = 0.1;

// The readers return a value made of every byte, so that no load can be left out. Sanitizers stay
// outside: they would be what is measured.
using Reader = std::uint64_t (*)(const std::uint64_t* words, std::int64_t count);

[[gnu::noinline, gnu::no_sanitize_address]] std::uint64_t read_words(const std::uint64_t* words,
                                                                     std::int64_t count) {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  for (std::int64_t i = 0; i < count; i += 4) {
    a |= words[i];
    b |= words[i + 1];
    c |= words[i + 2];
    d |= words[i + 3];
  }
  return a | b | c | d;
}

#if defined(__x86_64__)
[[gnu::noinline, gnu::no_sanitize_address, gnu::target("avx2")]] std::uint64_t read_avx2(
    const std::uint64_t* words, std::int64_t count) {
  const auto* vectors = reinterpret_cast<const __m256i*>(words);
  __m256i a = _mm256_setzero_si256();
  __m256i b = a;
  __m256i c = a;
  __m256i d = a;
  for (std::int64_t i = 0; i < count / 4; i += 8) {
    a = _mm256_or_si256(a, _mm256_load_si256(vectors + i));
    b = _mm256_or_si256(b, _mm256_load_si256(vectors + i + 1));
    c = _mm256_or_si256(c, _mm256_load_si256(vectors + i + 2));
    d = _mm256_or_si256(d, _mm256_load_si256(vectors + i + 3));
    a = _mm256_or_si256(a, _mm256_load_si256(vectors + i + 4));
    b = _mm256_or_si256(b, _mm256_load_si256(vectors + i + 5));
    c = _mm256_or_si256(c, _mm256_load_si256(vectors + i + 6));
    d = _mm256_or_si256(d, _mm256_load_si256(vectors + i + 7));
  }
  const __m256i all = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), all);
  _mm256_zeroupper();  // GCC 12 leaves it out at low optimisation, and what follows would crawl
  return lanes[0] | lanes[1] | lanes[2] | lanes[3];
}

[[gnu::noinline, gnu::no_sanitize_address, gnu::target("avx512f")]] std::uint64_t read_avx512(
    const std::uint64_t* words, std::int64_t count) {
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  __m512i c = a;
  __m512i d = a;
  for (std::int64_t i = 0; i < count; i += 64) {
    a = _mm512_or_si512(a, _mm512_load_si512(words + i));
    b = _mm512_or_si512(b, _mm512_load_si512(words + i + 8));
    c = _mm512_or_si512(c, _mm512_load_si512(words + i + 16));
    d = _mm512_or_si512(d, _mm512_load_si512(words + i + 24));
    a = _mm512_or_si512(a, _mm512_load_si512(words + i + 32));
    b = _mm512_or_si512(b, _mm512_load_si512(words + i + 40));
    c = _mm512_or_si512(c, _mm512_load_si512(words + i + 48));
    d = _mm512_or_si512(d, _mm512_load_si512(words + i + 56));
  }
  a = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, a);
  _mm256_zeroupper();
  return lanes[0] | lanes[1] | lanes[2] | lanes[3] | lanes[4] | lanes[5] | lanes[6] | lanes[7];
}
#endif

Reader widest_reader() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") != 0) return read_avx512;
  if (__builtin_cpu_supports("avx2") != 0) return read_avx2;
#endif
  return read_words;
}

/// Touched memory that goes back by itself; large pages where the system has them, so that the
/// translation of addresses is not what is measured.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* place =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    ::madvise(place, bytes_, MADV_HUGEPAGE);
    std::memset(place, 1, bytes_);
    words_ = static_cast<const std::uint64_t*>(place);
  }
  ~Buffer() {
    if (words_ != nullptr) ::munmap(const_cast<std::uint64_t*>(words_), bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::uint64_t* words() const { return words_; }

 private:
  std::size_t bytes_;
  const std::uint64_t* words_ = nullptr;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds of `passes` over the first `bytes`.
double timed(Reader reader, const Buffer& buffer, std::int64_t bytes, std::int64_t passes) {
  volatile std::uint64_t sink = 0;
  const Clock::time_point start = Clock::now();
  for (std::int64_t pass = 0; pass < passes; ++pass) sink = reader(buffer.words(), bytes / 8);
  static_cast<void>(sink);
  return std::max(seconds_since(start), 1e-9);
}

ReadRate rate_of(Reader reader, const Buffer& buffer, std::int64_t bytes) {
  if (bytes == 0 || buffer.words() == nullptr) return {};
  timed(reader, buffer, bytes, 2);  // brings the set where it belongs
  const double pass = timed(reader, buffer, bytes, 2) / 2.0;
  const auto passes = static_cast<std::int64_t>(std::ceil(kSampleSeconds / pass));
  std::vector<double> rates;
  const Clock::time_point start = Clock::now();
  while (rates.size() < 5 || (rates.size() < 200 && seconds_since(start) < kLevelSeconds)) {
    rates.push_back(static_cast<double>(bytes * passes) / 1e9 /
                    timed(reader, buffer, bytes, passes));
  }
  std::sort(rates.begin(), rates.end());
  const std::size_t last = rates.size() - 1;
  const double median = rates[last / 2];
  return {.median = median,
          .best = rates[last],
          .spread = (rates[last * 9 / 10] - rates[last / 10]) / median,
          .bytes = bytes,
          .samples = static_cast<std::int64_t>(rates.size())};
}

std::int64_t whole_blocks(std::int64_t bytes) { return bytes / kBlock * kBlock; }

/// No core loads more than three 64-byte vectors a cycle or runs above 7 GHz.
constexpr double kMostGbPerSecond = 3 * 64 * 7.0;

void check_level(const char* name, ReadRate& rate, const ReadRate& nearer, std::string& doubts) {
  if (rate == ReadRate{}) return;
  const auto sane = [](double value) {
    return std::isfinite(value) && value > 0.0 && value <= kMostGbPerSecond;
  };
  const auto doubt = [&doubts](const std::string& text) {
    doubts += doubts.empty() ? text : "; " + text;
  };
  if (!sane(rate.median) || !sane(rate.best) || rate.best < rate.median) {
    doubt(fmt::format("{} at {:.4g} GB/s (best {:.4g}) is impossible and not used", name,
                      rate.median, rate.best));
    rate = {};
    return;
  }
  if (!(rate.spread <= 0.3)) {
    doubt(fmt::format("{} scatters by {:.0f} %: other work ran beside it", name,
                      100.0 * rate.spread));
  }
  // 10 %: the scatter of medians on a quiet machine. A floor may only err to the low side in rate
  // where it promises (median), so that is what is lowered; the best sample stays a bound.
  if (nearer.median > 0.0 && rate.median > 1.1 * nearer.median) {
    doubt(
        fmt::format("{} at {:.0f} GB/s came out faster than the level nearer to the core at "
                    "{:.0f}: that is noise, the lower rate is used",
                    name, rate.median, nearer.median));
    rate.median = nearer.median;
  }
}

}  // namespace

std::int64_t share_of_core(const Cache& cache, std::int64_t threads_per_core) {
  const std::int64_t threads = std::max<std::int64_t>(threads_per_core, 1);
  const std::int64_t cores = (cache.sharers + threads - 1) / threads;
  return cache.bytes / std::max<std::int64_t>(cores, 1);
}

WorkingSets working_sets(const Machine& machine) {
  constexpr std::int64_t kMiB = 1 << 20;
  const std::int64_t l1 = share_of_core(machine.cache("L1d"), machine.threads_per_core);
  const std::int64_t l2 = share_of_core(machine.cache("L2"), machine.threads_per_core);
  const std::int64_t l3 = machine.cache("L3").bytes;
  WorkingSets sets;
  sets.l1 = std::max(kBlock, whole_blocks(l1 > 0 ? l1 / 2 : 16 << 10));
  sets.l2 = std::max(2 * sets.l1, whole_blocks(l2 > 0 ? l2 / 2 : 128 << 10));
  // Four times L2 is out of it; half of L3 leaves room for the neighbours that share it.
  if (4 * l2 <= l3 / 2) sets.l3 = whole_blocks(std::max(4 * l2, kMiB));
  sets.dram = std::clamp(whole_blocks(2 * l3), 64 * kMiB, 256 * kMiB);
  if (machine.memory_bytes > 0 && sets.dram > machine.memory_bytes / 8) sets.dram = 0;
  return sets;
}

Bandwidth measure_bandwidth(const Machine& machine) {
  const Reader reader = widest_reader();
  const WorkingSets sets = working_sets(machine);
  Bandwidth found;
  {
    const Buffer near(std::max({sets.l1, sets.l2, sets.l3}));
    if (near.words() == nullptr) return found;
    for (const Clock::time_point start = Clock::now(); seconds_since(start) < kWarmUpSeconds;)
      timed(reader, near, sets.l1, 16);
    found.l1 = rate_of(reader, near, sets.l1);
    found.l2 = rate_of(reader, near, sets.l2);
    found.l3 = rate_of(reader, near, sets.l3);
  }
  if (sets.dram > 0) found.dram = rate_of(reader, Buffer(sets.dram), sets.dram);
  return found;
}

JudgedBandwidth judge(const Bandwidth& measured) {
  JudgedBandwidth judged{.bandwidth = measured, .doubts = {}};
  Bandwidth& rates = judged.bandwidth;
  ReadRate nearest;
  const auto check = [&](const char* name, ReadRate& rate) {
    check_level(name, rate, nearest, judged.doubts);
    if (rate.median > 0.0) nearest = rate;
  };
  check("L1", rates.l1);
  check("L2", rates.l2);
  check("L3", rates.l3);
  check("DRAM", rates.dram);
  return judged;
}

}  // namespace foxhunt::kernels
