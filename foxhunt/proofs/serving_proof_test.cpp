// A served stream that is not what training made is caught: another setting, another market, other
// settings behind a restart.
#include "foxhunt/proofs/serving_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;
using testing::HasSubstr;

/// Trains as the sample does and serves what `serve` makes, at the n-th call.
class ServedOtherwise {
 public:
  using Serve = std::function<features::RowPipeline(int)>;
  explicit ServedOtherwise(Serve serve) : serve_(std::move(serve)) {}
  const std::vector<Series>& series() const { return test::sample_source().series(); }
  std::vector<Entries> run(std::span<const Bar> bars) const {
    return test::sample_source().run(bars);
  }
  features::RowPipeline pipeline() const { return serve_(calls_++); }

 private:
  Serve serve_;
  mutable int calls_ = 0;
};

features::RowPipeline pipeline_of(const features::FeatureConfig& config,
                                  const char* product = "ES") {
  return {config, std::nullopt, market::Calendar::for_product(product),
          market::contract_for_product(product)};
}

Verdict serve(ServedOtherwise::Serve serve, const std::set<std::size_t>& cuts = {}) {
  return serve_and_compare(ServedOtherwise(std::move(serve)), test::small_ground().bars, cuts);
}

TEST(ServingProof, TheSameSettingsHoldWhereverTheStreamIsCutOff) {
  const Verdict verdict = serve([](int) { return pipeline_of({}); }, {0, 1, 500, 501, 2999});
  EXPECT_TRUE(verdict.holds()) << verdict.first->text();
  EXPECT_EQ(verdict.tries, 5);
  EXPECT_GT(verdict.compared, 20'000);
}

TEST(ServingProof, AnotherSettingIsCaughtAtItsColumn) {
  features::FeatureConfig volume;
  volume.volume_span = 59;
  const Verdict by_volume = serve([&](int) { return pipeline_of(volume); });
  ASSERT_FALSE(by_volume.holds());
  EXPECT_EQ(by_volume.first->column, "features.volume");
  EXPECT_THAT(by_volume.first->text(), HasSubstr("the served stream the other"));

  features::FeatureConfig spans;
  spans.return_spans = {1, 5, 15, 59};
  const Verdict by_return = serve([&](int) { return pipeline_of(spans); });
  ASSERT_FALSE(by_return.holds());
  EXPECT_EQ(by_return.first->column, "features.ret_60");
}

TEST(ServingProof, OtherRulesOfSequencesAreCaught) {
  // A hole of the sample inside a session, taken for a break by the one and not by the other.
  features::FeatureConfig short_gap;
  short_gap.max_gap_minutes = 1;
  const Verdict verdict =
      serve_and_compare(ServedOtherwise([&](int) { return pipeline_of(short_gap); }),
                        std::span<const Bar>(test::sample_bars()), std::set<std::size_t>{});
  ASSERT_FALSE(verdict.holds());
  EXPECT_EQ(verdict.first->after, "absent");
}

TEST(ServingProof, TheHoursOfAnotherExchangeAreCaught) {
  const Verdict verdict = serve([](int) { return pipeline_of({}, "6E"); });
  ASSERT_FALSE(verdict.holds());
}

TEST(ServingProof, AnotherSettingBehindARestartIsCaught) {
  // The stream begins as it was trained and goes on otherwise: volume_span is part of what is
  // restored, so the state itself is refused by name.
  features::FeatureConfig volume;
  volume.volume_span = 59;
  EXPECT_THROW(
      serve([&](int call) { return pipeline_of(call == 0 ? features::FeatureConfig{} : volume); },
            {700}),
      FormatError);
}

}  // namespace
}  // namespace foxhunt::proofs
