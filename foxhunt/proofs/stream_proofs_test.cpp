// Each proof on the real source, which must pass, and on sources with one fault, which must not.
#include "foxhunt/proofs/stream_proofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "foxhunt/proofs/points.h"
#include "foxhunt/proofs/poison.h"
#include "foxhunt/proofs/serving_proof.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;
using test::Tampered;
using testing::HasSubstr;

std::size_t column(const Series& series, const std::string& name) {
  const auto found = std::ranges::find(series.schema.columns, name, &features::Column::name);
  return static_cast<std::size_t>(found - series.schema.columns.begin());
}

TEST(Poison, LeavesThePastAndChangesTheNextBar) {
  const auto bars = test::small_ground().bars;
  Rng rng(1);
  const auto same = [](const Bar& a, const Bar& b) {
    return a.start == b.start && a.span == b.span && a.open == b.open && a.high == b.high &&
           a.low == b.low && a.close == b.close && a.volume == b.volume &&
           a.instrument == b.instrument;
  };
  for (const Poison poison : kPoisons) {
    for (const std::size_t last : {std::size_t{0}, std::size_t{700}, bars.size() - 2}) {
      const std::vector<Bar> other = with_other_future(bars, last, poison, rng);
      ASSERT_GT(other.size(), last) << name_of(poison);
      EXPECT_TRUE(std::equal(bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                             other.begin(), same))
          << name_of(poison);
      EXPECT_TRUE(other.size() == last + 1 || !same(other[last + 1], bars[last + 1]))
          << name_of(poison);
    }
  }
}

TEST(Points, HoldEndsAndBeginningsOfSessionsAndEdgesOfTheWarmUp) {
  const auto bars = test::small_ground().bars;
  const Entries rows = test::sample_source().run(bars).front();
  Rng rng(2);
  const auto points = choose_points(bars, rows, 40, rng);
  EXPECT_EQ(points.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(points));
  EXPECT_LT(points.back(), bars.size() - 1);
  const auto is_end = [&](std::size_t i) { return bars[i + 1].start != bars[i].end(); };
  EXPECT_GE(std::ranges::count_if(points, is_end), 2);
  EXPECT_GE(std::ranges::count_if(points, [&](std::size_t i) { return i > 0 && is_end(i - 1); }),
            2);
  const std::set<UnixNanos> decided(rows.decided_at.begin(), rows.decided_at.end());
  const auto is_edge = [&](std::size_t i) {
    return i > 0 && decided.contains(bars[i].end()) && !decided.contains(bars[i - 1].end());
  };
  EXPECT_GE(std::ranges::count_if(points, is_edge), 1);
  Rng again(2);
  EXPECT_EQ(choose_points(bars, rows, 40, again), points);
}

TEST(StreamProofs, RowsAndLabelsOfTrainingHold) {
  const Ground ground = test::small_ground();
  for (const auto prove :
       {prove_future_poisoning, prove_prefix_invariance, prove_batch_is_stream, prove_warm_up}) {
    const Verdict verdict = prove(test::sample_source(), ground);
    EXPECT_TRUE(verdict.holds()) << verdict.name << ": " << verdict.first->text();
    EXPECT_GE(verdict.tries, 12) << verdict.name;
    EXPECT_GT(verdict.compared, 100) << verdict.name;
    EXPECT_TRUE(verdict.notes.empty()) << verdict.name << ": " << verdict.notes.front();
  }
  const Verdict serving = prove_training_is_serving(test::sample_source(), ground);
  EXPECT_TRUE(serving.holds()) << serving.first->text();
  EXPECT_EQ(serving.tries, 12);
}

/// Column `name` says what it will say `ahead` rows later.
Tampered shifted(const std::string& name, std::size_t ahead) {
  return Tampered([name, ahead](std::vector<Entries>& out, std::span<const Bar>) {
    const Series& series = test::sample_source().series().front();
    const std::size_t width = series.width();
    const std::size_t c = column(series, name);
    Entries& rows = out.front();
    for (std::size_t t = 0; t + ahead < rows.size(); ++t)
      rows.values[t * width + c] = rows.values[(t + ahead) * width + c];
  });
}

