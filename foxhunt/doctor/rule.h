#pragma once
// What the doctor looks for: one row a rule, with its severity, its threshold and the reason for
// it, and what training does with such data.

#include <cstdint>
#include <span>
#include <string_view>

namespace foxhunt::doctor {

/// Raised when a rule or a threshold changes: two reports are comparable only within one version.
inline constexpr int kDoctorVersion = 1;

enum class Severity : std::uint8_t {
  kInfo,     ///< worth knowing; nothing is wrong
  kWarning,  ///< look at it before you train
  kError,    ///< training on it would learn the fault
};

/// What training does today with such records, when no lock stands in its way.
enum class Fate : std::uint8_t {
  kKept,     ///< used as they are
  kMasked,   ///< used, but no window or label crosses the place
  kDropped,  ///< left out and counted
  kRefused,  ///< training does not start
};

enum class RuleId : std::uint8_t {
  // container
  kUnreadable,
  kTruncated,
  kEmpty,
  kUnknownType,
  kNotChecked,
  kPartialSymbols,
  kMissingSymbols,
  kUnmappedId,
  kIdReuse,
  kMixedContracts,
  // time
  kNoTime,
  kBackStep,
  kFileOrder,
  kDuplicate,
  kConflict,
  kEqualStamps,
  kRecvBeforeEvent,
  kBadTsRecv,
  kSequenceBack,
  // calendar
  kMissingBars,
  kMissingSessions,
  kOutsideSession,
  kWrongZone,
  kWrongStamp,
  // values
  kNoPrice,
  kSentinel,
  kNotPositive,
  kOhlc,
  kOffTick,
  kWrongScale,
  kScaleJump,
  kSplit,
  kRoll,
  kUnmarkedRoll,
  kSpike,
  kOutlier,
  kFiller,
  kZeroVolume,
  kStaleBar,
  kVolumeOutlier,
  kCumulativeVolume,
  kConstantColumn,
  kMixedLengths,
  // quotes, trades and books
  kCrossed,
  kCrossedOften,
  kCrossedClosed,
  kLocked,
  kEmptySide,
  kWideSpread,
  kStaleQuote,
  kMaybeBadBook,
  kUnknownOrder,
  kAggressorInverted,
  kAggressorRate,
  kZeroSize,
  // between files
  kSameFile,
  kFileOverlap,
  kScaleBetweenFiles,
};

struct Rule {
  RuleId id;
  std::string_view name;  ///< "back-step"
  Severity severity;
  Fate fate;
  std::string_view what;       ///< what such data is
  std::string_view threshold;  ///< from when on it is found, and why from there
  std::string_view training;   ///< what training does with it
};

/// All rules, in the order of RuleId. Static storage.
std::span<const Rule> rules();
const Rule& rule(RuleId id);

std::string_view name_of(Severity severity);
std::string_view name_of(Fate fate);

}  // namespace foxhunt::doctor
