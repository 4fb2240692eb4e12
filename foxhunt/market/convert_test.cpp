#include "foxhunt/market/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_test_support.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::csv;
using test::TempFolder;
using testing::HasSubstr;

constexpr const char* kHeader =
    "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n";

class ConvertTest : public testing::Test {
 protected:
  std::string refusal(Reader& reader, const ConvertOptions& options = {.dataset = "TEST"}) {
    std::string text =
        test::error_of<DataError>([&] { convert_bars(reader, folder_ / "out.dbn", options); });
    EXPECT_EQ(folder_.entries(), 0) << "a file is left behind";
    return text;
  }
  TempFolder folder_;
};

TEST_F(ConvertTest, BarsSymbolsAndRangeOfACsvFileComeBackFromDbn) {
  const std::string text = std::string(kHeader) +
                           "2013-12-18T23:58:00Z,33,2,11,1797.25,1797.5,1797.0,1797.25,120,ESZ3\n"
                           "2013-12-19T00:00:00Z,33,2,11,1798.25,,-0.000000001,1797.25,0,ESZ3\n"
                           "2013-12-19T00:00:00Z,33,2,12,1790.25,1790.25,1790.25,1790.25,7,ESH4\n";
  for (const char* name : {"out.dbn", "out.dbn.zst"}) {
    const auto source = csv(text);
    const ConvertReport report = convert_bars(*source, folder_ / name, {.dataset = "TEST.ES"});
    EXPECT_EQ(report.bars, 3);
    EXPECT_EQ(report.symbols, 2);
    EXPECT_EQ(report.schema, "ohlcv-1m");
    EXPECT_EQ(to_string(report.first), "2013-12-18T23:58:00Z");
    EXPECT_EQ(to_string(report.last), "2013-12-19T00:00:00Z");
    EXPECT_EQ(report.bytes, std::filesystem::file_size(folder_ / name));

    const auto back = open_reader(folder_ / name);
    EXPECT_EQ(back->info().version, 3);
    EXPECT_EQ(back->info().dataset, "TEST.ES");
    EXPECT_EQ(back->info().schema, "ohlcv-1m");
    EXPECT_EQ(back->info().stype_in, "raw_symbol");
    EXPECT_EQ(back->info().stype_out, "instrument_id");
    EXPECT_EQ(to_string(back->info().start), "2013-12-18T23:58:00Z");
    EXPECT_EQ(to_string(back->info().end), "2013-12-19T00:01:00Z");
    EXPECT_EQ(back->info().symbols, (std::vector<std::string>{"ESZ3", "ESH4"}));
    const auto original = csv(text);
    while (const Record* want = original->next()) {
      const Record* got = back->next();
      ASSERT_NE(got, nullptr);
      const Bar& a = std::get<Bar>(*want);
      const Bar& b = std::get<Bar>(*got);
      EXPECT_EQ(a.instrument, b.instrument);
      EXPECT_EQ(a.start, b.start);
      EXPECT_EQ(a.span, b.span);
      EXPECT_EQ(a.open, b.open);
      EXPECT_EQ(a.high, b.high);
      EXPECT_EQ(a.low, b.low);
      EXPECT_EQ(a.close, b.close);
      EXPECT_EQ(a.volume, b.volume);
      EXPECT_EQ(original->symbol_of(a.instrument, a.start), back->symbol_of(b.instrument, b.start));
    }
    EXPECT_EQ(back->next(), nullptr);
  }
  EXPECT_EQ(folder_.entries(), 2) << "nothing but the two files";
}

TEST_F(ConvertTest, TheSameInputGivesTheSameBytes) {
  for (const char* name : {"a.dbn.zst", "b.dbn.zst"}) {
    const auto source =
        csv(std::string(kHeader) + "2013-12-19T00:00:00Z,33,2,12,1.5,1.5,1.5,1.5,7,ESH4\n");
    convert_bars(*source, folder_ / name, {.dataset = "TEST"});
  }
  EXPECT_EQ(read_file(folder_ / "a.dbn.zst"), read_file(folder_ / "b.dbn.zst"));
}