TEST(StreamProofs, AColumnOneRowAheadIsNamed) {
  for (const char* name : {"ret_1", "volume", "vol_60", "persistence"}) {
    const Verdict verdict = prove_future_poisoning(shifted(name, 1), test::small_ground());
    ASSERT_FALSE(verdict.holds()) << name;
    EXPECT_EQ(verdict.first->column, "features." + std::string(name));
    EXPECT_LE(verdict.first->at, verdict.first->t);
    EXPECT_NE(verdict.first->before, verdict.first->after);
    EXPECT_FALSE(prove_prefix_invariance(shifted(name, 1), test::small_ground()).holds()) << name;
  }
}

TEST(StreamProofs, ALabelThatIsKnownLaterThanItSaysIsCaught) {
  const Tampered source([](std::vector<Entries>& out, std::span<const Bar>) {
    for (UnixNanos& end : out[1].known_at) end -= std::chrono::minutes{1};
  });
  const Verdict verdict = prove_future_poisoning(source, test::small_ground());
  ASSERT_FALSE(verdict.holds());
  EXPECT_THAT(verdict.first->column, HasSubstr("label"));
}

TEST(StreamProofs, RowsThatAreLeftOutForWhatComesLaterAreCaught) {
  // The last row of all is dropped: whether a row is there tells that something follows.
  const Tampered source([](std::vector<Entries>& out, std::span<const Bar>) {
    Entries& rows = out.front();
    if (rows.size() == 0) return;
    rows.decided_at.pop_back();
    rows.known_at.pop_back();
    rows.values.resize(rows.size() * test::sample_source().series().front().width());
  });
  EXPECT_FALSE(prove_future_poisoning(source, test::small_ground()).holds());
  const Verdict verdict = prove_prefix_invariance(source, test::small_ground());
  ASSERT_FALSE(verdict.holds());
  EXPECT_EQ(verdict.first->after, "absent");
}

void declare(std::vector<Series>& series, const char* name, std::int64_t warm_up) {
  series.front().schema.columns[column(series.front(), name)].warm_up = warm_up;
}

TEST(StreamProofs, AWarmUpDeclaredOneBarTooShortIsCaught) {
  for (const auto& [name, warm_up] :
       {std::pair{"ret_1", 60}, std::pair{"vol_15", 15}, std::pair{"volume", 60}}) {
    const Tampered source({}, [&](auto& series) { declare(series, name, warm_up); });
    const Verdict verdict = prove_warm_up(source, test::small_ground());
    ASSERT_FALSE(verdict.holds()) << name;
    EXPECT_EQ(verdict.first->column, "features." + std::string(name));
  }
}

TEST(StreamProofs, AWarmUpLongerThanNeededIsNotedAndNoLeak) {
  const Tampered source({}, [&](auto& series) { declare(series, "vol_15", 20); });
  const Verdict verdict = prove_warm_up(source, test::small_ground());
  EXPECT_TRUE(verdict.holds());
  ASSERT_EQ(verdict.notes.size(), 1U);
  EXPECT_THAT(verdict.notes.front(), HasSubstr("features.vol_15 declares a warm-up of 20"));
}

TEST(StreamProofs, AStreamThatRemembersItsBeginningIsCaught) {
  const Tampered source([](std::vector<Entries>& out, std::span<const Bar> bars) {
    const std::size_t width = test::sample_source().series().front().width();
    for (std::size_t t = 0; t < out.front().size(); ++t)
      out.front().values[t * width] += static_cast<float>(bars.front().close.nano % 7);
  });
  EXPECT_TRUE(prove_future_poisoning(source, test::small_ground()).holds());
  EXPECT_FALSE(prove_batch_is_stream(source, test::small_ground()).holds());
}

}  // namespace
}  // namespace foxhunt::proofs
