#include "foxhunt/contract/load_times.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "foxhunt/base/error.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/latency/tsc_clock.h"

namespace foxhunt::contract {
namespace {

constexpr std::size_t kSteadySteps = 20'001;
constexpr std::size_t kUntimedSteps = 2'000;  // caches and clock settle

/// What a child says: its times, or why there are none.
struct Told {
  LoadTimes times{};
  int failed = 0;  ///< an ExitCode; 0: none
  char why[512] = {};
};

LoadTimes load_once(const ReadBundle& read, const engine::PlanOptions& options,
                    std::span<const float> features, const latency::TscClock& clock) {
  LoadTimes times;
  std::uint64_t at = latency::read_tsc();
  const auto lap = [&] {
    const std::uint64_t now = latency::read_tsc();
    const double us = clock.us(now - at);
    at = now;
    return us;
  };
  bundle::Bundle bundle = read();
  times.read_ms = lap() * 1e-3;
  const std::shared_ptr<const engine::Plan> plan = engine::Plan::build(std::move(bundle), options);
  times.pack_ms = lap() * 1e-3;
  engine::Session session(plan);
  times.session_ms = lap() * 1e-3;
  const auto width = static_cast<std::size_t>(plan->n_features());
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  std::vector<std::uint64_t> ticks(kSteadySteps, 0);
  std::size_t row = 0;
  const auto step = [&] {
    const std::span<const float> x = features.subspan(row, width);
    row = row + 2 * width <= features.size() ? row + width : 0;
    const std::uint64_t start = latency::read_tsc();
    session.step(x, out);
    return latency::read_tsc() - start;
  };
  times.first_us = clock.us(step());
  for (std::size_t i = 0; i < kUntimedSteps; ++i) step();
  for (std::uint64_t& t : ticks) t = step();
  std::ranges::nth_element(ticks, ticks.begin() + kSteadySteps / 2);
  times.steady_us = clock.us(ticks[kSteadySteps / 2]);
  return times;
}

Told told_by_child(const ReadBundle& read, const engine::PlanOptions& options,
                   std::span<const float> features, const latency::TscClock& clock) {
  Told told;
  const auto fail = [&told](const std::exception& error, ExitCode code) {
    told.failed = static_cast<int>(code);
    std::strncpy(told.why, error.what(), sizeof told.why - 1);
  };
  try {
    told.times = load_once(read, options, features, clock);
  } catch (const Error& error) {
    fail(error, error.code());
  } catch (const std::exception& error) {
    fail(error, ExitCode::kFailure);
  }
  return told;
}

/// Closes what it holds.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe(ends) != 0)
      throw IoError(fmt::format("[contract] a pipe to a child: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// False where the child said less.
bool read_told(int from, Told& told) {
  auto* to = reinterpret_cast<char*>(&told);
  std::size_t got = 0;
  while (got < sizeof told) {
    const ssize_t n = ::read(from, to + got, sizeof told - got);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return true;
}

LoadTimes in_a_child(const ReadBundle& read, const engine::PlanOptions& options,
                     std::span<const float> features, const latency::TscClock& clock,
                     std::int64_t number) {
  Pipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    const Told told = told_by_child(read, options, features, clock);
    // Less than a pipe holds: written at once or not at all.
    const bool said = ::write(pipe.ends[1], &told, sizeof told) == ssize_t{sizeof told};
    ::_exit(said ? 0 : 1);
  }
  if (child < 0) throw IoError(fmt::format("[contract] a child: {}", std::strerror(errno)));
  pipe.close(1);
  Told told;
  const bool said = read_told(pipe.ends[0], told);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said) throw IoError(fmt::format("[contract] load {} ended without an answer", number));
  if (told.failed != 0) {
    throw Error(static_cast<ExitCode>(told.failed),
                fmt::format("[contract] load {}: {}", number, told.why));
  }
  return told.times;
}

template <class Value>
double median_of(std::span<const LoadTimes> loads, Value&& value) {
  std::vector<double> values;
  values.reserve(loads.size());
  for (const LoadTimes& load : loads) values.push_back(value(load));
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

std::vector<LoadTimes> time_loads(const ReadBundle& read, const engine::PlanOptions& options,
                                  std::span<const float> features, std::int64_t loads) {
  if (loads < 1 || features.empty())
    throw UsageError(
        fmt::format("[contract] {} loads, {} features: both must be >= 1", loads, features.size()));
  const latency::TscClock clock = latency::calibrate_tsc(0.05);
  std::vector<LoadTimes> times;
  times.reserve(static_cast<std::size_t>(loads));
  for (std::int64_t i = 0; i < loads; ++i)
    times.push_back(in_a_child(read, options, features, clock, i + 1));
  return times;
}

LoadSummary summary_of(std::span<const LoadTimes> loads) {
  if (loads.empty()) throw UsageError("[contract] no load to sum up");
  LoadSummary sum;
  sum.loads = static_cast<std::int64_t>(loads.size());
  sum.median = {.read_ms = median_of(loads, [](const LoadTimes& t) { return t.read_ms; }),
                .pack_ms = median_of(loads, [](const LoadTimes& t) { return t.pack_ms; }),
                .session_ms = median_of(loads, [](const LoadTimes& t) { return t.session_ms; }),
                .first_us = median_of(loads, [](const LoadTimes& t) { return t.first_us; }),
                .steady_us = median_of(loads, [](const LoadTimes& t) { return t.steady_us; })};
  sum.load_ms = median_of(loads, [](const LoadTimes& t) { return t.load_ms(); });
  sum.first_ratio = median_of(loads, [](const LoadTimes& t) { return t.first_ratio(); });
  sum.least_load_ms = loads.front().load_ms();
  for (const LoadTimes& t : loads) {
    sum.least_load_ms = std::min(sum.least_load_ms, t.load_ms());
    sum.worst_first_ratio = std::max(sum.worst_first_ratio, t.first_ratio());
  }
  return sum;
}

}  // namespace foxhunt::contract
