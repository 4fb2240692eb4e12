#include "foxhunt/report/metrics_log.h"

#include <cmath>
#include <limits>

#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"

namespace foxhunt::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

MetricsLine line_of(const nlohmann::json& object) {
  MetricsLine line;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) line.numbers[name] = kNaN;
    if (value.is_boolean()) line.numbers[name] = value.get<bool>() ? 1 : 0;
    if (value.is_number()) line.numbers[name] = value.get<double>();
  }
  return line;
}

}  // namespace

double MetricsLine::at(std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? kNaN : found->second;
}

std::vector<double> column(const std::vector<MetricsLine>& lines, std::string_view name) {
  std::vector<double> values;
  values.reserve(lines.size());
  for (const MetricsLine& line : lines) values.push_back(line.at(name));
  return values;
}

MetricsLog parse_metrics(std::string_view text) {
  MetricsLog log;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (one.empty()) continue;
    const auto object = nlohmann::json::parse(one, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      ++log.unread_lines;
      continue;
    }
    MetricsLine line = line_of(object);
    if (std::isfinite(line.at("epoch"))) {
      log.epochs.push_back(std::move(line));
    } else if (std::isfinite(line.at("step"))) {
      log.steps.push_back(std::move(line));
    }
  }
  return log;
}

MetricsLog read_metrics(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "metrics.jsonl";
  return std::filesystem::exists(file) ? parse_metrics(read_file(file)) : MetricsLog{};
}

}  // namespace foxhunt::report
