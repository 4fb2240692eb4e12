#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Mamba2Config, PresetsAreValidAndHaveTheirDocumentedSizes) {
  const Mamba2Config hft = Mamba2Config::default_hft();
  EXPECT_THAT(hft.errors(), IsEmpty());
  EXPECT_EQ(hft.d_model, 64);
  EXPECT_EQ(hft.n_layer, 4);
  EXPECT_EQ(hft.n_heads(), 4);
  EXPECT_EQ(hft.conv_channels(), 128 + 2 * 16);
  EXPECT_EQ(hft.in_proj_width(), 2 * 128 + 2 * 16 + 4);
  const Mamba2Config standard = Mamba2Config::standard();
  EXPECT_THAT(standard.errors(), IsEmpty());
  EXPECT_EQ(standard.d_model, 256);
  EXPECT_EQ(standard.n_layer, 6);
  EXPECT_EQ(standard.d_state, 64);
  EXPECT_EQ(standard.n_heads(), 8);
}

TEST(Mamba2Config, NamesAHeadSizeThatDoesNotDivide) {
  Mamba2Config config;
  config.headdim = 48;
  EXPECT_THAT(config.errors(),
              ElementsAre("headdim = 48 does not divide expand * d_model = 2 * 64 = 128"));
}

TEST(Mamba2Config, NamesGroupsThatDoNotDivideTheHeads) {
  Mamba2Config config;
  config.ngroups = 3;
  EXPECT_THAT(config.errors(),
              ElementsAre("ngroups = 3 does not divide the 4 heads (expand * d_model / headdim)"));
}

TEST(Mamba2Config, ListsEveryBrokenRuleAtOnce) {
  Mamba2Config config;
  config.d_state = 0;
  config.ngroups = 3;
  config.dt_limit_min = 0.5;
  config.dt_limit_max = 0.1;
  config.dt_init_min = 0.2;
  config.a_init_min = 20.0;
  config.norm_eps = std::nan("");
  try {
    config.validate();
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"d_state = 0", "ngroups = 3", "dt_limit_min = 0.5 is above dt_limit_max = 0.1",
          "dt_init_min = 0.2 is above dt_init_max = 0.1", "a_init_min = 20 is above", "norm_eps"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
}

TEST(Mamba2Config, RefusesLimitsThatLeaveNothing) {
  Mamba2Config config;
  config.dt_limit_max = 0.0;
  EXPECT_THAT(config.errors(), ElementsAre(HasSubstr("dt_limit_max = 0")));
  config.dt_limit_max = std::numeric_limits<double>::infinity();
  config.dt_limit_min = std::numeric_limits<double>::infinity();
  EXPECT_THAT(config.errors(), ElementsAre(HasSubstr("must be finite")));
}

TEST(Mamba2Config, SurvivesSizesThatWouldOverflow) {
  Mamba2Config config;
  config.d_model = std::numeric_limits<std::int64_t>::max();
  config.expand = std::numeric_limits<std::int64_t>::max();
  config.headdim = 0;
  config.ngroups = -1;
  EXPECT_EQ(config.errors().size(), 4U);
}

TEST(HeadConfig, CountsOutputsByKind) {
  HeadConfig head;
  EXPECT_EQ(head.n_outputs(), 3);
  head.kind = HeadKind::kRegression;
  EXPECT_EQ(head.n_outputs(), 1);
  head.kind = HeadKind::kQuantiles;
  head.quantiles = {0.05, 0.25, 0.5, 0.95};
  EXPECT_EQ(head.n_outputs(), 4);
  head.kind = HeadKind::kTokens;
  EXPECT_EQ(head.n_outputs(), head.n_features);
}

TEST(HeadConfig, WantsRisingQuantilesInsideTheUnitInterval) {
  HeadConfig head;
  head.kind = HeadKind::kQuantiles;
  head.quantiles = {};
  EXPECT_THAT(head.errors(), ElementsAre(HasSubstr("is empty")));
  head.quantiles = {0.0, 0.5};
  EXPECT_THAT(head.errors(), ElementsAre(HasSubstr("must lie inside (0, 1)")));
  head.quantiles = {0.5, 0.5};
  EXPECT_THAT(head.errors(), ElementsAre("quantiles must rise, but 0.5 follows 0.5"));
  head.quantiles = {0.5, std::nan("")};
  EXPECT_THROW(head.validate(), ConfigError);
  head.kind = HeadKind::kRegression;
  head.quantiles = {0.9, 0.1};  // not looked at
  EXPECT_NO_THROW(head.validate());
}

}  // namespace
}  // namespace foxhunt::model
