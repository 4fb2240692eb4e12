#include "foxhunt/kernels/hardware_aware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "foxhunt/base/error.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/kernels/latency_budget.h"

namespace foxhunt::kernels {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kAssumedL1 = 32 << 10;   // what x86 cores have had since 2006
constexpr std::int64_t kAssumedL2 = 256 << 10;  // the smallest of any core with AVX2

/// A cache's size, or what is taken for it, and how to say so.
struct Size {
  std::int64_t bytes;
  std::string text;
};

Size size_or(std::int64_t known, std::int64_t assumed, const char* name) {
  if (known > 0) return {known, fmt::format("{} of {}", name, format_bytes(known))};
  return {assumed,
          fmt::format("{} of {} (assumed: the system does not say)", name, format_bytes(assumed))};
}

// ---- chunk -------------------------------------------------------------------------------------

constexpr std::array<std::int64_t, 4> kChunks{16, 32, 64, 128};

/// Multiply-adds a token and head. What surrounds a chunk (sums and exponentials of decays, reading
/// and writing the state, starting the products) is counted as 8 tokens' work: with that the
/// formula meets what was measured, 32 fastest at P 32, N 16 and 32 to 64 at P = N = 64.
double work_per_token(const ModelSizes& s, std::int64_t chunk) {
  const auto q = static_cast<double>(chunk);
  const auto p = static_cast<double>(s.headdim);
  const auto n = static_cast<double>(s.d_state);
  const double shared = static_cast<double>(s.groups) / static_cast<double>(s.heads);
  return (q / 2.0 * (n * shared + p) + 4.0 * n * p) * (1.0 + 8.0 / q);
}

std::int64_t matrix_bytes(std::int64_t chunk) { return kFloat * chunk * chunk; }

// ---- lanes -------------------------------------------------------------------------------------

constexpr std::int64_t kLaneMultiple = 8;
constexpr std::int64_t kMostLanes = 64;
/// Adding up a lane's gradients moves each parameter about three times, training it on R rows
/// computes 6 R operations: at 15 GB/s and 100 GFLOP/s the first is 5 % of the second at R = 256.
constexpr std::int64_t kRowsOfLane = 256;
constexpr std::int64_t kGradientBytes = std::int64_t{256} << 20;

std::int64_t up_to_multiple(std::int64_t value, std::int64_t of) {
  return (value + of - 1) / of * of;
}

// ---- kernels -----------------------------------------------------------------------------------

/// Skylake-SP and its two refreshes: the cores whose clock drops for 512-bit work, and stays down
/// for about 2 ms after it.
bool slows_down_for_avx512(const Hardware& hardware) {
  return hardware.vendor == "GenuineIntel" && hardware.family == 6 && hardware.model == 85;
}

bool offered(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool Hardware::has(std::string_view instruction_set) const {
  return std::find(instruction_sets.begin(), instruction_sets.end(), instruction_set) !=
         instruction_sets.end();
}

Hardware read_hardware(const Machine& machine, const Bandwidth& measured) {
  JudgedBandwidth judged = judge(measured);
  return {.vendor = machine.vendor,
          .family = machine.family,
          .model = machine.model,
          .l1d_bytes = share_of_core(machine.cache("L1d"), machine.threads_per_core),
          .l2_bytes = share_of_core(machine.cache("L2"), machine.threads_per_core),
          .l3_bytes = machine.cache("L3").bytes,
          .cores = machine.cores,
          .usable_cores = machine.usable_cores,
          .instruction_sets = machine.instruction_sets,
          .bandwidth = judged.bandwidth,
          .doubts = std::move(judged.doubts)};
}

void check_sizes(const ModelSizes& s) {
  const auto check = [](const char* name, std::int64_t value, std::int64_t most = 1 << 17) {
    if (value < 1 || value > most)
      throw ShapeError(
          fmt::format("[hardware_aware] {} = {}, but it must be in [1, {}]", name, value, most));
  };
  check("d_model", s.d_model);
  check("n_layer", s.n_layer, 1 << 10);
  check("heads", s.heads);
  check("headdim", s.headdim);
  check("heads * headdim", s.heads * s.headdim);
  check("d_state", s.d_state);
  check("groups", s.groups);
  check("groups * d_state", s.groups * s.d_state, 1 << 20);
  check("d_conv", s.d_conv);
  check("features", s.features);
  check("outputs", s.outputs);
  if (s.heads % s.groups != 0)
    throw ShapeError(
        fmt::format("[hardware_aware] groups = {} does not divide heads = {}", s.groups, s.heads));
}

ModelSizes default_hft_sizes() {
  return {.d_model = 64, .n_layer = 4, .heads = 4, .headdim = 32, .d_state = 16};
}

std::int64_t chunk_bytes(const ModelSizes& s, std::int64_t chunk) {
  return kFloat * ((s.heads + s.groups) * chunk * chunk + chunk * (s.channels() + 2 * s.d_inner()) +
                   s.d_inner() * s.d_state);
}

Choice<std::int64_t> choose_chunk(const Hardware& hardware, const ModelSizes& sizes) {
  check_sizes(sizes);
  const Size l1 = size_or(hardware.l1d_bytes, kAssumedL1, "L1d");
  const Size l2 = size_or(hardware.l2_bytes, kAssumedL2, "L2");
  std::int64_t best = 0;
  std::int64_t largest = 0;
  for (const std::int64_t chunk : kChunks) {
    if (chunk_bytes(sizes, chunk) > l2.bytes / 2 || matrix_bytes(chunk) > l1.bytes / 2) break;
    largest = chunk;
    if (best == 0 || work_per_token(sizes, chunk) < work_per_token(sizes, best)) best = chunk;
  }
  if (best == 0) {
    return {kChunks.front(),
            fmt::format("a chunk of {} touches {}, more than half of the {} or of the {}; a "
                        "smaller one would only start more often",
                        kChunks.front(), format_bytes(chunk_bytes(sizes, kChunks.front())), l2.text,
                        l1.text)};
  }
  return {best,
          fmt::format("least work of the chunks that fit ({} to {}): {:.0f} multiply-adds a token "
                      "and head; touches {} (half of the {} is allowed), a head's matrix {} (half "
                      "of the {})",
                      kChunks.front(), largest, work_per_token(sizes, best),
                      format_bytes(chunk_bytes(sizes, best)), l2.text,
                      format_bytes(matrix_bytes(best)), l1.text)};
}

Choice<std::int64_t> choose_lanes(const Hardware& hardware, const ModelSizes& sizes,
                                  std::int64_t batch, std::int64_t window) {
  check_sizes(sizes);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (batch < 1 || batch > kMost || window < 1 || window > kMost)
    throw ShapeError(
        fmt::format("[hardware_aware] a batch of {} windows of {} rows: both must be in [1, 2^31]",
                    batch, window));
  const std::int64_t wanted = std::min(
      up_to_multiple(std::max<std::int64_t>(hardware.cores, 1), kLaneMultiple), kMostLanes);
  const std::int64_t worth = batch * window / kRowsOfLane / kLaneMultiple * kLaneMultiple;
  const std::int64_t of_lane = kFloat * step_cost(sizes).parameters;
  const std::int64_t paid = std::max<std::int64_t>(kGradientBytes / of_lane, 1);
  std::int64_t lanes = std::min(wanted, worth);
  lanes = std::min({std::max(lanes, kLaneMultiple), paid, batch});
  std::string why;
  if (lanes == batch) {
    why = "one a window: there are no more windows";
  } else if (lanes == paid) {
    why = fmt::format("each has its own gradients of {}", format_bytes(of_lane));
  } else if (lanes == wanted && hardware.cores > kLaneMultiple) {
    why = fmt::format("a multiple of {} that keeps {} cores busy", kLaneMultiple, hardware.cores);
  } else if (lanes == worth) {
    why = fmt::format("at least {} rows a lane, so that summing the gradients stays below 5 %",
                      kRowsOfLane);
  } else {
    why = fmt::format("{} share evenly among 2, 4 and 8 cores", kLaneMultiple);
  }
  const std::int64_t least = batch / lanes;
  const std::string windows =
      batch % lanes == 0 ? fmt::format("{}", least) : fmt::format("{} or {}", least, least + 1);
  return {lanes, fmt::format("{}; {} of the {} windows a lane, whatever the number of threads", why,
                             windows, batch)};
}

Choice<std::string> choose_kernels(const Hardware& hardware,
                                   std::span<const std::string_view> runnable,
                                   std::string_view forced) {
  if (runnable.empty()) throw UsageError("[hardware_aware] no kernel table runs on this CPU");
  if (!forced.empty()) {
    if (!offered(runnable, forced))
      throw UsageError(fmt::format("[hardware_aware] kernels '{}' cannot run here; choose from: {}",
                                   forced, fmt::join(runnable, ", ")));
    return {std::string(forced), "forced by name"};
  }
  const bool narrow =
      slows_down_for_avx512(hardware) && offered(runnable, "avx512") && offered(runnable, "avx2");
  if (narrow)
    return {"avx2",
            fmt::format("this CPU ({} family {} model {}) lowers its clock for 512-bit work",
                        hardware.vendor, hardware.family, hardware.model)};
  for (const std::string_view name : {"avx512", "avx2", "scalar"}) {
    if (offered(runnable, name))
      return {std::string(name),
              fmt::format("the widest that runs here, of: {}", fmt::join(runnable, ", "))};
  }
  return {std::string(runnable.front()), "the first of those that run here"};
}

}  // namespace foxhunt::kernels
