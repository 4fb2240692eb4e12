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

Schema with_library() {
  Schema schema = two_columns();
  schema.columns.push_back({.name = "mine",
                            .unit = "ticks",
                            .warm_up = 3,
                            .help = "",
                            .library = {"lib", "1.0", std::string(64, 'a')}});
  return schema;
}

TEST(Schema, SaysOfAColumnWhichLibraryMadeIt) {
  const Schema schema = with_library();
  EXPECT_THAT(schema.libraries(), testing::ElementsAre(schema.columns[2].library));
  EXPECT_TRUE(two_columns().libraries().empty());
  const Schema again = Schema::from_json(schema.to_json());
  EXPECT_EQ(again.to_json(), schema.to_json());
  EXPECT_EQ(again.hash(), schema.hash());
  EXPECT_EQ(again.columns[2].library, schema.columns[2].library);
  EXPECT_FALSE(again.columns[0].library);
  std::vector<Schema> others(4, schema);
  others[0].columns[2].library.name = "lab";
  others[1].columns[2].library.version = "1.1";
  others[2].columns[2].library.sha256 = std::string(64, 'b');
  others[3].columns[2].library = {};
  for (const Schema& other : others) EXPECT_NE(other.hash(), schema.hash());

  const std::string column = R"([{"name":"a","unit":"b","warm_up":1,"help":"","library":"l")";
  const auto error_of = [&](const std::string& rest) -> std::string {
    try {
      Schema::from_json(column + rest + "}]");
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of(""), testing::HasSubstr("field 'library_version'"));
  EXPECT_THAT(error_of(R"(,"library_version":"1")"), testing::HasSubstr("field 'library_sha256'"));
  for (const std::string& bad : {std::string(63, 'a'), std::string(64, 'G'), std::string()}) {
    EXPECT_THAT(error_of(R"(,"library_version":"1","library_sha256":")" + bad + "\""),
                testing::HasSubstr("is no SHA-256"));
  }
}

// Checkpoints and bundles from before there were libraries hold these bytes.
TEST(Schema, OfFoxhuntsOwnColumnsKeepsItsBytes) {
  const Schema schema = two_columns();
  EXPECT_EQ(
      schema.to_json(),
      R"([{"name":"ret_1","unit":"standard deviations","warm_up":61,)"
      R"("help":"a \"quoted\" help"},{"name":"range","unit":"ticks","warm_up":1,"help":""}])");
  EXPECT_EQ(schema.hash(), "800641a94977e310815e9da9b7e7458e78ea0937b242c03bda09845cb7f6240c");
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
