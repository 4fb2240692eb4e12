#include "foxhunt/book/binance_feed.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"
#include "foxhunt/book/feed_lines.h"

namespace foxhunt::book {
namespace {

using market::Side;
using nlohmann::json;

constexpr std::size_t kMostHeld = 4096;

std::string append(const json& object, const char* key, Side side, std::vector<LevelUpdate>& out) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return fmt::format("'{}' is no list", key);
  for (const json& level : *found) {
    if (!level.is_array() || level.size() < 2) return fmt::format("'{}' holds no level", key);
    LevelUpdate update{.side = side};
    if (auto problem = read_price(level[0], update.price); !problem.empty()) return problem;
    if (auto problem = read_size(level[1], update.size); !problem.empty()) return problem;
    out.push_back(update);
  }
  return "";
}

}  // namespace

void BinanceFeed::fail(const std::string& what) const {
  throw FormatError(fmt::format("{}: line {}: {}", name_, counters_.lines, what));
}

bool BinanceFeed::give(const Diff& diff) {
  return book_.diff(diff.updates, diff.first_id, diff.last_id, diff.previous_id, diff.ts_event,
                    diff.ts_recv);
}

void BinanceFeed::hold(const Diff& diff) {
  if (held_.size() == kMostHeld) {
    held_.pop_front();
    ++counters_.dropped;
  }
  held_.push_back(diff);
}

bool BinanceFeed::line(std::string_view text) {
  ++counters_.lines;
  std::string_view body;
  if (const auto problem = split_line(text, diff_.ts_recv, body); !problem.empty()) fail(problem);
  const bool is_diff = body.find("\"depthUpdate\"") != std::string_view::npos;
  if (!is_diff && body.find("\"lastUpdateId\"") == std::string_view::npos) {
    ++counters_.others;
    return false;
  }
  if (const std::string problem = json_problem(body); !problem.empty()) fail(problem);
  const json all = json::parse(body);
  const json& message = all.contains("data") ? all["data"] : all;
  const auto number = [&](const char* key) {
    const auto value = message.contains(key) ? whole_number(message[key]) : std::nullopt;
    if (!value || *value < 0) fail(fmt::format("'{}' is no number", key));
    return *value;
  };
  if (const auto problem = read_millis(number("T"), diff_.ts_event); !problem.empty()) {
    fail("'T' " + problem);
  }
  diff_.updates.clear();
  for (const Side side : {Side::kBid, Side::kAsk}) {
    const bool bid = side == Side::kBid;
    const char* key = is_diff ? (bid ? "b" : "a") : (bid ? "bids" : "asks");
    if (const auto problem = append(message, key, side, diff_.updates); !problem.empty())
      fail(problem);
  }
  if (!is_diff) {
    ++counters_.snapshots;
    const auto last_id = static_cast<std::uint64_t>(number("lastUpdateId"));
    if (book_.ready() && last_id < book_.last_id()) {
      ++counters_.late_snapshots;
      return false;
    }
    book_.snapshot(diff_.updates, last_id, diff_.ts_event, diff_.ts_recv);
    while (book_.ready() && !held_.empty()) {
      give(held_.front());
      if (book_.ready()) held_.pop_front();  // behind a gap it waits for the next snapshot
    }
    return true;
  }
  diff_.first_id = static_cast<std::uint64_t>(number("U"));
  diff_.last_id = static_cast<std::uint64_t>(number("u"));
  diff_.previous_id = static_cast<std::uint64_t>(number("pu"));
  ++counters_.diffs;
  counters_.updates += static_cast<std::int64_t>(diff_.updates.size());
  const bool taken = book_.ready() && give(diff_);
  if (!book_.ready()) hold(diff_);
  return taken;
}

}  // namespace foxhunt::book
