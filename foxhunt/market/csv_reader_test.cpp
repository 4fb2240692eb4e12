#include "foxhunt/market/csv_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/config/describe.h"
#include "foxhunt/market/csv_test_support.h"

namespace foxhunt::market {
namespace {

using test::csv;
using test::error_of;
using test::text_source;

template <class T>
std::vector<T> all(Reader& reader) {
  std::vector<T> records;
  while (const Record* record = reader.next()) records.push_back(std::get<T>(*record));
  return records;
}

void read_all(Reader& reader) {
  while (reader.next() != nullptr) {
  }
}

constexpr std::int64_t kNano = 1'000'000'000;

TEST(CsvReader, ReadsDatabentosBarsInBothOfItsNumberStyles) {
  const std::string header =
      "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n";
  for (const char* row : {"1609160400000000000,33,1,5482,3720250000000,3721500000000,3720250000000,"
                          "9223372036854775807,353,ESH1",
                          "2020-12-28T13:00:00.000000000Z,33,1,5482,3720.250000000,3721.500000000,"
                          "3720.250000000,,353,ESH1"}) {
    const auto reader = csv(header + row + "\n");
    EXPECT_EQ(reader->info().format, "csv");
    EXPECT_EQ(reader->info().schema, "ohlcv-1m");
    const Record* record = reader->next();
    ASSERT_NE(record, nullptr);
    const Bar& bar = std::get<Bar>(*record);
    EXPECT_EQ(bar.instrument, (InstrumentKey{.publisher_id = 1, .instrument_id = 5482}));
    EXPECT_EQ(to_string(bar.start), "2020-12-28T13:00:00Z");
    EXPECT_EQ(bar.span, std::chrono::minutes{1});
    EXPECT_EQ(bar.open.nano, 3'720'250'000'000);
    EXPECT_EQ(bar.high.nano, 3'721'500'000'000);
    EXPECT_EQ(bar.low.nano, 3'720'250'000'000);
    EXPECT_TRUE(bar.close.is_null());
    EXPECT_EQ(bar.volume, 353U);
    EXPECT_EQ(reader->symbol_of(bar.instrument, bar.start), "ESH1");
    EXPECT_EQ(reader->symbol_of(bar.instrument, bar.start + std::chrono::days{1}), "");
    EXPECT_EQ(reader->next(), nullptr);
    EXPECT_EQ(reader->stats().records, 1);
    EXPECT_EQ(reader->stats().by_rtype, (std::map<int, std::int64_t>{{0x21, 1}}));
    EXPECT_EQ(to_string(reader->info().start), "2020-12-28T13:00:00Z");
    EXPECT_EQ(to_string(reader->info().end), "2020-12-28T13:01:00Z");
  }
}

TEST(CsvReader, TakesTheLengthOfABarFromItsRtype) {
  const std::string header = "ts_event,rtype,open,high,low,close,volume\n";
  const auto reader =
      csv(header +
              "0,32,1.0,1.0,1.0,1.0,1\n0,34,1.0,1.0,1.0,1.0,1\n0,35,1.0,1.0,1.0,1.0,1\n"
              "0,17,1.0,1.0,1.0,1.0,1\n",
          {.bar_seconds = 300});
  EXPECT_EQ(reader->info().schema, "ohlcv-1s");
  const auto bars = all<Bar>(*reader);
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_EQ(bars[0].span, std::chrono::seconds{1});
  EXPECT_EQ(bars[1].span, std::chrono::hours{1});
  EXPECT_EQ(bars[2].span, std::chrono::days{1});
  EXPECT_EQ(bars[3].span, std::chrono::minutes{5}) << "17 says no length";
  EXPECT_EQ(error_of([&] { csv(header + "0,1,1.0,1.0,1.0,1.0,1\n"); }),
            "bars.csv:2:3: rtype = '1' is no bar (17 or 32 to 36)");
}

TEST(CsvReader, ReadsDatabentosTrades) {
  const auto reader = csv(
      "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_"
      "delta,sequence\n"
      "1609160400099150057,1609160400098821953,0,1,5482,T,A,0,3720250000000,5,129,19251,1170380\n"
      "1609160400107665963,18446744073709551615,0,1,5482,T,N,3,9223372036854775807,21,129,-1,"
      "1170414\n");
  EXPECT_EQ(reader->info().schema, "trades");
  const auto trades = all<Trade>(*reader);
  ASSERT_EQ(trades.size(), 2U);
  EXPECT_EQ(count(trades[0].ts_recv), 1609160400099150057);
  EXPECT_EQ(count(trades[0].ts_event), 1609160400098821953);
  EXPECT_EQ(trades[0].price.nano, 3'720'250'000'000);
  EXPECT_EQ(trades[0].size, 5U);
  EXPECT_EQ(trades[0].side, Side::kAsk);
  EXPECT_EQ(trades[0].flags, 129);
  EXPECT_EQ(trades[0].ts_in_delta, 19251);
  EXPECT_EQ(trades[0].sequence, 1170380U);
  EXPECT_TRUE(is_null(trades[1].ts_event));
  EXPECT_TRUE(trades[1].price.is_null());
  EXPECT_EQ(trades[1].side, Side::kNone);
  EXPECT_EQ(trades[1].depth, 3);
  EXPECT_EQ(trades[1].ts_in_delta, -1);
  EXPECT_EQ(reader->stats().by_rtype, (std::map<int, std::int64_t>{{0, 2}}));
}

constexpr const char* kTopHeader =
    "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,ts_in_"
    "delta,sequence,"
    "bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,ask_ct_00\n";

TEST(CsvReader, ReadsDatabentosTopOfBookWithEmptyLevels) {
  const auto reader = csv(
      std::string(kTopHeader) +
      "2020-12-28T13:00:00.006136329Z,2020-12-28T13:00:00.006001487Z,1,1,5482,A,A,0,3720.500000000,"
      "1,128,17214,1170362,3720.250000000,3720.500000000,24,11,15,9\n"
      "2020-12-28T13:00:01.000000000Z,,1,1,5482,R,N,0,,0,8,0,1,,3720.500000000,0,11,0,9\n");
  EXPECT_EQ(reader->info().schema, "mbp-1");
  const auto tops = all<TopOfBook>(*reader);
  ASSERT_EQ(tops.size(), 2U);
  EXPECT_EQ(to_string(tops[0].ts_recv), "2020-12-28T13:00:00.006136329Z");
  EXPECT_EQ(tops[0].action, 'A');
  EXPECT_EQ(tops[0].price.nano, 3720'500'000'000);
  EXPECT_EQ(tops[0].level.bid.nano, 3720'250'000'000);
  EXPECT_EQ(tops[0].level.ask.nano, 3720'500'000'000);
  EXPECT_EQ(tops[0].level.bid_size, 24U);
  EXPECT_EQ(tops[0].level.ask_size, 11U);
  EXPECT_EQ(tops[0].level.bid_count, 15U);
  EXPECT_EQ(tops[0].level.ask_count, 9U);
  EXPECT_TRUE(tops[1].level.bid.is_null());
  EXPECT_TRUE(tops[1].price.is_null());
  EXPECT_TRUE(is_null(tops[1].ts_event));
  EXPECT_EQ(tops[1].action, 'R');
}

TEST(CsvReader, ReadsPlainBarsByTheNamesOfTheirColumns) {
  const auto reader =
      csv("Volume\tTime\tClose\tLow\tHigh\tOpen\n60\t2013-05-23 "
          "00:00:00\t1656.772\t1655.867\t1659.897\t1658",
          {.time_column = "Time", .bar_seconds = 3600, .delimiter = "tab", .symbol = "USA500"});
  EXPECT_EQ(reader->info().schema, "ohlcv-1h");
  const auto bars = all<Bar>(*reader);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].open.nano, 1658 * kNano) << "whole numbers are prices here, not units of 1e-9";
  EXPECT_EQ(bars[0].high.nano, 1'659'897'000'000);
  EXPECT_EQ(bars[0].low.nano, 1'655'867'000'000);
  EXPECT_EQ(bars[0].close.nano, 1'656'772'000'000);
  EXPECT_EQ(bars[0].volume, 60U);
  EXPECT_EQ(reader->symbol_of(bars[0].instrument, bars[0].start), "USA500");
  EXPECT_EQ(reader->info().symbols, std::vector<std::string>{"USA500"});
  EXPECT_EQ(reader->info().stype_in, "raw_symbol");
}

TEST(CsvReader, MovesBarsThatAreStampedWithTheirEnd) {
  const std::string text =
      "timestamp_utc,open,high,low,close,volume\n2024-01-01 23:01:00,1.1,1.2,1.1,1.1,205\n";
  for (const auto& [stamp, start] :
       {std::pair("start", "2024-01-01T23:01:00Z"), std::pair("end", "2024-01-01T23:00:00Z")}) {
    const auto reader = csv(text, {.time_column = "timestamp_utc", .bar_stamp = stamp});
    EXPECT_EQ(to_string(all<Bar>(*reader).at(0).start), start) << stamp;
  }
}

TEST(CsvReader, ReadsBarsWithoutVolumeOnlyWhenToldSo) {
  const std::string text =
      "timestamp,open,high,low,close\n2012-02-01 00:00:00+00:00,1.57608,1.57610,1.57585,1.57585\n";
  EXPECT_EQ(error_of([&] { csv(text, {.time_column = "timestamp"}); }),
            "bars.csv:1:1: no column 'volume'; the header has timestamp, open, high, low, close; "
            "name the volume in "
            "csv.volume_column, or leave that empty");
  const auto reader = csv(text, {.time_column = "timestamp", .volume_column = ""});
  EXPECT_EQ(all<Bar>(*reader).at(0).volume, 0U);
}

TEST(CsvReader, GivesIdsToSymbolsWhereTheFileHasNone) {
  const auto reader =
      csv("ts_event,open,high,low,close,volume,symbol\n2013-12-18,1,1,1,1,1,ESZ3\n2013-12-18,1,1,1,"
          "1,1,ESH4\n"
          "2013-12-19,1,1,1,1,1,ESH4\n");
  const auto bars = all<Bar>(*reader);
  EXPECT_EQ(bars.at(0).instrument.instrument_id, 1U);
  EXPECT_EQ(bars.at(1).instrument.instrument_id, 2U);
  EXPECT_EQ(bars.at(2).instrument.instrument_id, 2U);
  EXPECT_EQ(reader->info().mappings.size(), 2U);
  EXPECT_EQ(reader->symbol_of(bars[2].instrument, bars[2].start), "ESH4");
}

TEST(CsvReader, HasNothingToGiveForAHeaderAlone) {
  const auto reader = csv("ts_event,open,high,low,close,volume\n");
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->stats().records, 0);
  EXPECT_TRUE(is_null(reader->info().start));
  EXPECT_EQ(reader->info().schema, "ohlcv-1m");
}

TEST(CsvReader, NamesFileLineColumnValueAndRule) {
  const std::string header = "ts_event,open,high,low,close,volume\n2020-01-01,1,1,1,1,1\n";
  const std::pair<const char*, const char*> cases[] = {
      {"2020-01-01T10:00,1,1,1,1.2.3,1",
       "bars.csv:3:24: close = '1.2.3' is no decimal number such as 4321.25"},
      {"2020-01-01T10:00,1,1,1,0.1234567891,1",
       "bars.csv:3:24: close = '0.1234567891' has more than 9 decimals; prices are exact to 1e-9"},
      {"2020-01-01T10:00,1,1,1,1,-1", "bars.csv:3:26: volume = '-1' is no whole number"},
      {"2020-01-01T10:00,1,1,1,1,", "bars.csv:3:26: volume = '' is no whole number"},
      {"20200101,1,1,1,1,1",
       "bars.csv:3:1: ts_event = '20200101' is no time such as 2020-12-28T13:00:00.006Z"},
      {",1,1,1,1,1", "bars.csv:3:1: ts_event = '' is no time, which a bar must have"},
      {"2020-01-01T10:00,1,1,1,1", "bars.csv:3:1: the row has 5 fields, the header 6"},
      {"2020-01-01T10:00,1,1,1,1,1,1", "bars.csv:3:1: the row has 7 fields, the header 6"},
  };
  for (const auto& [row, want] : cases) {
    EXPECT_EQ(error_of([&, text = row] { read_all(*csv(header + text + "\n")); }), want);
  }
}

TEST(CsvReader, RefusesAColumnThatChangesItsNumberStyle) {
  const std::string header = "ts_event,rtype,open,high,low,close,volume\n";
  EXPECT_EQ(
      error_of([&] { read_all(*csv(header + "0,33,1000000000,1,1,1,1\n1,33,1.0,1,1,1,1\n")); }),
      "bars.csv:3:6: open = '1.0' has decimals, but the column began with whole numbers of 1e-9");
  EXPECT_EQ(error_of([&] { read_all(*csv(header + "0,33,1.0,1,1,1,1\n1,33,1,1,1,1,1\n")); }),
            "bars.csv:3:6: open = '1' has no decimals, but the column began with decimal prices");
  EXPECT_EQ(error_of([&] { read_all(*csv(header + "0,33,1,1,1,1,1\n2020-01-01,33,1,1,1,1,1\n")); }),
            "bars.csv:3:1: ts_event = '2020-01-01' has another form than the column's first time");
}

TEST(CsvReader, NamesTheColumnThatIsMissing) {
  EXPECT_EQ(error_of([] { csv("ts_evnt,open,high,low,close,volume\n"); }),
            "bars.csv:1:1: no column 'ts_event' (did you mean 'ts_evnt'?); the header has ts_evnt, "
            "open, high, low, "
            "close, volume; name the column with the time in csv.time_column");
  EXPECT_EQ(error_of([] { csv("a,b,c\n"); }),
            "bars.csv:1:1: the header has neither bars (open, high, low, close) nor trades (price, "
            "size); it has a, b, c");
  EXPECT_EQ(error_of([] { csv("Time\tOpen\n"); }),
            "bars.csv:1:1: the header has tabs: set the delimiter to tab");
  EXPECT_EQ(error_of([] { csv("ts_event,open,high,low,close,volume,open\n"); }),
            "bars.csv:1:37: the header has two columns 'open'");
  EXPECT_EQ(error_of([] { csv(""); }),
            "bars.csv:1:1: the file is empty: a CSV file begins with a header line");
}

TEST(CsvReader, NamesLayoutsThatAreNotRead) {
  const std::string trades = "ts_recv,ts_event,action,side,price,size";
  EXPECT_EQ(error_of([&] { csv(trades + ",order_id\n"); }),
            "bars.csv:1:1: Databento's mbo layout is not read from CSV");
  EXPECT_EQ(error_of([&] { csv(trades + ",bid_px_00,bid_px_01\n"); }),
            "bars.csv:1:1: Databento's mbp-10 layout is not read from CSV");
  EXPECT_EQ(error_of([] { csv("ts_recv,ts_event,side,price,size,bid_px_00\n"); }),
            "bars.csv:1:1: Databento's bbo layout is not read from CSV");
  EXPECT_EQ(error_of([&] { read_all(*csv(trades + "\n2020-01-01,2020-01-01,A,B,1,1\n")); }),
            "bars.csv:2:23: action = 'A' is none of the letters T");
}

TEST(CsvReader, RefusesSettingsThatContradictTheFileOrEachOther) {
  const std::string text = "ts_event,open,high,low,close,volume,symbol\n";
  EXPECT_THROW(csv(text, {.symbol = "ES"}), ConfigError);
  EXPECT_THROW(csv(text, {.bar_stamp = "middle"}), ConfigError);
  EXPECT_THROW(csv(text, {.bar_seconds = 0}), ConfigError);
  EXPECT_THROW(csv(text, {.delimiter = ""}), ConfigError);
  EXPECT_THROW(csv(text, {.delimiter = ", "}), ConfigError);
  EXPECT_THROW(csv(text, {.time_zone = "Nowhere"}), ConfigError);
}

TEST(CsvReader, EndsEarlyAtATruncatedInputAndFailsInStrictMode) {
  std::string text = "ts_event,open,high,low,close,volume\n";
  for (int i = 0; i < 3000; ++i)
    text += std::to_string(1'600'000'000 + 60 * i) + ",1,1,1,1," + std::to_string(i) + "\n";
  std::string packed = test::gzip(text);
  packed.resize(packed.size() / 2);
  ReadOptions options{.csv = {.time_format = "unix_s"}};
  const auto reader = make_csv_reader(text_source(packed), options);
  const auto bars = all<Bar>(*reader);
  ASSERT_GT(bars.size(), 100U);
  ASSERT_LT(bars.size(), 3000U);
  for (std::size_t i = 0; i < bars.size(); ++i) ASSERT_EQ(bars[i].volume, i) << "only whole rows";
  EXPECT_TRUE(reader->stats().truncated);
  options.strict = true;
  const auto strict = make_csv_reader(text_source(packed), options);
  EXPECT_THROW(read_all(*strict), DataError);
}

TEST(CsvReader, EndsInAnErrorOrInRecordsWhateverTheBytesAre) {
  const std::string bars =
      "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n"
      "2020-12-28T13:00:00.000000000Z,33,1,5482,3720.250000000,3721.500000000,,3720.250000000,353,"
      "\"ES\"\"H1\"\r\n"
      "2020-12-28T13:01:00.000000000Z,33,1,5482,3720.250000000,3721.500000000,-3720.25,3720."
      "250000000,353,ESH1\n";
  const std::string top = std::string(kTopHeader) +
                          "1609160400006136329,1609160400006001487,1,1,5482,A,A,0,3720500000000,"
                          "1,128,17214,1170362,3720250000000,3720500000000,24,11,15,9\n";
  Rng rng(13);
  int records = 0;
  int errors = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = rng.below(2) == 0 ? bars : top;
    for (auto n = 1 + rng.below(4); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      if (rng.below(3) == 0) {
        text.erase(at, 1 + rng.below(20));
      } else if (rng.below(2) == 0) {
        text.insert(at, 1, text[rng.below(text.size())]);
      } else {
        text[at] = static_cast<char>(rng.below(256));
      }
    }
    try {
      const auto reader = csv(text);
      while (reader->next() != nullptr) ++records;
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(records, 500) << "some changes do no harm";
  EXPECT_GT(errors, 500) << "and some do";
}

/// Rows that nobody holds in memory.
class EndlessRows final : public ByteSource {
 public:
  explicit EndlessRows(std::size_t bytes) : left_(bytes) {}
  std::size_t read(std::span<std::byte> out) override {
    std::size_t done = 0;
    for (; done < out.size() && left_ > 0; ++done, --left_) {
      out[done] = static_cast<std::byte>(next_[at_++]);
      if (at_ == next_.size()) {
        next_.clear();  // in place: a sanitizer keeps what is freed
        fmt::format_to(std::back_inserter(next_), "{},1,1,1,1,5,ESZ13\n", 60 * row_++);
        at_ = 0;
      }
    }
    return done;
  }
  bool truncated() const override { return left_ == 0; }
  std::int64_t frames() const override { return 0; }
  const std::string& name() const override { return name_; }

 private:
  std::size_t left_;
  std::string next_ = "ts_event,open,high,low,close,volume,symbol\n";
  std::size_t at_ = 0;
  std::int64_t row_ = 0;
  std::string name_ = "endless.csv";
};

TEST(CsvReader, NeedsNoMoreMemoryForALargerFile) {
  const std::int64_t before = resident_set().now;
  const auto reader = make_csv_reader(std::make_unique<EndlessRows>(std::size_t{24} << 20),
                                      {.csv = {.time_format = "unix_s"}});
  read_all(*reader);
  EXPECT_GT(reader->stats().records, 900'000);
  // Buffers are 64 KiB each; the rest is room for what the allocator keeps.
  EXPECT_LT(resident_set().now - before, std::int64_t{4} << 20);
}

TEST(CsvFormat, ListsItsKeysForTheConfiguration) {
  CsvFormat format;
  const auto list = config::fields_of(format);
  std::vector<std::string> names;
  for (const auto& field : list.fields) names.push_back(field.path);
  EXPECT_THAT(names, testing::ElementsAre("time_column", "time_format", "time_zone", "bar_stamp",
                                          "bar_seconds", "volume_column", "delimiter", "symbol"));
  auto& stamp = std::get<config::Choice>(const_cast<config::Target&>(list.fields[3].target));
  EXPECT_EQ(stamp.get(), 0U);
  stamp.set(1);
  EXPECT_EQ(format.bar_stamp, "end");
}

}  // namespace
}  // namespace foxhunt::market
