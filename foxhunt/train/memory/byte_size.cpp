#include "foxhunt/train/memory/byte_size.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

constexpr double kMost = 4611686018427387904.0;  // 2^62

std::string lower_without_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ') continue;
    out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return out;
}

}  // namespace

std::int64_t parse_byte_size(std::string_view text) {
  static const std::map<std::string_view, double> kUnits{{"", 1.0},
                                                         {"b", 1.0},
                                                         {"k", 1e3},
                                                         {"kb", 1e3},
                                                         {"m", 1e6},
                                                         {"mb", 1e6},
                                                         {"g", 1e9},
                                                         {"gb", 1e9},
                                                         {"t", 1e12},
                                                         {"tb", 1e12},
                                                         {"kib", 1024.0},
                                                         {"mib", 1048576.0},
                                                         {"gib", 1073741824.0},
                                                         {"tib", 1099511627776.0}};
  const auto fail = [text](const char* why) {
    return ConfigError(fmt::format(
        "[memory] '{}' is no size of memory ({}); write 4GB, 512MiB or a number of bytes", text,
        why));
  };
  const std::string clean = lower_without_spaces(text);
  double number = 0;
  const auto [end, code] = std::from_chars(clean.data(), clean.data() + clean.size(), number);
  if (code != std::errc()) throw fail("it begins with no number");
  const auto unit = kUnits.find(std::string_view(end, clean.data() + clean.size()));
  if (unit == kUnits.end()) throw fail("unknown unit");
  if (!(number >= 0)) throw fail("below 0");
  const double bytes = number * unit->second;
  if (!(bytes <= kMost)) throw fail("too large");
  return static_cast<std::int64_t>(std::floor(bytes));
}

}  // namespace foxhunt::train
