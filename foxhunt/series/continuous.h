#pragma once
// One series through many contracts: which contract when (roll_plan.h), prices made to fit, and a
// record of every roll.
//
// Rolls stand at the open of a session, so no bar and no sequence spans one; every contract has an
// instrument id of its own in what is written, by which the feature pipeline starts a new sequence
// (new_contract).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/market/reader.h"
#include "foxhunt/series/merged_bars.h"
#include "foxhunt/series/roll_plan.h"

namespace foxhunt::series {

/// Bars through a plan, one at a time. O(1) a bar.
class ContinuousBuilder {
 public:
  ContinuousBuilder(RollPlan plan, Adjust adjust);

  /// The bar as the series holds it, id = place of its contract in the plan + 1; nullopt where
  /// another contract holds the series then. Bars come by start.
  /// Errors  DataError: a price of 0 or below under kRatio, or one that no longer fits.
  std::optional<market::Bar> take(const ContractBar& bar);

  const RollPlan& plan() const { return plan_; }

 private:
  Price adjusted(Price price, const Stretch& stretch, const ContractBar& bar) const;

  RollPlan plan_;
  Adjust adjust_;
  std::size_t now_ = 0;
};

struct ContinuousFile {
  std::filesystem::path path;
  std::string sha256;
};

struct ContinuousReport {
  RollConfig config;
  RollPlan plan;
  MergeCounters input;
  std::int64_t bars = 0;             ///< written
  std::int64_t other_contracts = 0;  ///< bars of contracts that did not hold the series
  std::int64_t outside_session = 0;  ///< left out of decisions, though not of the series
  UnixNanos first = kNullTime, last = kNullTime;
  std::vector<ContinuousFile> inputs;
  ContinuousFile output;

  std::string to_text() const;
  /// rule,decided,first_session,at,from,to,from_price,to_price,priced,difference,ratio
  std::string rolls_csv() const;
  /// The same with configuration, counters and the hashes of all files.
  std::string to_json() const;
};

struct ContinuousJob {
  RollConfig config{};
  Conflict conflict = Conflict::kRefuse;
  market::ReadOptions read{};
};

/// Reads the files twice: once for what decides the rolls, once for the series. Memory is flat in
/// the number of bars. `out` becomes DBN where its name ends in .dbn or .dbn.zst, else CSV
/// (ts_event,rtype,symbol,instrument_id,open,high,low,close,volume,roll; roll is 1 on the first bar
/// behind a roll). It appears whole or not at all.
/// Errors  what readers, merge and plan throw; DataError: no bar, bars of two lengths.
ContinuousReport make_continuous(const std::vector<std::filesystem::path>& files,
                                 const ContinuousJob& job, const std::filesystem::path& out);

/// "first_session,symbol" lines (with that header) for RollRule::kMap.
/// Errors  DataError naming file and line.
std::map<Date, std::string> read_roll_map(const std::filesystem::path& path);
/// "date,symbol,open_interest" lines for RollRule::kOpenInterest.
std::map<std::string, std::map<Date, std::int64_t>> read_open_interest(
    const std::filesystem::path& path);

}  // namespace foxhunt::series
