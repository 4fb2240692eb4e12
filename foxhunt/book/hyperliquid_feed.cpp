#include "foxhunt/book/hyperliquid_feed.h"

#include <fmt/format.h>

#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"
#include "foxhunt/book/feed_lines.h"

namespace foxhunt::book {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostOrders = std::numeric_limits<std::uint32_t>::max();

std::string read_level(const json& level, Level& out) {
  if (!level.is_object() || !level.contains("px") || !level.contains("sz")) {
    return "a level without 'px' and 'sz'";
  }
  if (auto problem = read_price(level["px"], out.price); !problem.empty()) return problem;
  if (auto problem = read_size(level["sz"], out.size); !problem.empty()) return problem;
  if (out.size <= 0) return "a level without size";
  const auto orders = level.contains("n") ? whole_number(level["n"]) : 0;
  if (!orders || *orders < 0 || *orders > kMostOrders) return "'n' is no number of orders";
  out.orders = static_cast<std::uint32_t>(*orders);
  return "";
}

}  // namespace

void HyperliquidFeed::fail(const std::string& what) const {
  throw FormatError(fmt::format("{}: line {}: {}", name_, counters_.lines, what));
}

bool HyperliquidFeed::line(std::string_view text) {
  ++counters_.lines;
  DepthView view{.instrument = instrument_};
  std::string_view body;
  if (const auto problem = split_line(text, view.ts_recv, body); !problem.empty()) fail(problem);
  if (const std::string problem = json_problem(body); !problem.empty()) fail(problem);
  const json all = json::parse(body);
  if (!all.is_object() || !all.contains("channel")) fail("has no 'channel'");
  if (all["channel"] != "l2Book") {
    ++(all["channel"] == "trades" ? counters_.trade_messages : counters_.others);
    return false;
  }
  const json data = all.value("data", json::object());
  const auto millis = data.is_object() && data.contains("time") ? whole_number(data["time"]) : -1;
  if (const auto problem = read_millis(millis.value_or(-1), view.ts_event); !problem.empty()) {
    fail("'time' " + problem);
  }
  const json levels = data.value("levels", json::array());
  if (!levels.is_array() || levels.size() != 2 || !levels[0].is_array() || !levels[1].is_array()) {
    fail("'levels' does not hold the lists of bids and asks");
  }
  bool in_order = true;
  for (std::size_t side = 0; side < 2; ++side) {
    auto& out = side == 0 ? view.bids : view.asks;
    Level before;
    for (std::size_t rank = 0; rank < levels[side].size(); ++rank) {
      Level level;
      if (const auto problem = read_level(levels[side][rank], level); !problem.empty()) {
        fail(problem);
      }
      const bool worse = side == 0 ? level.price < before.price : level.price > before.price;
      in_order = in_order && (rank == 0 || worse);
      before = level;
      if (rank < out.size()) out[rank] = level;
      ++counters_.levels;
    }
  }
  counters_.out_of_order += static_cast<std::int64_t>(!in_order);
  counters_.crossed += static_cast<std::int64_t>(view.is_crossed());
  counters_.locked += static_cast<std::int64_t>(view.is_locked());
  view.sequence = static_cast<std::uint32_t>(++counters_.snapshots);
  view_ = view;
  return true;
}

}  // namespace foxhunt::book
