#include "foxhunt/experiments/tune_ranges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/nearest.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/config/config.h"

namespace foxhunt::experiments {
namespace {

struct Named {
  const char* name;
  RangeKind kind;
};
constexpr std::array kKinds{Named{"uniform", RangeKind::kUniform}, Named{"log", RangeKind::kLog},
                            Named{"integer", RangeKind::kInteger},
                            Named{"log_integer", RangeKind::kLogInteger},
                            Named{"choice", RangeKind::kChoice}};

/// Keys by which losses would be those of other rows, other labels or another loss.
constexpr std::array kFixed{"data.",     "label.",       "split.", "head.",
                            "evaluate.", "walkforward.", "tune.",  "train.class_weights",
                            "name"};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

/// Parts between commas that lie in no quotes and no brackets.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == ']') {
      depth += c == '[' ? 1 : -1;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
      continue;
    }
    part += c;
  }
  parts.push_back(trimmed(part));
  return parts;
}

double number_of(const std::string& text, const std::string& whole) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw ConfigError(fmt::format("'{}': '{}' is not a number", whole, text));
  return value;
}

bool is_whole(RangeKind kind) {
  return kind == RangeKind::kInteger || kind == RangeKind::kLogInteger;
}

std::string text_of(double value, RangeKind kind) {
  return is_whole(kind) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// Every value that has to be legal.
std::vector<std::string> ends_of(const Range& range) {
  if (range.kind == RangeKind::kChoice) return range.choices;
  return {text_of(range.lo, range.kind), text_of(range.hi, range.kind)};
}

void assign(train::ExperimentConfig& config, const std::string& key, const std::string& value) {
  config::FieldList list = config::fields_of(config);
  config::apply_override(list, key + "=" + value);
}

void check_against_fields(const train::ExperimentConfig& config, const Range& range,
                          const std::string& text) {
  for (const char* fixed : kFixed) {
    if (!range.key.starts_with(fixed)) continue;
    throw ConfigError(
        fmt::format("'{}': {} cannot be tuned: losses on other rows, labels or answers cannot be "
                    "compared",
                    text, range.key));
  }
  for (const std::string& value : ends_of(range)) {
    train::ExperimentConfig copy = config;
    try {
      assign(copy, range.key, value);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("'{}': {}", text, error.what()));
    }
  }
  if (range.key == "train.epochs" && config.tune.method == train::TuneMethod::kHalving) {
    throw ConfigError(
        fmt::format("'{}': halving decides over epochs; train.epochs is its longest", text));
  }
}

/// "configs/es.toml:12: " where a file holds the range, else "".
std::string place_of(const std::string& text, const std::vector<std::string>& files) {
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    std::istringstream lines(read_file(*file));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.find(text) != std::string::npos) return fmt::format("{}:{}: ", *file, number);
    }
  }
  return "";
}

std::string value_of(const Range& range, double u) {
  switch (range.kind) {
    case RangeKind::kUniform:
      return text_of(std::clamp(std::lerp(range.lo, range.hi, u), range.lo, range.hi), range.kind);
    case RangeKind::kLog:
      return text_of(std::clamp(std::exp(std::lerp(std::log(range.lo), std::log(range.hi), u)),
                                range.lo, range.hi),
                     range.kind);
    case RangeKind::kInteger:
      return text_of(std::min(range.hi, range.lo + std::floor(u * (range.hi - range.lo + 1))),
                     range.kind);
    case RangeKind::kLogInteger:
      return text_of(
          std::clamp(std::floor(std::exp(std::lerp(std::log(range.lo), std::log(range.hi + 1), u))),
                     range.lo, range.hi),
          range.kind);
    case RangeKind::kChoice:
      break;
  }
  const auto n = static_cast<double>(range.choices.size());
  return range.choices[static_cast<std::size_t>(u * n)];
}

}  // namespace

