#include "foxhunt/features/normalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::features {
namespace {

using testing::HasSubstr;

const UnixNanos kFirst = parse_time("2013-10-07T22:01");
const FitRange kRange{kFirst, kFirst + std::chrono::hours{10}};

UnixNanos minute(std::int64_t i) { return kFirst + std::chrono::minutes{i}; }

Schema schema_of(std::vector<std::string> names) {
  Schema schema;
  for (std::string& name : names) schema.columns.push_back({std::move(name), "unit", 1, ""});
  return schema;
}

/// Fitted on one column.
Normalizer fit(const std::vector<float>& values, double clip = 5) {
  NormalizerFit fit(schema_of({"x"}), kRange);
  for (std::size_t i = 0; i < values.size(); ++i) {
    fit.add(minute(static_cast<std::int64_t>(i)), std::span(&values[i], 1));
  }
  return fit.finish(clip);
}

template <class Exception, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

TEST(Normalizer, HasMedianAndQuartilesInClosedForm) {
  // Of 1..5: median 3, quartiles 2 and 4, so the scale is 2 / 1.349.
  const Normalizer odd = fit({5, 1, 4, 2, 3});
  EXPECT_EQ(odd.columns()[0].center, 3.0F);
  EXPECT_FLOAT_EQ(odd.columns()[0].scale, 2.0F / 1.3489795F);
  EXPECT_EQ(odd.columns()[0].rule, ScaleRule::kIqr);
  // Of 1..4: median 2.5, quartiles 1.75 and 3.25.
  const Normalizer even = fit({4, 1, 3, 2});
  EXPECT_EQ(even.columns()[0].center, 2.5F);
  EXPECT_FLOAT_EQ(even.columns()[0].scale, 1.5F / 1.3489795F);
}

TEST(Normalizer, GivesNormalDataUnitScale) {
  Rng rng(1);
  NormalizerFit fit(schema_of({"x"}), {kFirst, kFirst});
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<float>(7 + 3 * rng.normal());
    fit.add(kFirst, std::span(&value, 1));
  }
  const Normalizer normalizer = fit.finish(5);
  // Standard errors at n = 20,000: median 1.25 * 3 / sqrt n = 0.027; IQR scale 1.17 * 3 / sqrt n =
  // 0.025; five of each.
  EXPECT_NEAR(normalizer.columns()[0].center, 7, 0.13);
  EXPECT_NEAR(normalizer.columns()[0].scale, 3, 0.13);
}

TEST(Normalizer, FallsBackWhereQuartilesAreEqual) {
  // Nine zeros and a 10: the root mean squared distance from the median 0 is sqrt(10).
  const Normalizer deviation = fit({0, 0, 0, 0, 10, 0, 0, 0, 0, 0});
  EXPECT_EQ(deviation.columns()[0].center, 0.0F);
  EXPECT_FLOAT_EQ(deviation.columns()[0].scale, std::sqrt(10.0F));
  EXPECT_EQ(deviation.columns()[0].rule, ScaleRule::kDeviation);
  for (const auto& values : {std::vector<float>{4, 4, 4}, std::vector<float>{4}}) {
    const Normalizer constant = fit(values);
    EXPECT_EQ(constant.columns()[0].rule, ScaleRule::kConstant);
    EXPECT_EQ(constant.columns()[0].scale, 1.0F);
    float out = std::nanf("");
    constant.apply(std::span(values).first(1), std::span(&out, 1));
    EXPECT_EQ(out, 0.0F);
  }
}

TEST(Normalizer, ScalesClipsAndMapsWhatIsNotFinite) {
  const Normalizer normalizer = fit({1, 2, 3, 4, 5}, 2.0);
  const float scale = normalizer.columns()[0].scale;
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> raw{3, 3 + scale, 1000, -1000, inf, -inf, std::nanf("")};
  std::vector<float> out(raw.size(), std::nanf(""));
  EXPECT_EQ(normalizer.apply(raw, out), 3);
  EXPECT_THAT(out, testing::ElementsAre(0, testing::FloatEq(1), 2, -2, 2, -2, 0));
  std::vector<float> in_place = raw;
  normalizer.apply(in_place, in_place);
  EXPECT_EQ(in_place, out);
}

