#include "foxhunt/model/model_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::model {
namespace {

using testing::HasSubstr;

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ModelMetadata, RoundTripsEveryFieldBitForBit) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    Mamba2Config config;
    config.d_state = 1 + static_cast<std::int64_t>(rng.below(100));
    config.dt_limit_min = rng.uniform() * 1e-6;
    config.dt_limit_max =
        i % 2 == 0 ? std::numeric_limits<double>::infinity() : 1.0 + rng.uniform();
    config.norm_eps = std::exp(rng.uniform(-20.0, -1.0));
    config.gate_norm = static_cast<GateNorm>(rng.below(3));
    config.has_d = i % 3 == 0;
    HeadConfig head;
    head.kind = static_cast<HeadKind>(rng.below(4));
    head.quantiles = {rng.uniform() * 0.4 + 1e-3, 0.5 + 0.4 * rng.uniform()};
    head.tied = i % 2 == 0;
    const ModelMeta read = read_model_metadata(model_metadata(config, head), "test");
    EXPECT_EQ(read.config, config);
    EXPECT_EQ(read.head, head);
  }
}

TEST(ModelMetadata, NamesWhatIsMissingUnknownOrOfTheWrongType) {
  auto metadata = model_metadata({}, {});
  metadata["foxhunt.head"] =
      R"({"kind":"ranking","n_features":1.5,"n_classes":3,"quantiles":[0.5],"colour":1})";
  const std::string text =
      message_of([&] { read_model_metadata(metadata, "weights.safetensors"); });
  EXPECT_THAT(text, HasSubstr("weights.safetensors: foxhunt.head: "));
  EXPECT_THAT(text, HasSubstr("'kind' has the value \"ranking\""));
  EXPECT_THAT(text, HasSubstr("'n_features' has the value 1.5"));
  EXPECT_THAT(text, HasSubstr("'tied' is missing"));
  EXPECT_THAT(text, HasSubstr("'colour' is unknown"));
}

TEST(ModelMetadata, RefusesOtherArchitecturesAndNewerVersions) {
  auto metadata = model_metadata({}, {});
  metadata["foxhunt.model"] = "tft";
  EXPECT_THAT(message_of([&] { read_model_metadata(metadata, "f"); }),
              HasSubstr("holds a 'tft' model"));
  metadata = model_metadata({}, {});
  metadata["foxhunt.model_version"] = "2";
  EXPECT_THAT(message_of([&] { read_model_metadata(metadata, "f"); }), HasSubstr("version '2'"));
  metadata.erase("foxhunt.model_version");
  EXPECT_THAT(message_of([&] { read_model_metadata(metadata, "f"); }),
              HasSubstr("has no 'foxhunt.model_version'"));
}

TEST(ModelMetadata, RefusesTextThatIsNoObjectAndNumbersThatDoNotFit) {
  for (const char* text : {"", "[]", "{", "null", "{\"d_model\": 99999999999999999999}"}) {
    auto metadata = model_metadata({}, {});
    metadata["foxhunt.mamba2"] = text;
    EXPECT_THROW(read_model_metadata(metadata, "f"), FormatError) << text;
  }
}

TEST(ModelMetadata, RefusesKeysThatComeTwiceAndDepth) {
  const auto refusal = [](const std::string& head) {
    auto metadata = model_metadata({}, {});
    metadata["foxhunt.head"] = head;
    return message_of([&] { read_model_metadata(metadata, "f"); });
  };
  const std::string good = model_metadata({}, {}).at("foxhunt.head");
  EXPECT_EQ(refusal(good), "no error");
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1) + R"(,"n_classes":2})"),
              HasSubstr("f: foxhunt.head: has the key 'n_classes' twice"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(refusal("{\"kind\":" + deep + "}"), HasSubstr("nests deeper"));
}

TEST(ModelMetadata, HoldsConfigsToTheirRules) {
  Mamba2Config broken;
  broken.headdim = 48;
  EXPECT_THROW(read_model_metadata(model_metadata(broken, {}), "f"), ConfigError);
}

}  // namespace
}  // namespace foxhunt::model
