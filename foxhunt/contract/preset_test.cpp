#include "foxhunt/contract/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::contract {
namespace {

TEST(Preset, HasTheSizesItPromises) {
  const bundle::Bundle hft = preset_bundle("default_hft", 1, 1000);
  EXPECT_EQ(model::parameter_count(hft.config, hft.head), 112'755);
  const bundle::Bundle lstm = preset_bundle("lstm_a_size", 1, 1000);
  const std::int64_t size = model::parameter_count(lstm.config, lstm.head);
  EXPECT_EQ(size, 164'669);
  // No two-layer model of its headdim and d_state comes nearer.
  for (std::int64_t d_model = 16; d_model <= 256; d_model += 16) {
    model::Mamba2Config other = lstm.config;
    other.d_model = d_model;
    EXPECT_GE(std::abs(model::parameter_count(other, lstm.head) - 160'901), size - 160'901);
  }
}

TEST(Preset, IsTheSameFromTheSameSeedAlone) {
  const auto bytes = [](std::uint64_t seed) {
    return bundle::bundle_bytes(preset_bundle("default_hft", seed, 1000), "preset");
  };
  const std::string one = bytes(1);
  EXPECT_EQ(one, bytes(1));
  EXPECT_NE(one, bytes(2));
  const bundle::Bundle a = preset_bundle("default_hft", 1, 1000);
  const bundle::Bundle b = preset_bundle("default_hft", 2, 1000);
  for (const auto& [name, values] : a.weights) EXPECT_NE(values, b.weights.at(name)) << name;
  EXPECT_NE(a.golden.bars.back().close, b.golden.bars.back().close);
}

TEST(Preset, AnswersWithinTheBoundOfEveryForm) {
  for (const std::string& name : preset_names()) {
    const bundle::Bundle bundle = preset_bundle(name);
    EXPECT_GT(std::ranges::count(bundle.golden.ready, 1), 1000);
    for (const auto form : {bundle::WeightForm::kF32, bundle::WeightForm::kF16,
                            bundle::WeightForm::kBF16, bundle::WeightForm::kI8}) {
      const engine::VerifyReport report =
          engine::verify(engine::Plan::build(bundle, {.form = form}));
      EXPECT_TRUE(report.ok) << name << " " << bundle::to_string(form) << ": " << report.what;
    }
  }
}

TEST(Preset, RefusesOtherNamesAndTooFewRecords) {
  EXPECT_THROW(preset_bundle("default_hfT"), UsageError);
  EXPECT_THROW(preset_bundle("default_hft", 1, 999), UsageError);
}

}  // namespace
}  // namespace foxhunt::contract
