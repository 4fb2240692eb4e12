#pragma once
// Findings: what is wrong with a file, where it began, how often, and one example. Memory is flat:
// a counter a rule, and a counter for each day that has an error.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/doctor/rule.h"
#include "foxhunt/market/record.h"

namespace foxhunt::doctor {

/// Where a record stands. 0, null and "" where it is not known or where a whole file is meant.
struct Place {
  std::int64_t record = 0;  ///< of those that the reader hands out, from 1
  std::int64_t line = 0;    ///< of a CSV file, its header being 1
  std::int64_t byte = 0;    ///< of a DBN file's decompressed stream, behind the record
  UnixNanos time = kNullTime;
  std::string symbol{};
};

struct Finding {
  const Rule* rule = nullptr;
  std::int64_t count = 0;
  Place first{};
  UnixNanos last = kNullTime;       ///< index time of the last one
  std::string example{};            ///< values of the first one
  std::vector<std::string> more{};  ///< of the next ones, each with its time
};

struct Series;

/// A record on its way through the checks.
struct Seen {
  std::int64_t number = 0;  ///< as Place::record
  std::int64_t byte = 0;
  UnixNanos time = kNullTime;
  const Series* series = nullptr;  ///< never null
};

class Findings {
 public:
  /// `is_csv`: record numbers tell lines.
  explicit Findings(bool is_csv) : is_csv_(is_csv) {}

  /// One more of `id` at `seen`. `text` answers its example; it is called for the first few only.
  template <class Text>
  void add(RuleId id, const Seen& seen, Text&& text, std::int64_t count = 1) {
    Entry& entry = entries_[static_cast<std::size_t>(id)];
    if (entry.count == 0) {
      start(entry, seen, text());
    } else if (entry.more.size() < kMore) {
      entry.more.push_back(to_string(seen.time) + " " + text());
    }
    entry.count += count;
    entry.last = seen.time;
    if (rule(id).severity == Severity::kError) count_day(entry, seen.time, count);
  }
  /// About the file as a whole.
  void add_whole(RuleId id, std::int64_t count, std::string text);

  /// What was taken for `from` turns out to be `to`.
  void turn(RuleId from, RuleId to);

  /// How often `id` was found so far.
  std::int64_t count(RuleId id) const { return entries_[static_cast<std::size_t>(id)].count; }
  /// In the order of severity, worst first, then of the rules.
  std::vector<Finding> list() const;
  /// UTC days with errors in them, and how many: what to leave out.
  std::map<std::int32_t, std::int64_t> days() const;

 private:
  static constexpr std::size_t kMore = 4;
  struct Entry {
    std::int64_t count = 0;
    Place first{};
    UnixNanos last = kNullTime;
    std::string example{};
    std::vector<std::string> more{};
    std::map<std::int32_t, std::int64_t> days{};  ///< since 1970; of errors
  };
  void start(Entry& entry, const Seen& seen, std::string text) const;
  static void count_day(Entry& entry, UnixNanos time, std::int64_t count);

  bool is_csv_;
  std::array<Entry, static_cast<std::size_t>(RuleId::kScaleBetweenFiles) + 1> entries_{};
};

}  // namespace foxhunt::doctor