TEST_F(ConvertTest, DbnOfAnOlderVersionKeepsItsMetadata) {
  const auto source = open_reader(test::fixture("test_data.ohlcv-1m.v1.dbn.zst"));
  const ConvertReport report = convert_bars(*source, folder_ / "out.dbn");
  EXPECT_EQ(report.bars, 2);
  EXPECT_EQ(report.dataset, "GLBX.MDP3");
  // What the official tools wrote of the same data as version 3.
  EXPECT_EQ(read_file(folder_ / "out.dbn"),
            test::unpacked(test::fixture_bytes("test_data.ohlcv-1m.v3.dbn.zst")));
}

TEST_F(ConvertTest, AnInputWithoutBarsIsAnError) {
  EXPECT_THAT(refusal(*csv(kHeader)), HasSubstr("holds no bars"));
  EXPECT_THAT(refusal(*open_reader(test::fixture("test_data.ohlcv-1d.v3.dbn.zst"))),
              HasSubstr("holds no bars"));
  EXPECT_THAT(refusal(*open_reader(test::fixture("test_data.mbo.v3.dbn"))),
              HasSubstr("record 0: order event; only bars are converted"));
}

TEST_F(ConvertTest, RecordsOfAnotherKindAreAnError) {
  EXPECT_THAT(refusal(*open_reader(test::fixture("test_data.trades.v3.dbn.zst"))),
              HasSubstr("record 0: trade; only bars are converted"));
}

TEST_F(ConvertTest, BarsOfTwoLengthsOrOfALengthThatDbnLacksAreAnError) {
  const std::string tail = ",2,12,1.5,1.5,1.5,1.5,7,ESH4\n";
  EXPECT_THAT(refusal(*csv(kHeader + ("2013-12-19T00:00:00Z,33" + tail) +
                           "2013-12-19T00:01:00Z,34" + tail)),
              HasSubstr("a bar of 3600 s does not belong into a file of schema 'ohlcv-1m'"));
  EXPECT_THAT(refusal(*csv(kHeader + ("2013-12-19T00:00:00Z,17" + tail), {.bar_seconds = 1800})),
              HasSubstr("the input's are of 1800 s"));
}

TEST_F(ConvertTest, BarsOutOfOrderAreAnError) {
  const std::string tail = ",33,2,12,1.5,1.5,1.5,1.5,7,ESH4\n";
  EXPECT_THAT(
      refusal(*csv(kHeader + ("2013-12-19T00:01:00Z" + tail) + "2013-12-19T00:00:00Z" + tail)),
      HasSubstr("before the one before it"));
}

TEST_F(ConvertTest, AFileWithoutSymbolOrDatasetMustBeTold) {
  const std::string text = "ts_event,open,high,low,close,volume\n2013-12-19,1,1,1,1,1\n";
  EXPECT_THAT(refusal(*csv(text)), HasSubstr("which symbol"));
  EXPECT_THAT(refusal(*csv(text, {.symbol = "ESH4"}), {}), HasSubstr("name a dataset"));
  const auto told = csv(text, {.symbol = "ESH4"});
  EXPECT_EQ(convert_bars(*told, folder_ / "out.dbn", {.dataset = "TEST"}).bars, 1);
}

TEST_F(ConvertTest, AnInputThatIsCutShortIsAnErrorUnlessAllowed) {
  const std::string text =
      std::string(kHeader) + "2013-12-19T00:00:00Z,33,2,12,1.5,1.5,1.5,1.5,7,ESH4\n2013-12-19T00:0";
  const auto cut = [&] { return make_csv_reader(test::text_source(text, /*truncated=*/true), {}); };
  EXPECT_THAT(refusal(*cut()), HasSubstr("cut short after 1 bars"));
  const auto reader = cut();
  const ConvertReport report =
      convert_bars(*reader, folder_ / "out.dbn", {.dataset = "TEST", .allow_truncated = true});
  EXPECT_TRUE(report.truncated);
  EXPECT_EQ(report.bars, 1);
}

TEST_F(ConvertTest, AnEarlierFileStaysWhenTheConversionFails) {
  write_file_atomic(folder_ / "out.dbn", "earlier");
  EXPECT_THROW(convert_bars(*csv(kHeader), folder_ / "out.dbn", {.dataset = "TEST"}), DataError);
  EXPECT_EQ(read_file(folder_ / "out.dbn"), "earlier");
  EXPECT_EQ(folder_.entries(), 1);
}

}  // namespace
}  // namespace foxhunt::market
