#pragma once
// Bars of many files as one stream in the order of time, whatever contracts each file holds.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/market/reader.h"

namespace foxhunt::series {

/// What became of every record: records = bars + the rest.
struct MergeCounters {
  std::int64_t records = 0;
  std::int64_t bars = 0;
  std::int64_t not_bars = 0;
  std::int64_t other_product = 0;  ///< spreads and options included
  std::int64_t unmapped = 0;       ///< the file does not say which symbol the id had on this day
  std::int64_t duplicates = 0;     ///< the same bar of the same contract once more: dropped
  std::int64_t truncated_files = 0;
};

/// What to do with two bars of one contract at one time that differ.
enum class Conflict : std::uint8_t { kRefuse, kFirst };

struct ContractBar {
  std::string symbol;
  market::Bar bar;
};

/// Holds one bar of every file. Memory  a reader's buffers a file.
class MergedBars {
 public:
  using Readers = std::vector<std::unique_ptr<market::Reader>>;

  /// `names` stand for the readers in messages. Errors  what readers throw.
  MergedBars(Readers readers, std::vector<std::string> names, std::string product,
             Conflict conflict = Conflict::kRefuse);

  /// The next bar by start, then by symbol, then by file; nullptr at the end of all.
  /// Errors  what readers throw; DataError naming file and time: a file whose bars run backwards,
  ///         or two bars of one contract and time that differ (kFirst keeps the first file's and
  ///         counts the other as a duplicate).
  /// Lifetime  valid until the next call.
  const ContractBar* next();

  const MergeCounters& counters() const { return counters_; }

 private:
  struct Source {
    std::unique_ptr<market::Reader> reader;
    std::string name;
    std::optional<ContractBar> head{};
    /// Symbols of ids on the UTC day of the newest bar: ids are unique only within a day.
    std::map<std::uint64_t, std::string> symbols{};
    std::int64_t day = -1;
  };
  void advance(Source& source);
  const std::string& symbol_of(Source& source, const market::Bar& bar);
  bool is_duplicate(const Source& source, const ContractBar& bar);

  std::vector<Source> sources_;
  std::string product_;
  Conflict conflict_;
  ContractBar current_;
  std::map<std::string, market::Bar> last_;  ///< handed out, by symbol
  MergeCounters counters_;
};

}  // namespace foxhunt::series
