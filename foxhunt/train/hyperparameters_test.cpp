#include "foxhunt/train/hyperparameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/config/config.h"

namespace foxhunt::train {
namespace {

using testing::Contains;
using testing::HasSubstr;

model::Mamba2Config random_model(Rng& rng) {
  model::Mamba2Config c;
  c.headdim = static_cast<std::int64_t>(1 + rng.below(8));
  c.ngroups = static_cast<std::int64_t>(1 + rng.below(3));
  const auto heads = c.ngroups * static_cast<std::int64_t>(1 + rng.below(4));
  c.expand = 1;
  c.d_model = c.headdim * heads;
  c.d_state = static_cast<std::int64_t>(1 + rng.below(100));
  c.dt_limit_min = rng.uniform(1e-6, 1e-3);
  c.dt_limit_max = rng.below(2) == 0 ? rng.uniform(0.5, 2.0) : INFINITY;
  c.norm_eps = rng.uniform(1e-8, 1e-3);
  c.conv_bias = rng.below(2) == 0;
  c.gate_norm = static_cast<model::GateNorm>(rng.below(3));
  return c;
}

TEST(Hyperparameters, BecomeAModelConfigAndBackWithoutLoss) {
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    const model::Mamba2Config config = random_model(rng);
    const auto hyper = Mamba2Hyperparameters::from_model_config(config);
    EXPECT_TRUE(hyper.to_model_config() == config);
    // Through the text of a run folder too, to the last bit.
    Mamba2Hyperparameters again;
    config::FieldList list = config::fields_of(again);
    config::load_toml_text(list, config::dump(hyper), "dump");
    EXPECT_TRUE(again.to_model_config() == config);
    EXPECT_EQ(config::hash_of(again), config::hash_of(hyper));
  }
}

TEST(Hyperparameters, ListEveryErrorAtOnce) {
  Mamba2Hyperparameters hyper;
  hyper.model.headdim = 48;
  hyper.model.d_state = 0;
  hyper.train.micro_batch = 64;
  hyper.train.a_min = 5;
  hyper.train.a_max = 1;
  hyper.head.kind = HeadChoice::kQuantiles;
  hyper.head.quantiles = {0.9, 0.1, 1.0};
  const std::vector<std::string> errors = hyper.errors();
  EXPECT_THAT(errors, Contains(HasSubstr("headdim")));
  EXPECT_THAT(errors, Contains(HasSubstr("d_state")));
  EXPECT_THAT(errors,
              Contains(HasSubstr("train.micro_batch = 64 is larger than train.batch_size = 32")));
  EXPECT_THAT(errors, Contains(HasSubstr("train.a_min = 5")));
  EXPECT_THAT(errors, Contains(HasSubstr("head.quantiles must increase")));
  EXPECT_THAT(errors, Contains(HasSubstr("must lie inside (0, 1)")));
  EXPECT_THROW(hyper.validate(), ConfigError);
  EXPECT_TRUE(Mamba2Hyperparameters{}.errors().empty());
}

TEST(Hyperparameters, AllowNoStateThatNeverDecaysInFloat32) {
  Mamba2Hyperparameters hyper;
  EXPECT_LT(hyper.spectral_radius_bound(), 1.0);
  // The slowest decay that the limits allow, computed as the model computes it.
  EXPECT_LT(std::exp(-static_cast<float>(hyper.model.dt_limit_min) *
                     static_cast<float>(hyper.train.a_min)),
            1.0F);
  hyper.train.a_min = 1e-3;
  EXPECT_EQ(std::exp(-static_cast<float>(hyper.model.dt_limit_min) *
                     static_cast<float>(hyper.train.a_min)),
            1.0F);
  EXPECT_THAT(hyper.errors(), Contains(HasSubstr("a state would never decay")));
}

}  // namespace
}  // namespace foxhunt::train
