#include "foxhunt/doctor/findings.h"

#include <algorithm>
#include <utility>

#include "foxhunt/doctor/series.h"

namespace foxhunt::doctor {

void Findings::start(Entry& entry, const Seen& seen, std::string text) const {
  entry.first = {.record = seen.number,
                 .line = is_csv_ && seen.number > 0 ? seen.number + 1 : 0,
                 .byte = is_csv_ ? 0 : seen.byte,
                 .time = seen.time,
                 .symbol = seen.series == nullptr ? std::string() : seen.series->symbol};
  entry.example = std::move(text);
}

void Findings::add_whole(RuleId id, std::int64_t count, std::string text) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  if (entry.count == 0) entry.example = std::move(text);
  entry.count += count;
}

void Findings::count_day(Entry& entry, UnixNanos time, std::int64_t count) {
  if (is_null(time)) return;
  const auto day = std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
  entry.days[static_cast<std::int32_t>(day)] += count;
}

void Findings::turn(RuleId from, RuleId to) {
  Entry& source = entries_[static_cast<std::size_t>(from)];
  Entry& target = entries_[static_cast<std::size_t>(to)];
  if (source.count == 0) return;
  if (target.count == 0 || source.first.record < target.first.record) {
    target.first = std::move(source.first);
    target.example = std::move(source.example);
    target.more = std::move(source.more);
  }
  target.count += source.count;
  target.last = std::max(target.last, source.last);
  if (rule(to).severity == Severity::kError) {
    for (const auto& [day, n] : source.days) target.days[day] += n;
  }
  source = {};
}

std::map<std::int32_t, std::int64_t> Findings::days() const {
  std::map<std::int32_t, std::int64_t> days;
  for (const Entry& entry : entries_) {
    for (const auto& [day, n] : entry.days) days[day] += n;
  }
  return days;
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> found;
  for (const Rule& rule : rules()) {
    const Entry& entry = entries_[static_cast<std::size_t>(rule.id)];
    if (entry.count == 0) continue;
    found.push_back({.rule = &rule,
                     .count = entry.count,
                     .first = entry.first,
                     .last = entry.last,
                     .example = entry.example,
                     .more = entry.more});
  }
  std::ranges::stable_sort(found, [](const Finding& a, const Finding& b) {
    return a.rule->severity > b.rule->severity;
  });
  return found;
}

}  // namespace foxhunt::doctor
