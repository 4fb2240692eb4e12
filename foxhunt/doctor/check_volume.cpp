// Volumes and bars that nothing happened in: fillers, repeated bars, running totals, constants.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/running_median.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

using market::Bar;

/// Flat bars without volume in a row. One or two happen where a source writes auctions; five
/// minutes without a trade have no bar at all in data that has volumes.
constexpr std::int64_t kFillerRun = 5;
/// Equal bars in a row with a range: two are chance, three are a feed that stands still.
constexpr std::int64_t kStaleRun = 3;
/// The open of New York has 400 times the volume of the night before it.
constexpr double kVolumeDistance = 1000;
constexpr float kLeastVolume = 10;
constexpr std::size_t kWarm = 32;
/// A volume that does not fall so often by chance is a total: 2^-100.
constexpr std::int64_t kRisingRun = 100;
constexpr std::int64_t kConstantBars = 100;

bool is_flat(const Bar& bar) {
  return bar.open == bar.high && bar.high == bar.low && bar.low == bar.close;
}

class VolumeCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const Bar& bar) override {
    if (bar.close.is_null()) return;
    State& state = states_[*seen.series];
    state.first_at = state.bars == 0 ? seen : state.first_at;
    count_filler(seen, state, bar);
    count_stale(seen, state, bar);
    check_volume(seen, state, bar);
    ++state.bars;
    if (state.bars > 1) {
      state.closes_differ |= bar.close != state.last->close;
      state.volumes_differ |= bar.volume != state.last->volume;
    }
    state.last = bar;
  }

  void see(const Seen& seen, const market::Trade& trade) override {
    if (trade.size == 0) {
      findings_.add(RuleId::kZeroSize, seen,
                    [&] { return fmt::format("price {} size 0", text_of(trade.price)); });
    }
  }

  void finish(const Whole& whole) override {
    for (const auto& series : whole.series.all()) {
      if (State* state = states_.find(*series)) finish(*state, whole.is_event_bars);
    }
  }

 private:
  struct State {
    std::int64_t bars = 0;
    std::optional<Bar> last;
    bool has_volume = false;
    // Runs of the present, and the first of them.
    std::int64_t filler = 0;
    std::int64_t fillers = 0;  ///< bars in runs that are long enough
    std::int64_t empty = 0;    ///< bars without volume
    std::int64_t stale = 0;
    std::int64_t rising = 0;
    std::int64_t rose = 0;  ///< steps up within the run
    bool is_total = false;  ///< the run is reported
    Seen filler_at{}, fillers_at{}, empty_at{}, stale_at{}, rising_at{}, first_at{};
    bool closes_differ = false, volumes_differ = false;
    RunningMedian<127> volumes;
  };

  void count_filler(const Seen& seen, State& state, const Bar& bar) {
    state.has_volume |= bar.volume > 0;
    if (bar.volume != 0) {
      state.filler = 0;
      return;
    }
    if (state.empty++ == 0) state.empty_at = seen;
    if (!is_flat(bar) || (state.last && bar.close != state.last->close && state.filler > 0)) {
      state.filler = 0;
      return;
    }
    if (state.filler++ == 0) state.filler_at = seen;
    if (state.filler < kFillerRun) return;
    if (state.fillers == 0) state.fillers_at = state.filler_at;
    state.fillers += state.filler == kFillerRun ? kFillerRun : 1;
  }

  void count_stale(const Seen& seen, State& state, const Bar& bar) {
    const bool again = state.last && bar.volume > 0 && bar.high > bar.low &&
                       bar.start != state.last->start && bar.open == state.last->open &&
                       bar.high == state.last->high && bar.low == state.last->low &&
                       bar.close == state.last->close && bar.volume == state.last->volume;
    if (!again) {
      state.stale = 1;
      state.stale_at = seen;
      return;
    }
    if (++state.stale < kStaleRun) return;
    const bool begins = state.stale == kStaleRun;
    findings_.add(
        RuleId::kStaleBar, begins ? state.stale_at : seen,
        [&] { return fmt::format("{}, {} times", text_of(bar), kStaleRun); },
        begins ? kStaleRun : 1);
  }

  void check_volume(const Seen& seen, State& state, const Bar& bar) {
    const auto volume = static_cast<float>(bar.volume);
    const float usual = std::max(state.volumes.median(), kLeastVolume);
    if (state.volumes.size() >= kWarm && volume > kVolumeDistance * usual) {
      findings_.add(RuleId::kVolumeOutlier, seen, [&] {
        return fmt::format("{}: {:.0f} times the median of the bars before", text_of(bar),
                           volume / usual);
      });
    }
    state.volumes.push(volume);
    const bool rises = state.last && bar.volume >= state.last->volume && bar.volume > 0;
    if (!rises) {
      state.rising = 1;
      state.rose = 0;
      state.is_total = false;
      state.rising_at = seen;
      return;
    }
    state.rose += bar.volume > state.last->volume ? 1 : 0;
    // Counts that have a ceiling stand still at it for hours.
    if (++state.rising < kRisingRun || 2 * state.rose < state.rising) return;
    const bool begins = !std::exchange(state.is_total, true);
    findings_.add(
        RuleId::kCumulativeVolume, begins ? state.rising_at : seen,
        [&] { return fmt::format("{} bars whose volume never falls", state.rising); },
        begins ? state.rising : 1);
  }

  void finish(State& state, bool is_event_bars) {
    if (state.has_volume) {
      if (state.fillers > 0) {
        findings_.add(
            RuleId::kFiller, state.fillers_at,
            [] { return std::string("O = H = L = C and volume 0, bar after bar"); }, state.fillers);
      }
      if (state.empty > state.fillers) {
        findings_.add(
            RuleId::kZeroVolume, state.empty_at,
            [] { return std::string("volume 0 in a file that has volumes"); },
            state.empty - state.fillers);
      }
    }
    if (state.bars < kConstantBars) return;
    const auto constant = [&](const char* column) {
      findings_.add(RuleId::kConstantColumn, state.first_at, [&] {
        return fmt::format("{} is the same in all {} bars", column, state.bars);
      });
    };
    if (!state.closes_differ) constant("close");
    // Event bars may well be made so that it is.
    if (!state.volumes_differ && state.has_volume && !is_event_bars) constant("volume");
  }

  PerSeries<State> states_;
};

}  // namespace

std::unique_ptr<Check> make_volume_check(Findings& findings) {
  return std::make_unique<VolumeCheck>(findings);
}

}  // namespace foxhunt::doctor
