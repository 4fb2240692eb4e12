#pragma once
// For tests: the real bars of the shipped ES sample, to plant faults in.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/doctor/doctor.h"
#include "foxhunt/market/fake_reader.h"

namespace foxhunt::doctor::test {

struct Bars {
  market::StreamInfo info;
  std::vector<market::Bar> bars;
};

/// One-minute bars of ESZ13, ESH14 and ESH20, read once.
inline const Bars& es_sample() {
  static const Bars sample = [] {
    Bars all;
    const auto reader = market::open_reader("data/es-sample/es-ohlcv-1m.dbn.zst");
    while (const market::Record* record = reader->next())
      all.bars.push_back(std::get<market::Bar>(*record));
    all.info = reader->info();
    return all;
  }();
  return sample;
}

inline FileReport check(const Bars& data) {
  market::test::FakeReader reader(data.bars, data.info);
  return check_records(reader);
}

inline std::optional<Finding> find(const FileReport& report, RuleId id) {
  for (const Finding& finding : report.findings) {
    if (finding.rule->id == id) return finding;
  }
  return std::nullopt;
}

inline std::int64_t count(const FileReport& report, RuleId id) {
  const auto finding = find(report, id);
  return finding ? finding->count : 0;
}

/// "back-step 1, ohlc 2" of the errors.
inline std::string errors_of(const FileReport& report) {
  std::string text;
  for (const Finding& f : report.findings) {
    if (f.rule->severity == Severity::kError)
      text += std::string(text.empty() ? "" : ", ") + std::string(f.rule->name) + " " +
              std::to_string(f.count);
  }
  return text;
}

}  // namespace foxhunt::doctor::test
