#include "foxhunt/proofs/poison.h"

#include <algorithm>
#include <chrono>

namespace foxhunt::proofs {
namespace {

using market::Bar;

constexpr std::int64_t kStep = 250'000'000;  // of the made-up walk; no product's tick is meant

void thin(std::vector<Bar>& bars, std::size_t from, Rng& rng) {
  std::vector<Bar> kept(bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(from));
  // The next bar always goes: whoever looks one ahead sees another one.
  for (std::size_t i = from + 1; i < bars.size(); ++i) {
    if (rng.below(2) == 0) kept.push_back(bars[i]);
  }
  bars = std::move(kept);
}

void delay(std::span<Bar> tail, Rng& rng) {
  static constexpr std::int64_t kHoles[] = {0, 0, 0, 0, 0, 1, 5, 45, 300};
  std::int64_t late = rng.below(2) == 0 ? 1 : 90;
  for (Bar& bar : tail) {
    late += kHoles[rng.below(std::size(kHoles))] * static_cast<std::int64_t>(rng.below(8) == 0);
    bar.start += bar.span * late;
  }
}

void add_extra(std::vector<Bar>& bars, std::size_t from, Rng& rng) {
  std::vector<Bar> more(bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(from));
  for (std::size_t i = from; i < bars.size(); ++i) {
    more.push_back(bars[i]);
    if (i > from && rng.below(4) != 0) continue;
    change_values(std::span(&more.back(), 1), rng);  // the first to come is the changed one
    more.push_back(bars[i]);
  }
  const std::size_t behind = more.size();
  for (std::int64_t i = 1; i <= 90; ++i) {
    Bar bar = bars.back();
    bar.start += bar.span * i;
    more.push_back(bar);
  }
  change_values(std::span(more).subspan(behind), rng);
  bars = std::move(more);
}

void make_unusable(std::span<Bar> tail, Rng& rng) {
  for (std::size_t i = 0; i < tail.size(); ++i) {
    Bar& bar = tail[i];
    switch (i == 0 ? rng.below(4) : rng.below(12)) {
      case 0:
        bar.close = Price::null();
        break;
      case 1:
        bar.open = bar.high = bar.low = bar.close = Price{-bar.close.nano};
        break;
      case 2:
        std::swap(bar.high, bar.low);
        bar.volume += 1000;
        break;
      case 3:
        bar.span *= 2;
        break;
      default:
        break;
    }
  }
}

}  // namespace

const char* name_of(Poison poison) {
  switch (poison) {
    case Poison::kValues:
      return "other prices and sizes";
    case Poison::kDeleted:
      return "no further bar";
    case Poison::kThinned:
      return "half of the bars";
    case Poison::kTimes:
      return "bars at later times";
    case Poison::kExtra:
      return "extra bars";
    case Poison::kUnusable:
      return "unusable bars";
    case Poison::kContract:
      break;
  }
  return "another contract";
}

void change_values(std::span<Bar> bars, Rng& rng) {
  std::int64_t price = static_cast<std::int64_t>(800 + rng.below(20'000));
  const std::uint64_t most = 3 + rng.below(60);
  const auto steps = [&rng](std::uint64_t n) { return static_cast<std::int64_t>(rng.below(n)); };
  for (Bar& bar : bars) {
    const std::int64_t open = price;
    price =
        std::max<std::int64_t>(400, price + steps(2 * most + 1) - static_cast<std::int64_t>(most));
    bar.open = Price{open * kStep};
    bar.close = Price{price * kStep};
    bar.high = Price{(std::max(open, price) + 1 + steps(5)) * kStep};
    bar.low = Price{(std::min(open, price) - 1 - steps(5)) * kStep};
    bar.volume = 1 + rng.below(1'000'000);
  }
}

std::vector<Bar> with_other_future(std::span<const Bar> bars, std::size_t last, Poison poison,
                                   Rng& rng) {
  std::vector<Bar> other(bars.begin(), bars.end());
  const std::size_t from = last + 1;
  if (from >= other.size()) return other;
  const auto tail = [&] { return std::span(other).subspan(from); };
  switch (poison) {
    case Poison::kValues:
      change_values(tail(), rng);
      break;
    case Poison::kDeleted:
      other.resize(from);
      break;
    case Poison::kThinned:
      thin(other, from, rng);
      break;
    case Poison::kTimes:
      delay(tail(), rng);
      break;
    case Poison::kExtra:
      add_extra(other, from, rng);
      break;
    case Poison::kUnusable:
      make_unusable(tail(), rng);
      break;
    case Poison::kContract:
      change_values(tail(), rng);
      for (Bar& bar : tail()) bar.instrument.instrument_id += 1'000'000;
      break;
  }
  return other;
}

}  // namespace foxhunt::proofs