TEST(Normalizer, ScalesEachColumnOfEachRowByItsOwn) {
  NormalizerFit fit(schema_of({"a", "b"}), kRange);
  for (int i = 1; i <= 5; ++i) {
    const std::vector<float> row{static_cast<float>(i), static_cast<float>(100 * i)};
    fit.add(minute(i), row);
  }
  const Normalizer normalizer = fit.finish(5);
  const std::vector<float> raw{4, 400, 2, 200};
  std::vector<float> out(4);
  EXPECT_EQ(normalizer.apply(raw, out), 0);
  EXPECT_FLOAT_EQ(out[0], 1.3489795F / 2);
  EXPECT_FLOAT_EQ(out[1], out[0]);
  EXPECT_FLOAT_EQ(out[2], -out[0]);
  EXPECT_FLOAT_EQ(out[3], -out[0]);
  EXPECT_THROW(normalizer.apply(std::span(raw).first(3), std::span(out).first(3)), ShapeError);
  EXPECT_THROW(normalizer.apply(raw, std::span(out).first(2)), ShapeError);
}

TEST(Normalizer, CarriesTheIntervalItWasFittedOn) {
  const Normalizer normalizer = fit({1, 2, 3});
  EXPECT_EQ(normalizer.fitted_on().first, minute(0));
  EXPECT_EQ(normalizer.fitted_on().last, minute(2));
  EXPECT_EQ(normalizer.fitted_rows(), 3);
}

TEST(Normalizer, RefusesRowsFromOutsideOfTheTrainingInterval) {
  NormalizerFit fit(schema_of({"x"}), kRange);
  const std::vector<float> row{1};
  fit.add(kRange.first, row);
  fit.add(kRange.last, row);
  for (const UnixNanos at :
       {kRange.first - std::chrono::nanoseconds{1}, kRange.last + std::chrono::nanoseconds{1}}) {
    EXPECT_THAT(message_of<ConfigError>([&] { fit.add(at, row); }),
                HasSubstr("may not be fitted on"));
  }
  EXPECT_EQ(fit.finish(5).fitted_rows(), 2);
}

TEST(Normalizer, RefusesRowsItCannotLearnFrom) {
  NormalizerFit fit(schema_of({"a", "b"}), kRange);
  EXPECT_THROW(fit.finish(5), DataError);
  const std::vector<float> nan_row{1, std::nanf("")};
  EXPECT_THAT(message_of<DataError>([&] { fit.add(kFirst, nan_row); }),
              HasSubstr("column 'b' is nan"));
  EXPECT_THROW(fit.add(kFirst, std::span(nan_row).first(1)), ShapeError);
  EXPECT_THROW(fit.finish(5), DataError);  // the refused rows left nothing behind
  fit.add(kFirst, std::vector<float>{1, 2});
  EXPECT_THROW(fit.finish(0), ConfigError);
}

TEST(Normalizer, ReadsBackFromJsonBitForBit) {
  Rng rng(2);
  std::vector<std::string> names(50);
  for (std::size_t i = 0; i < 50; ++i) names[i] = "c" + std::to_string(i);
  NormalizerFit fit(schema_of(names), {kFirst, kFirst + std::chrono::hours{1000}});
  for (int r = 0; r < 30; ++r) {
    std::vector<float> row(50);
    for (float& value : row) value = static_cast<float>(std::exp(10 * rng.normal()) * rng.normal());
    fit.add(kFirst + std::chrono::nanoseconds{rng.below(1'000'000'000'000)}, row);
  }
  const Normalizer normalizer = fit.finish(0.1 + 0.2);
  const Normalizer again = Normalizer::from_json(normalizer.to_json());
  EXPECT_EQ(again.to_json(), normalizer.to_json());
  EXPECT_EQ(again.clip(), normalizer.clip());
  EXPECT_EQ(again.fitted_on().first, normalizer.fitted_on().first);
  EXPECT_EQ(again.fitted_on().last, normalizer.fitted_on().last);
  EXPECT_EQ(again.fitted_rows(), 30);
  EXPECT_EQ(again.schema_hash(), normalizer.schema_hash());
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(again.columns()[i].name, normalizer.columns()[i].name);
    EXPECT_EQ(again.columns()[i].center, normalizer.columns()[i].center);
    EXPECT_EQ(again.columns()[i].scale, normalizer.columns()[i].scale);
    EXPECT_EQ(again.columns()[i].rule, normalizer.columns()[i].rule);
  }
}

