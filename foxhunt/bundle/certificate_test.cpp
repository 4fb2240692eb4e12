#include "foxhunt/bundle/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::bundle {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Certificate sample() {
  return {.parity = {.rows = 4000,
                     .warm_up_rows = 61,
                     .sequences = 3,
                     .largest_output = 2.5,
                     .max_difference = 3.1e-7,
                     .mean_difference = 0.1e-7,
                     .decision_flips = 1},
          .bound = bound_of(WeightForm::kF32),
          .kernels = "avx2",
          .reference = "LibTorch, cpu, float32",
          .cpu = "a \"quoted\" name",
          .data = "es.dbn.zst"};
}

std::string message(const std::string& text) {
  try {
    Certificate::from_json(text, "es.fox: foxhunt.certificate");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

std::string changed(const char* key, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(sample().to_json());
  json[key] = value;
  return json.dump();
}

TEST(Certificate, ReadsBackEveryFieldBitForBit) {
  Rng rng(11);
  for (int i = 0; i < 200; ++i) {
    Certificate c = sample();
    c.parity.max_difference = std::exp(rng.uniform(-40.0, 3.0));
    c.parity.mean_difference = c.parity.max_difference * rng.uniform();
    c.parity.largest_output = std::exp(rng.uniform(-300.0, 300.0));
    c.bound.difference = rng.uniform() * 1e-300;
    c.parity.rows = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(i);
    const Certificate back = Certificate::from_json(c.to_json(), "test");
    const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
    EXPECT_EQ(bits(back.parity.max_difference), bits(c.parity.max_difference));
    EXPECT_EQ(bits(back.parity.mean_difference), bits(c.parity.mean_difference));
    EXPECT_EQ(bits(back.parity.largest_output), bits(c.parity.largest_output));
    EXPECT_EQ(bits(back.bound.difference), bits(c.bound.difference));
    EXPECT_EQ(bits(back.bound.flip_rate), bits(c.bound.flip_rate));
    EXPECT_EQ(back.parity.rows, c.parity.rows);
    EXPECT_EQ(back.parity.warm_up_rows, 61);
    EXPECT_EQ(back.parity.sequences, 3);
    EXPECT_EQ(back.parity.decision_flips, 1);
    EXPECT_EQ(back.kernels, c.kernels);
    EXPECT_EQ(back.reference, c.reference);
    EXPECT_EQ(back.cpu, c.cpu);
    EXPECT_EQ(back.data, c.data);
    EXPECT_EQ(back.to_json(), c.to_json());
  }
}

TEST(Certificate, NeedsEveryKeyAndNoOther) {
  const auto json = nlohmann::json::parse(sample().to_json());
  EXPECT_EQ(json.size(), 13U);
  for (const auto& item : json.items()) {
    auto without = json;
    without.erase(item.key());
    EXPECT_THAT(message(without.dump()), HasSubstr("'" + item.key() + "' is missing"));
    EXPECT_NE(message(changed(item.key().c_str(), nullptr)), "no error") << item.key();
  }
  EXPECT_THAT(message(changed("signature", "x")), HasSubstr("'signature' is unknown"));
  for (const char* text : {"", "{", "[]", "null", "7"}) EXPECT_NE(message(text), "no error");
}

TEST(Certificate, NamesValuesThatCannotBe) {
  EXPECT_THAT(message(changed("rows", -1)),
              HasSubstr("es.fox: foxhunt.certificate: rows = -1 is outside"));
  EXPECT_THAT(message(changed("max_difference", -1e-9)), HasSubstr("max_difference"));
  EXPECT_THAT(message(changed("largest_output", "inf")), HasSubstr("largest_output"));
  EXPECT_THAT(message(changed("bound_flip_rate", 1.5)), HasSubstr("bound_flip_rate"));
  EXPECT_THAT(message(changed("decision_flips", 4001)), HasSubstr("more than rows = 4000"));
  EXPECT_THAT(message(changed("mean_difference", 1.0)), HasSubstr("above max_difference"));
  EXPECT_THAT(message(changed("rows", 1.5)), HasSubstr("'rows' has the value 1.5"));
  EXPECT_THAT(message(changed("cpu", 5)), HasSubstr("'cpu'"));
  Certificate bad = sample();
  bad.parity.max_difference = kNan;
  EXPECT_THAT(message(bad.to_json()), HasSubstr("max_difference"));
}

TEST(Parity, MeetsABoundUpToItAndNoFurther) {
  const ParityBound bound{.difference = 1e-5, .flip_rate = 0.001};
  Parity p = sample().parity;
  p.max_difference = 1e-5;
  p.decision_flips = 4;  // of 4000
  EXPECT_TRUE(p.meets(bound));
  p.max_difference = std::nextafter(1e-5, 1.0);
  EXPECT_FALSE(p.meets(bound));
  p.max_difference = 1e-5;
  p.decision_flips = 5;
  EXPECT_FALSE(p.meets(bound));
}

TEST(Parity, NeverMeetsWithoutRowsOrWithWhatIsNoNumber) {
  const ParityBound bound{.difference = 1.0, .flip_rate = 1.0};
  EXPECT_TRUE(sample().parity.meets(bound));
  Parity p = sample().parity;
  p.rows = 0;
  p.decision_flips = 0;
  EXPECT_FALSE(p.meets(bound)) << "nothing was compared";
  for (double Parity::*field :
       {&Parity::max_difference, &Parity::mean_difference, &Parity::largest_output}) {
    for (const double value : {kNan, kInf, -kInf}) {
      p = sample().parity;
      p.*field = value;
      EXPECT_FALSE(p.meets(bound)) << value;
    }
  }
  EXPECT_FALSE(sample().parity.meets({.difference = kNan, .flip_rate = 1.0}));
  EXPECT_FALSE(sample().parity.meets({.difference = 1.0, .flip_rate = kNan}));
}

TEST(Parity, BoundsWidenWithNarrowerWeights) {
  double last = 0;
  double last_flips = 0;
  for (const WeightForm form :
       {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8}) {
    const ParityBound bound = bound_of(form);
    EXPECT_GT(bound.difference, last) << to_string(form);
    EXPECT_GT(bound.flip_rate, last_flips) << to_string(form);
    last = bound.difference;
    last_flips = bound.flip_rate;
  }
  EXPECT_EQ(bound_of(WeightForm::kF32).difference, 1e-5) << "what the project promises";
}

}  // namespace
}  // namespace foxhunt::bundle
