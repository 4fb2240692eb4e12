#include "foxhunt/base/json_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/json.h"

namespace foxhunt {
namespace {

using testing::HasSubstr;

std::string nested(int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += i % 2 == 0 ? "[" : R"({"k":)";
  text += "1";
  for (int i = levels; i-- > 0;) text += i % 2 == 0 ? "]" : "}";
  return text;
}

TEST(JsonProblem, FindsNoneInJson) {
  for (const char* text : {"{}", "[]", "1", R"("a")", "null", R"({"a":{"a":1},"b":[{"a":2}]})",
                           " {\"\\u00e9\":[1e5,-0.0,true]} ", R"({"":0})"}) {
    EXPECT_EQ(json_problem(text), "") << text;
  }
}

TEST(JsonProblem, SaysWhatIsNoJson) {
  for (const char* text : {"", " ", "{", "{}{}", "[1,]", "{a:1}", "'a'", "NaN", "Infinity", "1e999",
                           "\"\xff\xfe\"", "[1] x", "// c\n1"}) {
    EXPECT_THAT(json_problem(text), HasSubstr("is not JSON: ")) << text;
  }
  // What stands behind a NUL would be passed over unseen.
  EXPECT_EQ(json_problem(std::string_view("{}\0", 3)), "is not JSON: byte 2 is NUL");
  EXPECT_EQ(json_problem(std::string_view("[]\0[1", 5)), "is not JSON: byte 2 is NUL");
}

TEST(JsonProblem, RefusesAKeyTwiceInOneObjectAndOnlyThere) {
  EXPECT_EQ(json_problem(R"({"a":1,"b":2,"a":3})"), "has the key 'a' twice");
  EXPECT_EQ(json_problem(R"([{"x":{"a":1,"\u0061":3}}])"), "has the key 'a' twice");
  EXPECT_EQ(json_problem(R"({"a":{"b":1},"b":{"a":1}})"), "");
}

TEST(JsonProblem, RefusesDepthBeforeAnyTreeIsBuilt) {
  EXPECT_EQ(json_problem(nested(kMaxJsonDepth)), "");
  EXPECT_EQ(json_problem(nested(kMaxJsonDepth + 1)), "nests deeper than 64 levels");
  // Printed or copied as a tree, these would overflow the stack.
  EXPECT_EQ(json_problem(std::string(10'000'000, '[')), "nests deeper than 64 levels");
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[],{},";
  EXPECT_EQ(json_problem(wide + "0]"), "");
}

TEST(WholeNumber, IsNeitherCutOffNorWrappedRound) {
  const auto of = [](const char* text) { return whole_number(nlohmann::json::parse(text)); };
  EXPECT_EQ(of("0"), 0);
  EXPECT_EQ(of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(of("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"9223372036854775808", "18446744073709551615", "1.9", "1.0", "1e300",
                           "-1e300", "true", "null", "\"1\"", "[1]"}) {
    EXPECT_EQ(of(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace foxhunt
