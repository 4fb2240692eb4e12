#include "foxhunt/features/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::features {
namespace {

Schema two_columns() {
  return {.columns = {{"ret_1", "standard deviations", 61, "a \"quoted\" help"},
                      {"range", "ticks", 1, ""}}};
}

TEST(Schema, ReadsBackWhatItWrote) {
  const Schema schema = two_columns();
  const Schema again = Schema::from_json(schema.to_json());
  EXPECT_EQ(again.to_json(), schema.to_json());
  EXPECT_EQ(again.hash(), schema.hash());
  EXPECT_EQ(again.columns.at(0).help, "a \"quoted\" help");
  EXPECT_EQ(again.warm_up(), 61);
  EXPECT_EQ(Schema{}.warm_up(), 1);
}

TEST(Schema, HashChangesWithEverythingButHelp) {
  const Schema schema = two_columns();
  std::vector<Schema> others(5, schema);
  others[0].columns[0].name = "ret_2";
  others[1].columns[0].unit = "ticks";
  others[2].columns[0].warm_up = 62;
  std::swap(others[3].columns[0], others[3].columns[1]);
  others[4].columns.pop_back();
  for (const Schema& other : others) EXPECT_NE(other.hash(), schema.hash());
  Schema same = schema;
  same.columns[0].help = "other words";
  EXPECT_EQ(same.hash(), schema.hash());
  // A character that moves from name to unit is a change too.
  const auto hash_of = [](const char* name, const char* unit) {
    return Schema{.columns = {{name, unit, 1, ""}}}.hash();
  };
  EXPECT_NE(hash_of("ab", "c"), hash_of("a", "bc"));
}

TEST(Schema, RefusesTextThatIsNoneNamingThePlace) {
  const auto error_of = [](const char* text) -> std::string {
    try {
      Schema::from_json(text);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of("{}"), testing::HasSubstr("no"));
  EXPECT_THAT(error_of("[{"), testing::HasSubstr("is not JSON"));
  EXPECT_THAT(error_of("{}"), testing::HasSubstr("not a JSON array"));
  const auto warm_up = [&](const std::string& number) {
    return error_of((R"([{"name":"a","unit":"b","warm_up":)" + number + R"(,"help":""}])").c_str());
  };
  EXPECT_EQ(warm_up("9223372036854775807"), "");
  for (const char* number : {"1.5", "1e300", "9223372036854775808", "18446744073709551615"}) {
    EXPECT_THAT(warm_up(number), testing::HasSubstr("field 'warm_up'")) << number;
    EXPECT_THAT(warm_up(number), testing::HasSubstr("is no whole number")) << number;
  }
  EXPECT_THAT(warm_up("1,\"warm_up\":2"), testing::HasSubstr("the key 'warm_up' twice"));
  EXPECT_THAT(warm_up(std::string(100'000, '[')), testing::HasSubstr("nests deeper"));
  EXPECT_THAT(error_of(R"([{"name":"a","unit":"b","help":""}])"), testing::HasSubstr("warm_up"));
  EXPECT_THAT(error_of(R"([7])"), testing::HasSubstr("column 0"));
  EXPECT_THAT(error_of(R"([{"name":"a","unit":"b","warm_up":0,"help":""}])"),
              testing::HasSubstr("at least 1"));
  EXPECT_THAT(error_of(R"([{"name":"a","unit":"b","warm_up":1,"help":""},
                           {"name":"a","unit":"b","warm_up":1,"help":""}])"),
              testing::HasSubstr("twice"));
}

}  // namespace
}  // namespace foxhunt::features
