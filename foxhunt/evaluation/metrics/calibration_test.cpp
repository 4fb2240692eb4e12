#include "foxhunt/evaluation/metrics/calibration.h"

#include <gtest/gtest.h>

#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::evaluation {
namespace {

std::vector<std::size_t> rows_of(const CalibrationBins& bins) {
  std::vector<std::size_t> rows(bins.size());
  for (const auto b : bins.bin_of_row()) ++rows[b];
  return rows;
}

TEST(CalibrationBins, ShareDistinctRowsEquallyAndAscend) {
  std::vector<double> p(100);
  for (std::size_t i = 0; i < 100; ++i) p[i] = static_cast<double>(i * 37 % 100) / 100;
  const CalibrationBins bins(p, 10);
  EXPECT_EQ(rows_of(bins), std::vector<std::size_t>(10, 10));
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_EQ(bins.bin_of_row()[i], static_cast<std::size_t>(p[i] * 10 + 1e-9)) << p[i];
  }
}

TEST(CalibrationBins, KeepEqualPredictionsTogether) {
  // Half of the rows share one value in the middle; what lies around it still shares the other
  // bins.
  std::vector<double> p(100, 0.5);
  for (std::size_t i = 0; i < 25; ++i) {
    p[i] = 0.1 + 0.001 * static_cast<double>(i);
    p[75 + i] = 0.9 + 0.001 * static_cast<double>(i);
  }
  const CalibrationBins bins(p, 4);
  EXPECT_EQ(rows_of(bins), (std::vector<std::size_t>{25, 50, 25}));

  const CalibrationBins one(std::vector<double>(30, 0.4), 10);
  EXPECT_EQ(rows_of(one), std::vector<std::size_t>{30});
  EXPECT_EQ(CalibrationBins({}, 10).size(), 0U);
  EXPECT_EQ(rows_of(CalibrationBins(std::vector<double>{0.2, 0.3}, 10)),
            (std::vector<std::size_t>{1, 1}));
}

TEST(Calibrate, OfAWorkedExample) {
  const std::vector<double> p{0.1, 0.3, 0.8, 1.0};
  const std::vector<std::uint8_t> occurred{0, 1, 1, 1};
  const ClassCalibration c = calibrate(CalibrationBins(p, 2), p, occurred);
  ASSERT_EQ(c.bins.size(), 2U);
  EXPECT_EQ(c.bins[0].rows, 2);
  EXPECT_DOUBLE_EQ(*c.bins[0].predicted, 0.2);
  EXPECT_DOUBLE_EQ(*c.bins[0].observed, 0.5);
  EXPECT_DOUBLE_EQ(*c.bins[1].predicted, 0.9);
  EXPECT_DOUBLE_EQ(*c.bins[1].observed, 1.0);
  EXPECT_DOUBLE_EQ(*c.ece, 0.5 * 0.3 + 0.5 * 0.1);
}

TEST(Calibrate, UnderWeightsCountsRowsAndEmptiesBins) {
  const std::vector<double> p{0.1, 0.3, 0.8, 1.0};
  const std::vector<std::uint8_t> occurred{0, 1, 1, 1};
  const CalibrationBins bins(p, 2);
  const ClassCalibration c = calibrate(bins, p, occurred, std::vector<double>{3, 1, 0, 0});
  EXPECT_EQ(c.bins[0].rows, 4);
  EXPECT_DOUBLE_EQ(*c.bins[0].observed, 0.25);
  EXPECT_STREQ(c.bins[1].observed.reason(), "no rows in the bin");
  EXPECT_NEAR(*c.ece, 0.1, 1e-15);  // |0.15 - 0.25|
  EXPECT_STREQ(calibrate(CalibrationBins({}, 5), {}, {}).ece.reason(), "no rows");
}

TEST(Calibrate, TrustsHonestProbabilitiesAndNotInflatedOnes) {
  Rng rng(5);
  std::vector<double> honest;
  std::vector<double> inflated;
  std::vector<std::uint8_t> occurred;
  for (int i = 0; i < 20'000; ++i) {
    const double p = rng.uniform(0.2, 0.6);
    honest.push_back(p);
    inflated.push_back(p + 0.1);
    occurred.push_back(rng.uniform() < p ? 1 : 0);
  }
  // 2,000 rows a bin: the mean of ten |error|s of sd sqrt(0.24 / 2000) = 0.011 is about 0.009.
  EXPECT_LT(*calibrate(CalibrationBins(honest, 10), honest, occurred).ece, 0.02);
  EXPECT_NEAR(*calibrate(CalibrationBins(inflated, 10), inflated, occurred).ece, 0.1, 0.01);
}

}  // namespace
}  // namespace foxhunt::evaluation
