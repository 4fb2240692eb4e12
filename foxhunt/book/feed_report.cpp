#include "foxhunt/book/feed_report.h"

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "foxhunt/base/error.h"
#include "foxhunt/book/binance_feed.h"
#include "foxhunt/book/bitstamp_feed.h"
#include "foxhunt/book/book_set.h"
#include "foxhunt/book/feed_text.h"
#include "foxhunt/book/hyperliquid_feed.h"
#include "foxhunt/book/quote_view.h"
#include "foxhunt/market/byte_output.h"
#include "foxhunt/market/gzip_source.h"
#include "foxhunt/market/xz_source.h"

namespace foxhunt::book {
namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 20U;

/// Takes views: counts them, keeps the last ones, writes each so many-th.
class Watcher {
 public:
  Watcher(const FeedOptions& options, FeedReport& report) : options_(options), report_(report) {
    if (options.out.empty()) return;
    out_ = market::file_output(options.out);
    text_ = view_header(static_cast<std::size_t>(options.levels)) + "\n";
  }
  void see(const DepthView& view) {
    last_[{view.instrument.instrument_id, view.instrument.publisher_id}] = view;
    if (report_.views++ % options_.every != 0 || out_ == nullptr) return;
    ++report_.written;
    text_ += view_row(view, static_cast<std::size_t>(options_.levels)) + "\n";
    if (text_.size() > (std::size_t{1} << 16U)) flush();
  }
  void finish() {
    for (const auto& [key, view] : last_) report_.last.push_back(view);
    if (out_ == nullptr) return;
    flush();
    out_->commit();
  }
  void count(std::string name, std::int64_t n) {
    if (n != 0) report_.counters.push_back({std::move(name), n});
  }

 private:
  void flush() {
    out_->write(std::as_bytes(std::span(text_)));
    text_.clear();
  }

  const FeedOptions& options_;
  FeedReport& report_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, DepthView> last_;
  std::unique_ptr<market::ByteOutput> out_;
  std::string text_;
};

/// Every line to `take`; true where the input is cut short (half a line is then left out).
template <class Take>
bool each_line(const std::filesystem::path& path, Take&& take) {
  const auto source = market::gunzip(market::unxz(market::open_bytes(path)));
  std::string rest;
  std::string part(std::size_t{1} << 16U, '\0');
  while (const std::size_t n = source->read(std::as_writable_bytes(std::span(part)))) {
    rest.append(part, 0, n);
    std::size_t from = 0;
    for (std::size_t end = 0; (end = rest.find('\n', from)) != std::string::npos; from = end + 1) {
      take(std::string_view(rest).substr(from, end - from));
    }
    rest.erase(0, from);
    if (rest.size() > kLongestLine) {
      throw FormatError(fmt::format("{}: a line of more than 16 MiB", path.string()));
    }
  }
  if (!source->truncated() && !rest.empty()) take(rest);
  return source->truncated();
}

void read_dbn(const std::filesystem::path& path, const FeedOptions& options, Watcher& watcher,
              FeedReport& report) {
  const auto reader = market::open_reader(path, options.read);
  BookSet books;
  DepthView view;
  std::int64_t quotes = 0, inside = 0, others = 0;
  while (const market::Record* record = reader->next()) {
    std::visit(
        [&](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, market::OrderEvent>) {
            if (books.apply(value).view(view)) watcher.see(view);
          } else if constexpr (requires { view_of(value, view); }) {
            ++quotes;
            if (view_of(value, view)) {
              watcher.see(view);
            } else {
              ++inside;
            }
          } else {
            ++others;
          }
        },
        *record);
  }
  report.truncated = reader->stats().truncated;
  watcher.count("records of levels", quotes);
  watcher.count("of levels inside of an event", inside);
  watcher.count("records of other kinds", others);
  for (const NamedCounter& counter : kBookCounters) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < books.size(); ++i) sum += books.at(i).counters().*counter.field;
    watcher.count(counter.name, sum);
  }
}

void read_binance(const std::filesystem::path& path, Watcher& watcher, FeedReport& report) {
  LevelBook book({});
  BinanceFeed feed(book, path.string());
  DepthView view;
  report.truncated = each_line(path, [&](std::string_view line) {
    if (feed.line(line) && book.view(view)) watcher.see(view);
  });
  const BinanceCounters& f = feed.counters();
  const LevelCounters& b = book.counters();
  for (const auto& [name, n] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"lines", f.lines},
           {"diffs", f.diffs},
           {"snapshots", f.snapshots},
           {"other messages", f.others},
           {"late snapshots", f.late_snapshots},
           {"held diffs dropped", f.dropped},
           {"updates", f.updates},
           {"diffs applied", b.applied},
           {"stale diffs", b.stale},
           {"gaps", b.gaps},
           {"with bad values", b.bad_value},
           {"crossed", b.crossed},
           {"locked", b.locked}}) {
    watcher.count(name, n);
  }
}

void read_bitstamp(const std::filesystem::path& path, Watcher& watcher, FeedReport& report) {
  OrderBook book({});
  BitstampFeed feed(book, path.string());
  DepthView view;
  report.truncated = each_line(path, [&](std::string_view line) {
    if (feed.line(line) && book.view(view)) watcher.see(view);
  });
  const BitstampCounters& f = feed.counters();
  watcher.count("rows", f.rows);
  watcher.count("created", f.created);
  watcher.count("changed", f.changed);
  watcher.count("deleted", f.deleted);
  watcher.count("steps back", f.steps_back);
  for (const NamedCounter& counter : kBookCounters) {
    watcher.count(counter.name, book.counters().*counter.field);
  }
}

void read_hyperliquid(const std::filesystem::path& path, Watcher& watcher, FeedReport& report) {
  HyperliquidFeed feed({}, path.string());
  report.truncated = each_line(path, [&](std::string_view line) {
    if (feed.line(line)) watcher.see(feed.view());
  });
  const HyperliquidCounters& f = feed.counters();
  watcher.count("lines", f.lines);
  watcher.count("snapshots", f.snapshots);
  watcher.count("messages of trades", f.trade_messages);
  watcher.count("other messages", f.others);
  watcher.count("levels", f.levels);
  watcher.count("snapshots out of order", f.out_of_order);
  watcher.count("crossed", f.crossed);
  watcher.count("locked", f.locked);
}

}  // namespace

FeedReport read_feed(const std::filesystem::path& path, const FeedOptions& options) {
  if (options.every < 1) throw ConfigError(fmt::format("every = {}: at least 1", options.every));
  if (options.levels < 1 || options.levels > std::int64_t{DepthView::kLevels}) {
    throw ConfigError(fmt::format("levels = {}: 1 to {}", options.levels, DepthView::kLevels));
  }
  FeedReport report{.levels = options.levels};
  Watcher watcher(options, report);
  switch (options.feed) {
    case FeedKind::kDbn:
      read_dbn(path, options, watcher, report);
      break;
    case FeedKind::kBinance:
      read_binance(path, watcher, report);
      break;
    case FeedKind::kBitstamp:
      read_bitstamp(path, watcher, report);
      break;
    case FeedKind::kHyperliquid:
      read_hyperliquid(path, watcher, report);
      break;
  }
  watcher.finish();
  return report;
}

}  // namespace foxhunt::book
