#pragma once
// A reader for tests: hands out the records that it was given.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/market/reader.h"

namespace foxhunt::market::test {

inline const UnixNanos kOpen = parse_time("2013-10-07T22:00");  ///< ES session of 2013-10-08

/// Hands out what it was given.
class FakeReader final : public Reader {
 public:
  explicit FakeReader(const std::vector<Bar>& bars, StreamInfo info = {})
      : info_(std::move(info)), records_(bars.begin(), bars.end()) {}
  void add(Record record) { records_.push_back(std::move(record)); }

  const StreamInfo& info() const override { return info_; }
  const Record* next() override {
    return stats_.records < static_cast<std::int64_t>(records_.size())
               ? &records_[static_cast<std::size_t>(stats_.records++)]
               : nullptr;
  }
  const ReadStats& stats() const override { return stats_; }

 private:
  StreamInfo info_;
  ReadStats stats_;
  std::vector<Record> records_;
};

/// A file that says which id is which symbol.
inline StreamInfo mapped(const std::map<std::uint32_t, std::string>& symbols) {
  StreamInfo info;
  for (const auto& [id, symbol] : symbols) {
    info.mappings.push_back({.raw_symbol = symbol,
                             .start = parse_date("2013-01-01"),
                             .end = parse_date("2014-01-01"),
                             .instrument_id = id});
  }
  return info;
}

}  // namespace foxhunt::market::test
