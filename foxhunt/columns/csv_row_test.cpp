#include "foxhunt/columns/csv_row.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/test_support.h"

namespace foxhunt::columns {
namespace {

// As the official encoder (databento-dbn 0.72) writes them.
TEST(CsvRow, HasTheColumnsOfDatabento) {
  const auto header = [](int rtype) { return CsvRow(rtype, {}).header(); };
  const std::string event =
      "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags,"
      "ts_in_delta,sequence";
  const std::string level = ",bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,ask_ct_00";
  EXPECT_EQ(header(0x00), event + "\n");
  EXPECT_EQ(header(0x01), event + level + "\n");
  EXPECT_TRUE(header(0x0A).starts_with(event + level + ",bid_px_01,ask_px_01"));
  EXPECT_TRUE(
      header(0x0A).ends_with(",bid_px_09,ask_px_09,bid_sz_09,ask_sz_09,bid_ct_09,ask_ct_09\n"));
  EXPECT_EQ(header(0xA0),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,price,size,channel_id,"
            "order_id,flags,ts_in_delta,sequence\n");
  EXPECT_EQ(header(0x21), "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume\n");
  EXPECT_EQ(header(0xC3),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,side,price,size,flags,sequence" +
                level + "\n");
  EXPECT_EQ(header(0xC0),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,side,price,size,flags,bid_px_00,"
            "ask_px_00,bid_sz_00,ask_sz_00,bid_pb_00,ask_pb_00\n");
  EXPECT_EQ(header(0xB1),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,price,size,flags,"
            "ts_in_delta,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_pb_00,ask_pb_00\n");
  EXPECT_EQ(header(0x18),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,ts_ref,price,quantity,sequence,"
            "ts_in_delta,stat_type,channel_id,update_action,stat_flags\n");
  EXPECT_EQ(header(0x12),
            "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,reason,trading_event,"
            "is_trading,is_quoting,is_short_sell_restricted\n");
  EXPECT_EQ(
      header(0x14),
      "ts_recv,ts_event,rtype,publisher_id,instrument_id,ref_price,auction_time,"
      "cont_book_clr_price,auct_interest_clr_price,ssr_filling_price,ind_match_price,upper_collar,"
      "lower_collar,paired_qty,total_imbalance_qty,market_imbalance_qty,unpaired_qty,auction_type,"
      "side,auction_status,freeze_status,num_extensions,unpaired_side,significant_imbalance\n");
  EXPECT_EQ(
      header(0x13),
      "ts_recv,ts_event,rtype,publisher_id,instrument_id,raw_symbol,security_update_action,"
      "instrument_class,min_price_increment,display_factor,expiration,activation,high_limit_price,"
      "low_limit_price,max_price_variation,unit_of_measure_qty,min_price_increment_amount,"
      "price_ratio,inst_attrib_value,underlying_id,raw_instrument_id,market_depth_implied,"
      "market_depth,market_segment_id,max_trade_vol,min_lot_size,min_lot_size_block,"
      "min_lot_size_round_lot,min_trade_vol,contract_multiplier,decay_quantity,"
      "original_contract_size,appl_id,maturity_year,decay_start_date,channel_id,currency,"
      "settl_currency,secsubtype,group,exchange,asset,cfi,security_type,unit_of_measure,underlying,"
      "strike_price_currency,strike_price,match_algorithm,main_fraction,price_display_format,"
      "sub_fraction,underlying_product,maturity_month,maturity_day,maturity_week,"
      "user_defined_instrument,contract_multiplier_unit,flow_schedule_type,tick_rule,leg_count,"
      "leg_index,leg_instrument_id,leg_raw_symbol,leg_instrument_class,leg_side,leg_price,leg_"
      "delta,"
      "leg_ratio_price_numerator,leg_ratio_price_denominator,leg_ratio_qty_numerator,"
      "leg_ratio_qty_denominator,leg_underlying_id\n");
}

std::string first_row(const char* file, const CsvStyle& style) {
  const test::Folder folder("row");
  test::convert(file, folder.path / "a.csv", {}, {.style = style});
  const std::string text = read_file(folder.path / "a.csv");
  const std::size_t begin = text.find('\n') + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(CsvRow, WritesWhatTheOfficialEncoderWrites) {
  const CsvStyle pretty{.decimal_prices = true, .iso_times = true};
  EXPECT_EQ(first_row("tests/data/dbn/test_data.mbo.v3.dbn", {}),
            "1609160400000704060,1609160400000429831,160,1,5482,C,A,3722750000000,1,0,647784973705,"
            "128,22993,1170352");
  EXPECT_EQ(first_row("tests/data/dbn/test_data.mbo.v3.dbn", pretty),
            "2020-12-28T13:00:00.000704060Z,2020-12-28T13:00:00.000429831Z,160,1,5482,C,A,"
            "3722.750000000,1,0,647784973705,128,22993,1170352");
  EXPECT_EQ(first_row("tests/data/dbn/test_data.definition.v3.dbn.zst", pretty),
            "2021-10-04T07:07:21.618029519Z,2021-10-04T07:07:21.618018154Z,19,2,6819,MSFT,A,K,,"
            "100000.000000000,,,,,,,,,2147483647,0,2147483647,2147483647,2147483647,4294967295,"
            "4294967295,2147483647,2147483647,100,4294967295,2147483647,2147483647,2147483647,"
            "32767,65535,65535,0,,,Z ,pxnas-1,XNAS,,,,,,,,F,255,255,255,255,255,255,255,N,127,127,"
            "255,0,0,0,,,N,,,0,0,0,0,0");
}

TEST(CsvRow, QuotesTextAsItMust) {
  char room[64];
  const auto quoted = [&](std::string_view text) {
    return std::string(room, write_csv_text(room, text));
  };
  EXPECT_EQ(quoted("ESH1"), "ESH1");
  EXPECT_EQ(quoted(""), "");
  EXPECT_EQ(quoted("a,b"), "\"a,b\"");
  EXPECT_EQ(quoted("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quoted("a\nb"), "\"a\nb\"");
}

TEST(CsvRow, RefusesATypeThatIsNotKnown) { EXPECT_THROW(CsvRow(0x77, {}), DataError); }

}  // namespace
}  // namespace foxhunt::columns
