#include "foxhunt/train/book_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

constexpr Price kTick{250'000'000};

struct Mids {
  std::vector<Price> mid;
  std::vector<UnixNanos> at;
  LabelBars bars() const { return {.close = mid, .available_at = at, .tick = kTick}; }
};

Mids random_mids(std::size_t n) {
  Rng rng(9);
  Mids mids;
  std::int64_t half = 9600;  // half ticks
  for (std::size_t i = 0; i < n; ++i) {
    half += static_cast<std::int64_t>(rng.below(5)) - 2;
    mids.mid.push_back(rng.below(20) == 0 ? Price::null() : Price{half * kTick.nano / 2});
    mids.at.push_back(from_nanos(static_cast<std::int64_t>(i * i)));
  }
  return mids;
}

TEST(MidLabels, EqualBruteForce) {
  const Mids mids = random_mids(2000);
  const Labels labels = make_mid_labels(mids.bars(), 7, 0.5);
  for (std::size_t t = 0; t < 2000; ++t) {
    const bool valid = t + 7 < 2000 && !mids.mid[t].is_null() && !mids.mid[t + 7].is_null();
    ASSERT_EQ(labels.valid[t], valid) << t;
    if (!valid) {
      ASSERT_EQ(labels.classes[t], kNoClass);
      ASSERT_TRUE(is_null(labels.end[t]));
      continue;
    }
    const double ticks = (mids.mid[t + 7].to_double() - mids.mid[t].to_double()) * 4;
    ASSERT_EQ(labels.value[t], static_cast<float>(ticks));  // half ticks are exact
    ASSERT_EQ(labels.classes[t], ticks > 0.5 ? kUp : ticks < -0.5 ? kDown : kFlat);
    ASSERT_EQ(labels.end[t], mids.at[t + 7]);
    ASSERT_EQ(labels.persistence[t + 7], labels.classes[t]);
  }
}

TEST(MidLabels, Pitfall43AStepIsSeenFromKStepsBeforeIt) {
  Mids mids;
  for (int i = 0; i < 8; ++i) {
    mids.mid.push_back(Price{(i >= 5 ? 101 : 100) * kTick.nano});
    mids.at.push_back(from_nanos(i));
  }
  EXPECT_THAT(make_mid_labels(mids.bars(), 2, 0).classes,
              testing::ElementsAre(kFlat, kFlat, kFlat, kUp, kUp, kFlat, kNoClass, kNoClass));
}

TEST(MidLabels, RefusesWhatIsNoLabel) {
  const Mids mids = random_mids(10);
  EXPECT_THROW(make_mid_labels(mids.bars(), 0, 0), ConfigError);
  EXPECT_THROW(make_mid_labels(mids.bars(), 1, -1), ConfigError);
  LabelBars odd = mids.bars();
  odd.available_at = odd.available_at.first(9);
  EXPECT_THROW(make_mid_labels(odd, 1, 0), ShapeError);
}

}  // namespace
}  // namespace foxhunt::train
