#pragma once
// When a continuous series changes its contract, and how prices are made to fit.

#include <cstdint>
#include <map>
#include <string>

#include "foxhunt/base/time.h"

namespace foxhunt::series {

enum class RollRule : std::uint8_t {
  kCalendar,      ///< `days_before` business days before the contract's last safe day
  kVolume,        ///< after a session in which a later contract traded more
  kOpenInterest,  ///< when a later contract's open interest is known to be larger
  kMap,           ///< as the given map says
};

enum class Adjust : std::uint8_t {
  kNone,        ///< prices as traded
  kDifference,  ///< the gap of the roll is added: moves in points are kept
  kRatio,       ///< prices are multiplied: returns are kept; needs prices above 0
};

/// Which contract's prices stay as traded. kLast: the newest (earlier prices depend on later rolls,
/// their returns do not). kFirst: the oldest; no price depends on what comes after it.
enum class Anchor : std::uint8_t { kLast, kFirst };

struct RollConfig {
  std::string product = "ES";
  RollRule rule = RollRule::kVolume;
  Adjust adjust = Adjust::kNone;
  Anchor anchor = Anchor::kLast;
  /// Letters of the delivery months that take part; "" is the product's own cycle: HMUZ of ES, NQ,
  /// MES, MNQ, ZN, 6E, and GJMQZ of GC.
  std::string months{};
  /// kCalendar: how many business days before its last safe day a contract is left. Every rule
  /// leaves it there at the latest (kMap excepted), with 0 on that day itself.
  int days_before = 0;
  /// kMap: the first session (trade date) of each contract.
  std::map<Date, std::string> map{};
  /// kOpenInterest: by contract and the trade date that it was counted at the end of. It is
  /// published in the session after, so a roll follows two sessions later.
  std::map<std::string, std::map<Date, std::int64_t>> open_interest{};
};

}  // namespace foxhunt::series
