#include "foxhunt/doctor/cross_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

/// Files of one schema follow one another. Symbols without a name are one series only where each
/// file has just that one; "" where it has more.
std::string key_of(const FileReport& report, const std::string& symbol) {
  const bool is_lost = symbol.starts_with('#') && report.symbols.size() > 1;
  return is_lost ? std::string() : report.schema + " " + symbol;
}

void add(FileReport& report, RuleId id, Place place, std::string text) {
  report.findings.push_back({.rule = &rule(id),
                             .count = 1,
                             .first = std::move(place),
                             .last = kNullTime,
                             .example = std::move(text),
                             .more = {}});
}

void sort_by_severity(FileReport& report) {
  std::ranges::stable_sort(report.findings, [](const Finding& a, const Finding& b) {
    return std::pair(-static_cast<int>(a.rule->severity), a.rule->id) <
           std::pair(-static_cast<int>(b.rule->severity), b.rule->id);
  });
}

struct Before {
  std::string file;
  SymbolEnds ends;
};

}  // namespace

int power_between(Price from, Price to) {
  if (from.is_null() || to.is_null() || from.nano <= 0 || to.nano <= 0) return 0;
  const double powers = std::log10(to.to_double() / from.to_double());
  const double nearest = std::round(powers);
  return std::abs(powers - nearest) < 0.08 ? static_cast<int>(nearest) : 0;
}

void check_between_files(std::vector<FileReport>& reports) {
  std::map<std::string, std::string> by_hash;
  std::map<std::string, Before> before;
  for (FileReport& report : reports) {
    const std::string name = report.path.filename().string();
    const auto [same, is_new] = by_hash.try_emplace(report.sha256, name);
    if (!is_new && !report.sha256.empty())
      add(report, RuleId::kSameFile, {}, fmt::format("the same bytes as {}", same->second));
    for (const auto& [symbol, ends] : report.ends) {
      const std::string key = key_of(report, symbol);
      if (key.empty() || is_null(ends.first)) continue;
      const auto [place, is_first] = before.try_emplace(key, Before{name, ends});
      if (is_first) continue;
      Before& other = place->second;
      const Place at{.record = 0, .line = 0, .byte = 0, .time = ends.first, .symbol = symbol};
      if (is_new && ends.first <= other.ends.last) {
        add(report, RuleId::kFileOverlap, at,
            fmt::format("begins at {}, {} ends at {}", to_string(ends.first), other.file,
                        to_string(other.ends.last)));
      }
      if (power_between(other.ends.last_price, ends.first_price) != 0) {
        add(report, RuleId::kScaleBetweenFiles, at,
            fmt::format("begins at {}, {} ends at {}", text_of(ends.first_price), other.file,
                        text_of(other.ends.last_price)));
      }
      other = {name, ends};
    }
    sort_by_severity(report);
  }
}

}  // namespace foxhunt::doctor
