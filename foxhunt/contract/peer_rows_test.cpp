#include "foxhunt/contract/peer_rows.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/contract/preset.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/features/pipeline.h"

namespace foxhunt::contract {
namespace {

TEST(PeerRows, AreScaledRowsAndTheEnginesAnswersToThem) {
  const bundle::Bundle bundle = preset_bundle("default_hft", 1, 1000);
  const auto json = nlohmann::json::parse(peer_rows_json(bundle, 70));
  ASSERT_EQ(json["features"].size(), 70U);
  ASSERT_EQ(json["answers"].size(), 70U);
  engine::Session session(engine::Plan::build(bundle));
  features::FeaturePipeline pipeline(bundle.context.features,
                                     market::Calendar::for_product(bundle.context.product),
                                     market::contract_for_product(bundle.context.product));
  std::vector<float> row(14);
  std::vector<float> out(3);
  std::size_t at = 0;
  for (const market::Bar& bar : bundle.golden.bars) {
    if (at == 70 || pipeline.push(bar, row).status != features::Status::kReady) continue;
    session.step(row, out);
    bundle.context.normalizer.apply(row, row);
    ASSERT_EQ(json["features"][at].get<std::vector<float>>(), row) << at;
    ASSERT_EQ(json["answers"][at].get<std::vector<float>>(), out) << at;
    ++at;
  }
  EXPECT_EQ(at, 70U);
}

TEST(PeerRows, HaveAsManyAsThereAre) {
  bundle::Bundle bundle = preset_bundle("default_hft", 1, 1000);
  bundle.golden.bars.resize(80);
  EXPECT_LT(nlohmann::json::parse(peer_rows_json(bundle, 256))["answers"].size(), 80U);
  EXPECT_THROW(peer_rows_json(bundle, 0), UsageError);
}

}  // namespace
}  // namespace foxhunt::contract
