#include "foxhunt/market/contract.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

TEST(Contract, HoldsTickAndMultiplierExactly) {
  const Contract& es = contract_for_product("ES");
  EXPECT_EQ(es.product, "ES");
  EXPECT_EQ(es.exchange, "CME");
  EXPECT_EQ(es.currency, "USD");
  EXPECT_EQ(es.tick.nano, 250'000'000);
  EXPECT_EQ(es.multiplier, 50.0);
  EXPECT_EQ(es.tick_value(), 12.5);
  EXPECT_EQ(contract_for_product("NQ").tick_value(), 5.0);
  EXPECT_EQ(contract_for_product("MES").tick_value(), 1.25);
  EXPECT_EQ(contract_for_product("MNQ").tick_value(), 0.5);
  EXPECT_EQ(contract_for_product("ZN").tick.nano, 15'625'000);
  EXPECT_EQ(contract_for_product("ZN").exchange, "CBOT");
  EXPECT_EQ(contract_for_product("ZN").tick_value(), 15.625);
  EXPECT_EQ(contract_for_product("6E").tick.nano, 50'000);
  EXPECT_DOUBLE_EQ(contract_for_product("6E").tick_value(), 6.25);  // 0.00005 is no binary fraction
  EXPECT_DOUBLE_EQ(contract_for_product("GC").tick_value(), 10.0);
}

TEST(Contract, RefusesAProductThatIsNotInTheTable) {
  EXPECT_THROW(contract_for_product("CL"), ConfigError);
  EXPECT_THROW(contract_for_product("es"), ConfigError);
  EXPECT_THROW(contract_for_product(""), ConfigError);
}

TEST(ProductOfSymbol, FindsTheRootOfAContract) {
  for (const char* symbol : {"ESZ3", "ESZ23", "ESZ2013", "ES.c.0", "ES.v.1", "ES.n.10", "ES.FUT"}) {
    EXPECT_EQ(product_of_symbol(symbol), "ES") << symbol;
  }
  EXPECT_EQ(product_of_symbol("6EH4"), "6E");
  EXPECT_EQ(product_of_symbol("ZNH24"), "ZN");
  EXPECT_EQ(product_of_symbol("MESM2024"), "MES");
  EXPECT_EQ(product_of_symbol("GCG4"), "GC");
  EXPECT_EQ(product_of_symbol("10YF5"), "10Y");
}

TEST(ProductOfSymbol, IsEmptyForWhatIsNoFuturesContract) {
  for (const char* symbol :
       {"",         "ES",        "Z3",         "ESZ",  "ESA3",   "ESZ3 ", "ESZ123",
        "ESZ12345", "ESZ5-ESH6", "ESZ3 C4000", "MSFT", "ES.c",   "ES.c.", "ES.x.0",
        "ES.OPT",   ".c.0",      "esz3",       "66Z3", "ABCDZ3", "3"}) {
    EXPECT_EQ(product_of_symbol(symbol), "") << "'" << symbol << "'";
  }
}

}  // namespace
}  // namespace foxhunt::market
