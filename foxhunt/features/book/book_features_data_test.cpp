// Rows of a real day.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "foxhunt/features/book/book_features.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::features {
namespace {

TEST(BookFeaturesOnEs, GiveARowForEveryEventBehindTheOpen) {
  const char* shared = std::getenv("FOXHUNT_SHARED");  // NOLINT(concurrency-mt-unsafe)
  const auto path = std::filesystem::path(shared == nullptr ? "" : shared) /
                    "data/futures/es-mbo/esh4-glbx-mdp3-20231225.mbo.dbn.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no esh4 MBO file below FOXHUNT_SHARED";
  const auto reader = market::open_reader(path);
  const market::Record* record = reader->next();
  ASSERT_NE(record, nullptr);
  BookFeatures features(BookFeatureConfig{}, Price{250'000'000},
                        market::Calendar::for_product("ES"), market::instrument_of(*record));
  std::vector<float> row(static_cast<std::size_t>(features.width()));
  for (; record != nullptr; record = reader->next()) {
    const auto* order = std::get_if<market::OrderEvent>(record);
    ASSERT_NE(order, nullptr);
    if (features.push(*order, row).status != BookStatus::kReady) continue;
    for (const float value : row) ASSERT_TRUE(std::isfinite(value));
    ASSERT_GE(row[0], 1.0F);
    ASSERT_LE(std::abs(row[2]), 1.0F);
  }
  const BookRows& rows = features.rows();
  EXPECT_EQ(rows.sequences(), 1);
  EXPECT_EQ(rows.count(BookStatus::kWarmingUp) + rows.count(BookStatus::kCrossed), 1000)
      << "the session opens at 23:00 and its first 1000 views warm up";
  EXPECT_GT(rows.count(BookStatus::kClosed), 900) << "the auction before the open";
  EXPECT_EQ(rows.count(BookStatus::kBadValue), 0);
  EXPECT_EQ(rows.count(BookStatus::kReady) + rows.count(BookStatus::kClosed) + 1000 +
                rows.count(BookStatus::kNoBook),
            47'022);
}

}  // namespace
}  // namespace foxhunt::features
