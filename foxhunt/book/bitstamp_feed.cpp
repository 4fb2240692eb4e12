#include "foxhunt/book/bitstamp_feed.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/book/feed_lines.h"
#include "foxhunt/market/csv_values.h"

namespace foxhunt::book {
namespace {

using market::Side;

constexpr std::string_view kHeader =
    "id,timestamp,exchange.timestamp,price,volume,action,direction";
enum Field : std::size_t { kId, kReceived, kExchange, kPrice, kVolume, kAction, kSide, kFields };
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

void BitstampFeed::fail(const std::string& what) const {
  throw FormatError(fmt::format("{}: line {}: {}", name_, lines_, what));
}

bool BitstampFeed::line(std::string_view text) {
  ++lines_;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (lines_ == 1) {
    if (text != kHeader) fail(fmt::format("the header is not '{}'", kHeader));
    book_.clear();
    return false;
  }
  std::array<std::string_view, kFields> fields;
  std::size_t n = 0;
  for (std::string_view rest = text;; ++n) {
    const std::size_t comma = rest.find(',');
    if (n < kFields) fields[n] = rest.substr(0, comma);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (n + 1 != kFields) fail(fmt::format("{} fields, expected {}", n + 1, +kFields));
  const auto number = [&](Field field) {
    std::int64_t value = 0;
    const std::string problem = market::parse_signed(fields[field], 0, kMost, value);
    if (!problem.empty()) fail(fmt::format("'{}' {}", fields[field], problem));
    return value;
  };
  const auto time = [&](Field field) {
    UnixNanos at = kNullTime;
    const std::string problem = read_millis(number(field), at);
    if (!problem.empty()) fail(fmt::format("'{}' {}", fields[field], problem));
    return at;
  };
  const auto id = static_cast<std::uint64_t>(number(kId));
  const UnixNanos received = time(kReceived);
  const UnixNanos exchange = time(kExchange);
  const std::int64_t volume = number(kVolume);
  Price price;
  if (const auto problem = market::parse_decimal_price(fields[kPrice], price); !problem.empty()) {
    fail(fmt::format("'{}' {}", fields[kPrice], problem));
  }
  if (price.is_null()) fail("an empty price");
  if (fields[kSide] != "bid" && fields[kSide] != "ask") {
    fail(fmt::format("'{}' is neither bid nor ask", fields[kSide]));
  }
  const Side side = fields[kSide] == "bid" ? Side::kBid : Side::kAsk;
  if (fields[kAction] == "created") {
    ++counters_.created;
    book_.add(id, side, price, volume);
  } else if (fields[kAction] == "changed") {
    ++counters_.changed;
    book_.modify(id, side, price, volume);
  } else if (fields[kAction] == "deleted") {
    ++counters_.deleted;
    book_.remove(id);
  } else {
    fail(fmt::format("'{}' is neither created, changed nor deleted", fields[kAction]));
  }
  ++counters_.rows;
  counters_.steps_back += static_cast<std::int64_t>(!is_null(last_) && received < last_);
  last_ = received;
  return book_.end_event(exchange, received, static_cast<std::uint32_t>(counters_.rows));
}

}  // namespace foxhunt::book
