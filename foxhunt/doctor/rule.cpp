// The table of rules. Each threshold stands with its reason; the constants are in the checks.
#include "foxhunt/doctor/rule.h"

#include <array>
#include <cstddef>

namespace foxhunt::doctor {
namespace {

using enum Severity;
using enum Fate;

// What training does with whatever bars say, no lock given: FeaturePipeline::push takes it.
constexpr std::string_view kUsedAsIs =
    "used as it is; with a lock (data.lock of the configuration) training refuses the file";
constexpr std::string_view kUsed = "used as it is";
constexpr std::string_view kNotOfBars = "training on bars does not read it";

constexpr std::array kRules{
    Rule{RuleId::kUnreadable, "unreadable", kError, kRefused,
         "bytes or rows that break the rules of their format",
         "the reader stops there; what is behind was not looked at",
         "training stops with the same message"},
    Rule{RuleId::kTruncated, "truncated", kError, kKept,
         "the input ends inside a frame or a record", "any byte behind the last whole record",
         "what is whole is used, with a warning; with a lock training refuses the file"},
    Rule{RuleId::kEmpty, "empty", kWarning, kRefused, "no record at all", "0 records",
         "training refuses a file without a bar"},
    Rule{RuleId::kUnknownType, "unknown-type", kWarning, kDropped,
         "records of a type that the format does not define",
         "any; they are skipped by their length", "left out"},
    Rule{RuleId::kNotChecked, "not-checked", kInfo, kDropped,
         "records of types that are counted only", "any; no rule below looks at them", "left out"},
    Rule{RuleId::kPartialSymbols, "partial-symbols", kWarning, kKept,
         "the vendor had no data for some days of these symbols", "the metadata says so", kUsed},
    Rule{RuleId::kMissingSymbols, "missing-symbols", kWarning, kKept,
         "the vendor knows no such symbols", "the metadata says so", kUsed},
    Rule{RuleId::kUnmappedId, "unmapped-id", kWarning, kDropped,
         "records whose id has no symbol on their day", "the file has a symbol map without them",
         "left out and counted (BarSelector)"},
    Rule{RuleId::kIdReuse, "id-reuse", kInfo, kMasked, "an id that was two instruments",
         "two symbols on days that do not overlap: legal, ids are unique within a day only",
         "the id is looked up by its UTC day; another contract begins another sequence"},
    Rule{RuleId::kMixedContracts, "mixed-contracts", kWarning, kRefused,
         "spreads beside outrights, or several contracts of one product at one time",
         "two or more symbols whose records overlap in time",
         "spreads are left out; contracts side by side are refused, naming both (choose one by "
         "data.symbol)"},
    Rule{RuleId::kNoTime, "no-time", kError, kDropped, "records without index time", "any",
         "left out and counted"},
    Rule{RuleId::kBackStep, "back-step", kError, kDropped,
         "records earlier than the newest one of their symbol", "any: readers join on this order",
         "bars are left out and counted as out of order"},
    Rule{RuleId::kFileOrder, "file-order", kWarning, kKept,
         "records earlier than another symbol's before them", "each symbol by itself is in order",
         "used: one contract is read at a time"},
    Rule{RuleId::kDuplicate, "duplicate", kWarning, kDropped,
         "the same symbol, time and values again",
         "bars: next to each other; events: only with sequence numbers, without them two equal "
         "trades may be two",
         "bars are left out and counted"},
    Rule{RuleId::kConflict, "conflict", kError, kDropped,
         "the same symbol and time with other values", "bars of one length next to each other",
         "the first one is used, the others are left out and counted"},
    Rule{RuleId::kEqualStamps, "equal-stamps", kInfo, kDropped,
         "event bars that ended at one instant",
         "legal where more than half of the times are off the grid of the bar's length",
         "all but the first are left out and counted"},
    Rule{RuleId::kRecvBeforeEvent, "recv-before-event", kWarning, kKept,
         "received before it happened", "ts_recv < ts_event: one of two clocks is off", kNotOfBars},
    Rule{RuleId::kBadTsRecv, "bad-ts-recv", kWarning, kKept,
         "the vendor does not trust its receive time",
         "flag BAD_TS_RECV outside of snapshots, whose rows all have it", kNotOfBars},
    Rule{RuleId::kSequenceBack, "sequence-back", kWarning, kKept, "sequence numbers that fall",
         "within an hour; venues begin anew once a week. Jumps forward are no fault: other "
         "instruments share the channel",
         kNotOfBars},
    Rule{RuleId::kMissingBars, "missing-bars", kInfo, kMasked, "minutes of a session without a bar",
         "any between a symbol's first and last bar; vendors write no bar where nothing traded",
         "a gap over features.max_gap_minutes begins a new sequence; shorter ones are bridged"},
    Rule{RuleId::kMissingSessions, "missing-sessions", kWarning, kMasked,
         "sessions of the calendar without any bar", "between the first and the last with bars",
         "every session is a sequence of its own"},
    Rule{RuleId::kOutsideSession, "outside-session", kWarning, kDropped,
         "bars or trades while the market was closed or halted",
         "any; holidays, early closes and clock changes are known", "left out and counted"},
    Rule{RuleId::kWrongZone, "wrong-zone", kError, kKept,
         "times that are whole hours off the exchange's clock",
         "1.5 % or more of a season's records outside of sessions (an hour off makes 4 %), and "
         "another shift explains 85 % of them; 200 records or more",
         "bars that fall outside of sessions are left out, the others are used at the wrong time; "
         "with a lock training refuses the file"},
    Rule{RuleId::kWrongStamp, "wrong-stamp", kError, kKept,
         "bars stamped with the other edge than csv.bar_stamp says",
         "60 % of sessions have a bar one length beside an edge and at most 20 % one at it; 3 "
         "sessions or more",
         "used one bar early or late: a look ahead. With a lock training refuses the file"},
    Rule{RuleId::kNoPrice, "no-price", kError, kDropped, "bars or trades that lack a price", "any",
         "bars are left out and counted"},
    Rule{RuleId::kSentinel, "sentinel", kError, kKept,
         "numbers that mean \"none\": 9223372036.854775807, -999, 2^32 - 1",
         "exact values; no product of the tables costs that", kUsedAsIs},
    Rule{RuleId::kNotPositive, "not-positive", kError, kDropped, "prices of zero or less",
         "any, but for spreads", "bars are left out and counted (log returns do not exist)"},
    Rule{RuleId::kOhlc, "ohlc", kError, kDropped,
         "a high or low that is not the highest or lowest of the four", "exact",
         "left out and counted"},
    Rule{RuleId::kOffTick, "off-tick", kError, kKept, "prices that the exchange cannot have",
         "no multiple of the product's tick, exact; the tick of the file's own definitions where "
         "it has them",
         kUsedAsIs},
    Rule{RuleId::kWrongScale, "wrong-scale", kError, kKept,
         "prices beyond anything that the product has cost",
         "below a third of the lowest or above three times the highest price of its history: a "
         "factor of 100 leaves the range for all prices, of 10 for most",
         kUsedAsIs},
    Rule{RuleId::kScaleJump, "scale-jump", kError, kKept, "prices that change by a power of ten",
         "a factor within 20 % of 10, 100 … between neighbours; if it lasts 8 records it counts "
         "once",
         kUsedAsIs},
    Rule{RuleId::kSplit, "split", kError, kKept, "a price that changes by a company's split ratio",
         "within 5 % of 3:2, 2:1, 3:1 … 20:1, for 8 records; futures have no splits", kUsedAsIs},
    Rule{RuleId::kRoll, "roll", kInfo, kMasked, "the contract behind a symbol changes",
         "the id of a symbol, or the symbol of a product changes; both prices are shown",
         "the new contract begins a new sequence"},
    Rule{RuleId::kUnmarkedRoll, "unmarked-roll", kWarning, kKept,
         "a jump that may be a roll which nothing marks",
         "over 8 robust deviations across a break (the root of at most 60 bars), from 10 days "
         "before to 3 days behind the third Friday of March, June, September, December, in a "
         "series without a contract's name; a roll that is no larger than a night's move passes",
         "the jump itself is in no return, since sessions are sequences"},
    Rule{RuleId::kSpike, "spike", kError, kKept, "prices that nobody could repeat",
         "a wick to a half or the double of the bar's own open and close; or 1.4 times the price "
         "before and back within 8 records",
         kUsedAsIs},
    Rule{RuleId::kOutlier, "outlier", kWarning, kKept, "moves far beyond the usual",
         "over 30 robust deviations: 1.4826 times the median of the last 127 absolute returns, at "
         "least a tick and a basis point, times the root of the bars that lie between",
         kUsed},
    Rule{RuleId::kFiller, "filler", kError, kKept,
         "flat bars without volume that fill up minutes without trades",
         "5 or more in a row at one price, in a file that has volumes", kUsedAsIs},
    Rule{RuleId::kZeroVolume, "zero-volume", kWarning, kKept, "bars without volume",
         "in a file that has volumes", kUsed},
    Rule{RuleId::kStaleBar, "stale-bar", kWarning, kKept, "the same bar again and again",
         "3 or more equal ones with a range and a volume", kUsed},
    Rule{RuleId::kVolumeOutlier, "volume-outlier", kWarning, kKept, "volumes beyond reason",
         "1,000 times the running median of 127 bars, that at least 10: the open of New York has "
         "400 times the night's",
         kUsed},
    Rule{RuleId::kCumulativeVolume, "cumulative-volume", kError, kKept,
         "a running total instead of a bar's volume",
         "100 bars in a row that never fall and mostly rise: by chance once in 2^100", kUsedAsIs},
    Rule{RuleId::kConstantColumn, "constant-column", kWarning, kKept, "a column that never changes",
         "close or volume, over all of 100 bars or more", kUsed},
    Rule{RuleId::kMixedLengths, "mixed-lengths", kWarning, kDropped, "bars of several lengths",
         "all but the commonest count", "other lengths than features.bar_seconds are left out"},
    Rule{RuleId::kCrossed, "crossed", kWarning, kKept, "bid above ask while the market is open",
         "any; venues' glitches", kNotOfBars},
    Rule{RuleId::kCrossedOften, "crossed-often", kError, kKept,
         "bid above ask too often for a venue's glitches",
         "1 % of the quotes with two sides, 10 at least: mixed sources or sides", kNotOfBars},
    Rule{RuleId::kCrossedClosed, "crossed-closed", kInfo, kKept,
         "bid above ask before the open or in a halt", "any; normal in an auction", kNotOfBars},
    Rule{RuleId::kLocked, "locked", kInfo, kKept, "bid equal to ask", "any", kNotOfBars},
    Rule{RuleId::kEmptySide, "empty-side", kInfo, kKept, "quotes with one side or none", "any",
         kNotOfBars},
    Rule{RuleId::kWideSpread, "wide-spread", kWarning, kKept, "spreads far wider than usual",
         "over 50 times the running median of 127; news make ten", kNotOfBars},
    Rule{RuleId::kStaleQuote, "stale-quote", kWarning, kKept, "a quote that stands still",
         "20 trades in a row beyond it; one or two are in flight", kNotOfBars},
    Rule{RuleId::kMaybeBadBook, "maybe-bad-book", kWarning, kKept,
         "the vendor lost something that it could not recover", "flag MAYBE_BAD_BOOK", kNotOfBars},
    Rule{RuleId::kUnknownOrder, "unknown-order", kWarning, kKept,
         "cancels and changes of orders that were never added",
         "any, in a book that began with a snapshot or a clear", kNotOfBars},
    Rule{RuleId::kAggressorInverted, "aggressor-inverted", kError, kKept,
         "buyers and sellers the wrong way round",
         "side and tick test agree in less than half of 50 or more trades that moved the price, "
         "by the whole 99.9 % interval",
         kNotOfBars},
    Rule{RuleId::kAggressorRate, "aggressor-rate", kInfo, kKept,
         "how often side and tick test agree", "50 or more trades that moved the price",
         kNotOfBars},
    Rule{RuleId::kZeroSize, "zero-size", kWarning, kKept, "trades without a size", "any",
         kNotOfBars},
    Rule{RuleId::kSameFile, "same-file", kWarning, kDropped, "two files with the same bytes",
         "by SHA-256", "every bar of the second one is out of order, left out and counted"},
    Rule{RuleId::kFileOverlap, "file-overlap", kWarning, kDropped,
         "a file that begins before the one before it ends", "of one symbol, by index time",
         "bars are left out until time goes on"},
    Rule{RuleId::kScaleBetweenFiles, "scale-between-files", kError, kKept,
         "a file whose prices are a power of ten off another's",
         "a factor within 20 % of 10, 100 … between the last and the first price of one symbol",
         kUsedAsIs},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].id) != i) return false;
  }
  return true;
}
static_assert(is_in_order());
static_assert(kRules.size() == static_cast<std::size_t>(RuleId::kScaleBetweenFiles) + 1);

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule& rule(RuleId id) { return kRules[static_cast<std::size_t>(id)]; }

std::string_view name_of(Severity severity) {
  switch (severity) {
    case kInfo:
      return "info";
    case kWarning:
      return "warning";
    case kError:
      break;
  }
  return "error";
}

std::string_view name_of(Fate fate) {
  switch (fate) {
    case kKept:
      return "keep";
    case kMasked:
      return "mask";
    case kDropped:
      return "drop";
    case kRefused:
      break;
  }
  return "refuse";
}

}  // namespace foxhunt::doctor
