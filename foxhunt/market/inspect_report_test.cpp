// Inspections as people and machines see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "foxhunt/base/json.h"
#include "foxhunt/market/csv_test_support.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/market/inspect.h"

namespace foxhunt::market {
namespace {

using nlohmann::json;
using test::csv;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTwoBars =
    "ts_event,open,high,low,close,volume,symbol\n"
    "2013-10-08T20:13:00Z,1655.25,1655.5,1655.25,,1200,ESZ13\n"
    "2013-10-08T20:31:00Z,-0.000000001,1655.5,-1655.25,1655.25,34,ESZ13\n";

TEST(InspectionJson, HasTheKeysThatOthersRelyOn) {
  const json j = json::parse(to_json(inspect(*open_reader("data/es-sample/es-ohlcv-1m.dbn.zst"))));
  EXPECT_EQ(j.at("records"), 19'083);
  EXPECT_EQ(j.at("by_rtype"), (json{{"33", 19'083}}));
  EXPECT_EQ(j.at("rtype_names"), (json{{"33", "ohlcv-1m"}}));
  EXPECT_EQ(j.at("schema"), "ohlcv-1m");
  EXPECT_EQ(j.at("version"), 3);
  EXPECT_EQ(j.at("symbols"), (json{"ESZ13", "ESH14", "ESH20"}));
  EXPECT_EQ(j.at("start"), "2013-10-06T22:00:00Z");
  EXPECT_EQ(j.at("end"), "2020-01-07T00:00:00Z");
  EXPECT_EQ(j.at("first").at("open"), "1676.75");
  EXPECT_EQ(j.at("last").at("symbol"), "ESH20");
  EXPECT_EQ(j.at("sessions").size(), 20U);
  EXPECT_EQ(j.at("has_errors"), false);
}

TEST(InspectionJson, WritesPricesExactlyAndNullsAsNull) {
  const json j = json::parse(to_json(inspect(*csv(kTwoBars))));
  EXPECT_EQ(j.at("first").at("close"), nullptr);
  EXPECT_EQ(j.at("first").at("high"), "1655.5");
  EXPECT_EQ(j.at("last").at("open"), "-0.000000001");
  EXPECT_EQ(j.at("last").at("low"), "-1655.25");
  EXPECT_EQ(j.at("null_prices"), 1);
  EXPECT_EQ(j.at("has_errors"), true);
}

TEST(InspectionJson, IsValidWithoutAnyRecord) {
  const json j = json::parse(to_json(inspect(*csv("ts_event,open,high,low,close,volume\n"))));
  EXPECT_EQ(j.at("records"), 0);
  EXPECT_EQ(j.at("by_rtype"), json::object());
  EXPECT_EQ(j.at("symbols"), json::array());
  EXPECT_EQ(j.at("start"), nullptr);
  EXPECT_EQ(j.at("end"), nullptr);
  EXPECT_EQ(j.at("first"), nullptr);
  EXPECT_EQ(j.at("notes"), (json{"no records"}));
}

TEST(InspectionJson, IsNoPlaceForNotANumber) {
  for (const char* name : {"test_data.trades.v3.dbn.zst", "test_data.mbp-1.v3.dbn.zst",
                           "test_data.tbbo.v3.dbn.zst", "test_data.definition.v1.dbn.zst",
                           "test_data.definition.v3.dbn.zst", "test_data.mbo.v3.dbn"}) {
    const std::string text = to_json(inspect(*open_reader(test::fixture(name))));
    EXPECT_TRUE(json::accept(text)) << name;
    EXPECT_THAT(text, Not(HasSubstr("NaN"))) << name;
  }
}

TEST(InspectionJson, SurvivesSymbolsThatAreNoUtf8) {
  const std::string text =
      to_json(inspect(*csv("ts_event,open,high,low,close,volume,symbol\n0001,1,1,1,1,1,\xFF\xFE\n",
                           {.time_format = "unix_s"})));
  EXPECT_TRUE(json::accept(text));
}

TEST(InspectionText, IsAPageThatPeopleCanRead) {
  EXPECT_EQ(to_text(inspect(*csv(kTwoBars))),
            "format      csv\n"
            "schema      ohlcv-1m\n"
            "symbols     ESZ13\n"
            "range       2013-10-08T20:13:00Z to 2013-10-08T20:32:00Z\n"
            "records     2\n"
            "  ohlcv-1m (33)                    2\n"
            "first       2013-10-08T20:13:00Z  ESZ13  type bar  seconds 60  open 1655.25  high "
            "1655.5  low 1655.25  "
            "close null  volume 1200\n"
            "last        2013-10-08T20:31:00Z  ESZ13  type bar  seconds 60  open -0.000000001  "
            "high 1655.5  low "
            "-1655.25  close 1655.25  volume 34\n"
            "checks      0 out of order, 0 duplicate times, 0 bad OHLC, 1 null prices\n"
            "\n"
            "symbol        hours        records          volume  sessions   absent   missing  "
            "closed    halt\n"
            "ESZ13         ES                 2           1,234         1        0     1,378       "
            "0       0\n"
            "\n"
            "trade date  symbol           bars   missing: at open   inside  at close\n"
            "2013-10-08  ESZ13               2               1333        2        43\n");
}

TEST(InspectionText, SaysWhenThereIsNothing) {
  const std::string text = to_text(inspect(*csv("ts_event,open,high,low,close,volume\n")));
  EXPECT_THAT(text, HasSubstr("records     0\n"));
  EXPECT_THAT(text, HasSubstr("note        no records\n"));
  EXPECT_THAT(text, HasSubstr("range       ? to ?\n"));
}

TEST(InspectionText, CutsLongTablesAndSaysSo) {
  const Inspection i = inspect(*open_reader("data/es-sample/es-ohlcv-1m.dbn.zst"));
  EXPECT_THAT(to_text(i, 5), HasSubstr("… 15 more sessions (--json has all)\n"));
  EXPECT_THAT(to_text(i), Not(HasSubstr("more sessions")));
  EXPECT_THAT(to_text(i), HasSubstr("records     19,083\n"));
}

}  // namespace
}  // namespace foxhunt::market
