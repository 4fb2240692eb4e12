#include "foxhunt/book/feed_lines.h"

#include <fmt/format.h>

#include <limits>

#include "foxhunt/base/json.h"
#include "foxhunt/market/csv_values.h"

namespace foxhunt::book {
namespace {

constexpr std::int64_t kNanoPerSizeUnit = 10;  // 1e-9 to 1e-8
constexpr std::int64_t kNanoPerMilli = 1'000'000;
constexpr std::int64_t kMostMillis = std::int64_t{9'000'000'000'000};

}  // namespace

std::string split_line(std::string_view line, UnixNanos& local, std::string_view& body) {
  const std::size_t space = line.find(' ');
  std::int64_t nanos = 0;
  if (space == std::string_view::npos ||
      !market::parse_signed(line.substr(0, space), 0, std::numeric_limits<std::int64_t>::max(),
                            nanos)
           .empty()) {
    return "does not begin with a time in nanoseconds";
  }
  local = from_nanos(nanos);
  body = line.substr(space + 1);
  return "";
}

std::string read_price(const nlohmann::json& value, Price& out) {
  if (!value.is_string()) return "a price or size that is no text";
  const auto text = value.get_ref<const std::string&>();
  const std::string problem = market::parse_decimal_price(text, out);
  if (problem.empty() && out.is_null()) return "an empty price or size";
  return problem.empty() ? "" : fmt::format("'{}' {}", text, problem);
}

std::string read_size(const nlohmann::json& value, std::int64_t& out) {
  Price size;
  if (auto problem = read_price(value, size); !problem.empty()) return problem;
  if (size.nano % kNanoPerSizeUnit != 0) return "a size of more than eight places";
  out = size.nano / kNanoPerSizeUnit;
  return "";
}

std::string read_millis(std::int64_t millis, UnixNanos& out) {
  if (millis < 0 || millis > kMostMillis) return "is no time in milliseconds";
  out = from_nanos(millis * kNanoPerMilli);
  return "";
}

}  // namespace foxhunt::book