Range parse_range(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t open = text.find('(', equals == std::string::npos ? 0 : equals);
  const std::string body = trimmed(text);
  if (equals == std::string::npos || open == std::string::npos || body.back() != ')') {
    throw ConfigError(
        fmt::format("'{}': is no range; write one as 'train.schedule.lr = log(1e-5, 1e-2)'", text));
  }
  Range range{.key = trimmed(text.substr(0, equals))};
  const std::string name = trimmed(text.substr(equals + 1, open - equals - 1));
  const auto* kind = std::ranges::find_if(kKinds, [&](const Named& k) { return name == k.name; });
  if (kind == kKinds.end()) {
    std::vector<std::string> names;
    for (const Named& k : kKinds) names.emplace_back(k.name);
    const std::string near = nearest_name(name, names);
    throw ConfigError(fmt::format("'{}': '{}' is no kind of range{}; there are {}", text, name,
                                  near.empty() ? "" : fmt::format(", nearest is '{}'", near),
                                  fmt::join(names, ", ")));
  }
  range.kind = kind->kind;
  const std::vector<std::string> arguments = split_arguments(
      std::string_view(body).substr(body.find('(') + 1, body.size() - body.find('(') - 2));
  if (range.kind == RangeKind::kChoice) {
    if (std::ranges::any_of(arguments, &std::string::empty))
      throw ConfigError(fmt::format("'{}': a choice is empty", text));
    range.choices = arguments;
    return range;
  }
  if (arguments.size() != 2)
    throw ConfigError(fmt::format("'{}': {} takes a lower and an upper end", text, name));
  range.lo = number_of(arguments[0], text);
  range.hi = number_of(arguments[1], text);
  if (!(range.lo < range.hi))
    throw ConfigError(fmt::format("'{}': {} is not below {}", text, arguments[0], arguments[1]));
  if (range.is_log() && !(range.lo > 0))
    throw ConfigError(fmt::format("'{}': a logarithm needs ends above 0", text));
  if (is_whole(range.kind) &&
      (range.lo != std::floor(range.lo) || range.hi != std::floor(range.hi)))
    throw ConfigError(fmt::format("'{}': {} needs whole numbers", text, name));
  return range;
}

std::vector<Range> checked_ranges(const train::ExperimentConfig& config,
                                  const std::vector<std::string>& files) {
  if (config.tune.ranges.empty()) {
    throw ConfigError(
        "[tune] ranges is empty: say what to try, as ranges = [\"train.schedule.lr = log(1e-5, "
        "1e-2)\"]");
  }
  std::vector<Range> ranges;
  std::vector<std::string> errors;
  std::set<std::string> seen;
  for (const std::string& text : config.tune.ranges) {
    try {
      const Range range = parse_range(text);
      check_against_fields(config, range, text);
      if (!seen.insert(range.key).second)
        throw ConfigError(fmt::format("'{}': {} has a range already", text, range.key));
      ranges.push_back(range);
    } catch (const ConfigError& error) {
      errors.push_back(fmt::format("{}[tune] ranges: {}", place_of(text, files), error.what()));
    }
  }
  if (!errors.empty()) throw ConfigError(fmt::format("{}", fmt::join(errors, "\n")));
  return ranges;
}

std::vector<std::string> draw(const std::vector<Range>& ranges, std::int64_t seed,
                              std::int64_t index) {
  const Rng trial = Rng(static_cast<std::uint64_t>(seed)).split(fmt::format("trial {}", index));
  std::vector<std::string> values;
  for (const Range& range : ranges)
    values.push_back(value_of(range, trial.split(range.key).uniform()));
  return values;
}

train::ExperimentConfig with_values(const train::ExperimentConfig& config,
                                    const std::vector<Range>& ranges,
                                    const std::vector<std::string>& values) {
  train::ExperimentConfig trial = config.single_run();
  for (std::size_t i = 0; i < ranges.size(); ++i) assign(trial, ranges[i].key, values[i]);
  return trial;
}

}  // namespace foxhunt::experiments
