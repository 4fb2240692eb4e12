#pragma once
// What a recorded feed holds, looked at through its order book: `foxhunt data book`.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/book/view.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::book {

enum class FeedKind : std::uint8_t {
  kDbn,          ///< mbo, or any schema of levels (quote_view.h); DBN or CSV
  kBinance,      ///< binance_feed.h
  kBitstamp,     ///< bitstamp_feed.h
  kHyperliquid,  ///< hyperliquid_feed.h
};

struct FeedOptions {
  FeedKind feed = FeedKind::kDbn;
  std::int64_t every = 1;       ///< each so many-th view is written
  std::int64_t levels = 5;      ///< of each side, 1 to 10
  std::filesystem::path out{};  ///< CSV; "" for none
  market::ReadOptions read{};   ///< of kDbn
};

struct NamedCount {
  std::string name;
  std::int64_t count = 0;
  friend bool operator==(const NamedCount&, const NamedCount&) = default;
};

struct FeedReport {
  std::int64_t levels = 0;             ///< of each side, in texts
  std::vector<NamedCount> counters{};  ///< of the feed, then of all books; those that are not 0
  std::int64_t views = 0;              ///< times at which a book could be looked at
  std::int64_t written = 0;            ///< of these
  bool truncated = false;              ///< the input is cut short
  std::vector<DepthView> last{};       ///< of each instrument and publisher, in their order

  /// 0 where there is none of that name.
  std::int64_t count_of(const std::string& name) const;
  std::string to_text() const;
  std::string to_json() const;
};

/// Memory  flat: the books. Cost  one pass.
/// Errors  ConfigError for options out of range; what the reader and the feeds throw; IoError. The
/// output appears whole or not at all.
FeedReport read_feed(const std::filesystem::path& path, const FeedOptions& options);

}  // namespace foxhunt::book
