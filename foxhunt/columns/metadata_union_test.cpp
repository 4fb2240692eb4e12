#include "foxhunt/columns/metadata_union.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::columns {
namespace {

using market::DbnMetadata;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NamedMetadata file(const std::string& name) {
  DbnMetadata m;
  m.dataset = "GLBX.MDP3";
  m.schema = 0;
  m.stype_in = 1;
  m.start = 100;
  m.end = 200;
  return {name, m};
}

DbnMetadata::Mapping mapping(const std::string& symbol, std::vector<DbnMetadata::Interval> days) {
  return {symbol, std::move(days)};
}

std::string refusal(const std::vector<NamedMetadata>& files) {
  try {
    unite(files);
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(MetadataUnion, SpansAllRangesAndJoinsTheLists) {
  auto a = file("a");
  auto b = file("b");
  a.metadata.symbols = {"ESH1", "NQH1"};
  b.metadata.symbols = {"NQH1", "ESM1"};
  b.metadata.start = 50;
  b.metadata.end = 300;
  b.metadata.schema = 4;
  b.metadata.partial = {"ESM1"};
  b.metadata.not_found = {"XXX"};
  const DbnMetadata all = unite(std::vector{a, b});
  EXPECT_EQ(all.start, 50U);
  EXPECT_EQ(all.end, 300U);
  EXPECT_EQ(all.schema, 0xFFFF);
  EXPECT_EQ(all.stype_in, 1);
  EXPECT_THAT(all.symbols, ElementsAre("ESH1", "NQH1", "ESM1"));
  EXPECT_THAT(all.partial, ElementsAre("ESM1"));
  EXPECT_THAT(all.not_found, ElementsAre("XXX"));
  b.metadata.end = 0;  // none
  EXPECT_EQ(unite(std::vector{a, b}).end, ~std::uint64_t{0});
}

TEST(MetadataUnion, JoinsTheDaysOfASymbol) {
  auto a = file("a");
  auto b = file("b");
  a.metadata.mappings = {mapping("ESH1", {{20210104, 20210105, "5"}, {20210110, 20210112, "6"}})};
  b.metadata.mappings = {mapping("ESH1", {{20210105, 20210107, "5"}, {20210110, 20210111, "6"}}),
                         mapping("NQH1", {{20210104, 20210105, "9"}})};
  const DbnMetadata all = unite(std::vector{a, b});
  ASSERT_EQ(all.mappings.size(), 2U);
  const auto& days = all.mappings[0].intervals;
  ASSERT_EQ(days.size(), 2U);
  EXPECT_EQ(days[0].start, 20210104U);
  EXPECT_EQ(days[0].end, 20210107U);
  EXPECT_EQ(days[1].start, 20210110U);
  EXPECT_EQ(days[1].end, 20210112U);
}

TEST(MetadataUnion, ASymbolThatOneFileResolvedIsPartial) {
  auto a = file("a");
  auto b = file("b");
  a.metadata.not_found = {"RTYH7", "XXX"};
  b.metadata.mappings = {mapping("RTYH7", {{20170710, 20170711, "5"}})};
  const DbnMetadata all = unite(std::vector{a, b});
  EXPECT_THAT(all.not_found, ElementsAre("XXX"));
  EXPECT_THAT(all.partial, ElementsAre("RTYH7"));
}

TEST(MetadataUnion, RefusesTwoMeaningsOfOneDay) {
  auto a = file("a.dbn");
  auto b = file("b.dbn");
  a.metadata.mappings = {mapping("ES.c.0", {{20210104, 20210108, "5"}})};
  b.metadata.mappings = {mapping("ES.c.0", {{20210107, 20210109, "6"}})};
  EXPECT_EQ(refusal({a, b}), "on 20210107 the symbol 'ES.c.0' is '5' in a.dbn, but '6' in b.dbn");
  b.metadata.mappings[0].intervals[0].start = 20210108;
  EXPECT_EQ(refusal({a, b}), "nothing");
}

TEST(MetadataUnion, RefusesWhatOneFileCannotSay) {
  auto a = file("a.dbn");
  auto b = file("b.dbn");
  b.metadata.dataset = "XNAS.ITCH";
  EXPECT_THAT(refusal({a, b}), HasSubstr("a.dbn has the dataset 'GLBX.MDP3', but b.dbn has"));
  b = file("b.dbn");
  b.metadata.ts_out = true;
  EXPECT_THAT(refusal({a, b}), HasSubstr("ts_out"));
  b = file("b.dbn");
  b.metadata.stype_out = 1;
  EXPECT_THAT(refusal({a, b}), HasSubstr("stype_out"));
}

}  // namespace
}  // namespace foxhunt::columns
