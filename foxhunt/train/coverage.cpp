#include "foxhunt/train/coverage.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "foxhunt/base/json.h"

namespace foxhunt::train {
namespace {

using Nanos = std::chrono::nanoseconds;
using Minutes = std::chrono::duration<double, std::ratio<60>>;

struct Cover {
  std::int64_t rows = 0;
  std::int64_t labels = 0;
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;
  Nanos missing{0};
  Nanos longest{0};
  UnixNanos longest_from = kNullTime;
};

/// The commonest distance of neighbouring rows; 0 with fewer than two.
Nanos usual_distance(const std::vector<Sequence>& sequences) {
  std::map<Nanos, std::int64_t> counts;
  for (const Sequence& s : sequences) {
    for (std::size_t t = 1; t < s.bar_start.size(); ++t)
      ++counts[s.bar_start[t] - s.bar_start[t - 1]];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Nanos{0} : most->first;
}

void take_gap(Cover& cover, UnixNanos from, UnixNanos to, Nanos step) {
  const Nanos gap = to - from - step;
  if (step <= Nanos{0} || gap <= Nanos{0}) return;
  cover.missing += gap;
  if (gap <= cover.longest) return;
  cover.longest = gap;
  cover.longest_from = from;
}

using Days = std::map<std::pair<Date, Part>, Cover>;

Days cover_days(const Dataset& data, Nanos step) {
  Days days;
  std::map<std::pair<Date, std::string>, UnixNanos> before;  // last row of a day's contract
  for (std::size_t i = 0; i < data.set.sequences.size(); ++i) {
    const Sequence& s = data.set.sequences[i];
    for (std::size_t t = 0; t < s.bar_start.size(); ++t) {
      Cover& cover = days[{s.trade_date, data.split.parts[i][t]}];
      ++cover.rows;
      cover.labels += s.labels.valid[t] != 0 ? 1 : 0;
      if (is_null(cover.first)) cover.first = s.bar_start[t];
      cover.last = s.bar_start[t];
      const auto [at, is_first] = before.try_emplace({s.trade_date, s.symbol}, s.bar_start[t]);
      if (!is_first) take_gap(cover, at->second, s.bar_start[t], step);
      at->second = s.bar_start[t];
    }
  }
  return days;
}

double minutes(Nanos t) { return Minutes(t).count(); }

nlohmann::ordered_json parts_json(const Dataset& data, const Days& days) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::object();
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest, Part::kPurged}) {
    const PartInterval& interval = data.split.interval(part);
    const auto n = std::count_if(days.begin(), days.end(),
                                 [&](const auto& day) { return day.first.second == part; });
    parts[name_of(part)] = {{"days", n}, {"rows", interval.rows}, {"labels", interval.labelled}};
    if (interval.rows == 0) continue;
    parts[name_of(part)]["first"] = to_string(interval.first_available);
    parts[name_of(part)]["last"] = to_string(interval.last_available);
  }
  return parts;
}

}  // namespace

std::string coverage_json(const Dataset& data) {
  const Nanos step = usual_distance(data.set.sequences);
  const Days days = cover_days(data, step);
  nlohmann::ordered_json out{{"bar_minutes", minutes(step)},
                             {"summary", data.set.counters.summary()},
                             {"parts", parts_json(data, days)}};
  out["days"] = nlohmann::ordered_json::array();
  for (const auto& [key, cover] : days) {
    nlohmann::ordered_json day{{"date", to_string(key.first)},
                               {"part", name_of(key.second)},
                               {"rows", cover.rows},
                               {"labels", cover.labels},
                               {"first", to_string(cover.first)},
                               {"last", to_string(cover.last)},
                               {"missing_minutes", minutes(cover.missing)},
                               {"longest_gap_minutes", minutes(cover.longest)}};
    if (!is_null(cover.longest_from)) day["longest_gap_from"] = to_string(cover.longest_from);
    out["days"].push_back(std::move(day));
  }
  return out.dump(1) + "\n";
}

}  // namespace foxhunt::train