TEST(Normalizer, RefusesAnotherSchemaNamingTheColumn) {
  NormalizerFit fit(schema_of({"a", "b"}), kRange);
  fit.add(kFirst, std::vector<float>{1, 2});
  const Normalizer normalizer = fit.finish(5);
  const auto refusal = [&](const Schema& schema) {
    return message_of<ConfigError>([&] { normalizer.require_schema(schema); });
  };
  EXPECT_EQ(refusal(schema_of({"a", "b"})), "");
  EXPECT_THAT(refusal(schema_of({"b", "a"})),
              HasSubstr("column 0 is 'b', but it was fitted on 'a'"));
  EXPECT_THAT(refusal(schema_of({"a"})), HasSubstr("rows have 1 columns, but it was fitted on 2"));
  Schema other_unit = schema_of({"a", "b"});
  other_unit.columns[1].unit = "ticks";
  EXPECT_THAT(refusal(other_unit), HasSubstr("other units"));
}

TEST(Normalizer, RefusesBrokenJsonNamingTheField) {
  const nlohmann::json good = nlohmann::json::parse(fit({1, 2, 3}).to_json());
  const auto refusal = [&good](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = good;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return message_of<FormatError>([&] { Normalizer::from_json(changed.dump()); });
  };
  EXPECT_THAT(refusal("/format", "x-9"), HasSubstr("format 'x-9'"));
  EXPECT_THAT(refusal("/clip", -1), HasSubstr("clip = -1"));
  EXPECT_THAT(refusal("/clip", "five"), HasSubstr("field 'clip'"));
  EXPECT_THAT(refusal("/fitted_on/first", "yesterday"), HasSubstr("field 'first'"));
  EXPECT_THAT(refusal("/fitted_on/last", "2001-01-01"), HasSubstr("no interval"));
  EXPECT_THAT(refusal("/fitted_on/rows", 0), HasSubstr("no interval"));
  for (const nlohmann::json& rows :
       {nlohmann::json(1.5), nlohmann::json(1e300), nlohmann::json(~std::uint64_t{0})}) {
    EXPECT_THAT(refusal("/fitted_on/rows", rows), HasSubstr("field 'rows'")) << rows;
    EXPECT_THAT(refusal("/fitted_on/rows", rows), HasSubstr("is no whole number")) << rows;
  }
  EXPECT_THAT(refusal("/columns/1", good["columns"][0]), HasSubstr("is there twice"));
  EXPECT_THAT(message_of<FormatError>(
                  [] { Normalizer::from_json("{\"columns\":" + std::string(100'000, '[')); }),
              HasSubstr("nests deeper"));
  EXPECT_THAT(message_of<FormatError>([] { Normalizer::from_json(R"({"clip":1,"clip":2})"); }),
              HasSubstr("the key 'clip' twice"));
  EXPECT_THAT(refusal("/columns", 3), HasSubstr("'columns' is not an array"));
  EXPECT_THAT(refusal("/columns/0/scale", 0), HasSubstr("scale = 0"));
  EXPECT_THAT(refusal("/columns/0/center", 1e300), HasSubstr("center is not finite"));
  EXPECT_THAT(refusal("/columns/0/rule", "guess"), HasSubstr("'guess'"));
  EXPECT_THAT(refusal("/columns/0", 5), HasSubstr("field 'name'"));
  for (const char* text : {"", "[]", "{", "{}", "null"}) {
    EXPECT_THROW(Normalizer::from_json(text), FormatError) << text;
  }
}

}  // namespace
}  // namespace foxhunt::features
