#include "foxhunt/book/feed_text.h"

#include <fmt/format.h>

#include "foxhunt/base/json.h"
#include "foxhunt/base/number_text.h"
#include "foxhunt/book/feed_report.h"

namespace foxhunt::book {
namespace {

std::string time_text(UnixNanos at) { return is_null(at) ? "" : std::to_string(count(at)); }

}  // namespace

std::string view_header(std::size_t levels) {
  std::string text =
      "ts_recv,ts_event,publisher_id,instrument_id,sequence,maybe_bad_book,bad_ts_recv";
  for (std::size_t m = 0; m < levels; ++m) {
    for (const char* side : {"bid", "ask"}) {
      text += fmt::format(",{0}_px_{1:02},{0}_sz_{1:02},{0}_ct_{1:02}", side, m);
    }
  }
  return text;
}

std::string view_row(const DepthView& view, std::size_t levels) {
  std::string text =
      fmt::format("{},{},{},{},{},{:d},{:d}", time_text(view.ts_recv), time_text(view.ts_event),
                  view.instrument.publisher_id, view.instrument.instrument_id, view.sequence,
                  view.quality.maybe_bad_book, view.quality.bad_ts_recv);
  for (std::size_t m = 0; m < levels; ++m) {
    for (const Level* level : {&view.bids[m], &view.asks[m]}) {
      text += fmt::format(",{},{},{}", decimal_text(level->price), level->size, level->orders);
    }
  }
  return text;
}

std::int64_t FeedReport::count_of(const std::string& name) const {
  for (const NamedCount& counter : counters) {
    if (counter.name == name) return counter.count;
  }
  return 0;
}

std::string FeedReport::to_text() const {
  std::string text;
  for (const NamedCount& counter : counters) {
    text += fmt::format("{:>12}  {}\n", counter.count, counter.name);
  }
  text += fmt::format("{:>12}  views\n", views);
  if (written != 0) text += fmt::format("{:>12}  written\n", written);
  if (truncated) text += "the input is cut short\n";
  for (const DepthView& view : last) {
    text += fmt::format("\ninstrument {} of publisher {}, {}{}{}\n", view.instrument.instrument_id,
                        view.instrument.publisher_id, to_string(view.ts_recv),
                        view.quality.maybe_bad_book ? ", the feed lost records" : "",
                        view.is_crossed()  ? ", crossed"
                        : view.is_locked() ? ", locked"
                                           : "");
    text += fmt::format("{:>8} {:>16} {:>16}   {:<16} {:<16} {}\n", "orders", "size", "bid", "ask",
                        "size", "orders");
    for (std::size_t m = 0; m < static_cast<std::size_t>(levels); ++m) {
      const Level& bid = view.bids[m];
      const Level& ask = view.asks[m];
      if (bid.is_empty() && ask.is_empty()) break;
      text += fmt::format("{:>8} {:>16} {:>16}   {:<16} {:<16} {}\n", bid.orders, bid.size,
                          decimal_text(bid.price), decimal_text(ask.price), ask.size, ask.orders);
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string FeedReport::to_json() const {
  nlohmann::ordered_json out;
  auto& counts = out["counters"] = nlohmann::ordered_json::object();
  for (const NamedCount& counter : counters) counts[counter.name] = counter.count;
  out["views"] = views;
  out["written"] = written;
  out["truncated"] = truncated;
  auto& books = out["books"] = nlohmann::ordered_json::array();
  for (const DepthView& view : last) {
    nlohmann::ordered_json book{{"publisher_id", view.instrument.publisher_id},
                                {"instrument_id", view.instrument.instrument_id},
                                {"ts_recv", to_string(view.ts_recv)},
                                {"sequence", view.sequence},
                                {"maybe_bad_book", view.quality.maybe_bad_book},
                                {"crossed", view.is_crossed()}};
    for (const auto& [name, side] :
         {std::pair("bids", &view.bids), std::pair("asks", &view.asks)}) {
      auto& list = book[name] = nlohmann::ordered_json::array();
      for (std::size_t m = 0; m < static_cast<std::size_t>(levels); ++m) {
        const Level& level = (*side)[m];
        if (level.is_empty()) break;
        list.push_back(
            {{"price", decimal_text(level.price)}, {"size", level.size}, {"orders", level.orders}});
      }
    }
    books.push_back(std::move(book));
  }
  return out.dump(2);
}

}  // namespace foxhunt::book
