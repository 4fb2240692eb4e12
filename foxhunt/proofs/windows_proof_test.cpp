// Windows that see, skip or teach what they must not are caught and named; those of training hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/proofs/fit_proofs.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using test::sample_set;
using testing::HasSubstr;
using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;
using train::Window;

const WindowRules kRules{.windows = {.length = 64, .burn_in = 16},
                         .longest_hole = std::chrono::minutes{30}};

/// The configured split alone.
std::vector<NamedSplit> configured() {
  return {{.name = "configured", .config = test::sample_config().split}};
}

Verdict judge(const Machinery& machinery, const SequenceSet& set = sample_set()) {
  return prove_windows(set, configured(), kRules, machinery);
}

void expect_caught(const Verdict& verdict, const char* why) {
  ASSERT_FALSE(verdict.holds());
  EXPECT_THAT(verdict.first->text(), HasSubstr(why));
  EXPECT_THAT(verdict.first->text(), HasSubstr("configured"));
}

/// The windows of training with something done to them.
template <class Change>
Machinery windows_changed(Change change) {
  return {.training_windows = [change](train::WindowConfig config,
                                       std::span<const Sequence> sequences, const Split& split) {
    std::vector<Window> windows = train::training_windows(config, sequences, split);
    change(windows, sequences, split);
    return windows;
  }};
}

TEST(WindowsProof, TheWindowsOfTrainingHold) {
  const Verdict verdict = judge({});
  EXPECT_TRUE(verdict.holds()) << verdict.first->text();
  EXPECT_EQ(verdict.tries, 1);
  EXPECT_GT(verdict.compared, 10'000);
}

TEST(WindowsProof, AWindowOverTheEndOfItsSequenceIsCaught) {
  // As a cutter over one long array of rows would make it.
  expect_caught(judge(windows_changed([](auto& windows, auto, const auto&) {
                  Window over = windows.front();
                  over.first = sample_set().sequences.front().length() - 10;
                  windows.push_back(over);
                })),
                "reaches out of sequence 0");
  expect_caught(judge(windows_changed([](auto& windows, auto sequences, const auto&) {
                  windows.front().sequence = std::ssize(sequences);
                })),
                "reaches out of sequence");
  expect_caught(
      judge(windows_changed([](auto& windows, auto, const auto&) { windows.front().first = -1; })),
      "reaches out of sequence");
}

/// Two sequences of the set as if nothing lay between them.
SequenceSet glued(std::size_t first) {
  SequenceSet set = sample_set();
  Sequence& a = set.sequences[first];
  const Sequence& b = set.sequences[first + 1];
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(a.rows, b.rows);
  append(a.bar_start, b.bar_start);
  append(a.available_at, b.available_at);
  append(a.close, b.close);
  append(a.labels.valid, b.labels.valid);
  append(a.labels.classes, b.labels.classes);
  append(a.labels.value, b.labels.value);
  append(a.labels.persistence, b.labels.persistence);
  append(a.labels.end, b.labels.end);
  set.sequences.erase(set.sequences.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return set;
}

TEST(WindowsProof, AWindowAcrossABreakIsCaught) {
  // The first two sequences with a night, and not only a halt, between them.
  const auto& all = sample_set().sequences;
  const auto night = std::ranges::adjacent_find(all, [](const Sequence& a, const Sequence& b) {
    return b.bar_start.front() - a.available_at.back() > std::chrono::hours{1};
  });
  ASSERT_NE(night, all.end());
  const SequenceSet set = glued(static_cast<std::size_t>(night - all.begin()));
  expect_caught(judge({}, set), "behind a break in the middle of a training window");
  WindowRules of_books = kRules;
  of_books.longest_hole.reset();
  EXPECT_TRUE(prove_windows(set, configured(), of_books).holds()) << "no bars, no rule of holes";
}

/// The split of training with rows given to train at will: take(split, sequence, row).
template <class Take>
Machinery trained_too(Take take) {
  return {.make_split = [take](train::SplitConfig config, std::span<const Sequence> sequences) {
    Split split = train::make_split(std::move(config), sequences);
    train::PartInterval& train = split.intervals[static_cast<std::size_t>(Part::kTrain)];
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
        if (!take(split, sequences[s], t)) continue;
        split.parts[s][t] = Part::kTrain;
        train.last_available = std::max(train.last_available, sequences[s].available_at[t]);
      }
    }
    return split;
  }};
}

TEST(WindowsProof, ALabelThatReachesIntoTheNextPartIsCaught) {
  // A row before the cut whose label ends behind it, which the purge would have taken: with cuts
  // in the middle of a session.
  const Sequence& session = sample_set().sequences[4];
  const auto row = static_cast<std::size_t>(session.length() / 2);
  const UnixNanos cut = session.available_at[row];
  NamedSplit inside{.name = "configured", .config = test::sample_config().split};
  inside.config.train_end = to_string(cut);
  inside.config.embargo_minutes = 0;
  EXPECT_TRUE(prove_windows(sample_set(), {{inside}}, kRules).holds());
  const Machinery reaching = trained_too([](const Split& split, const Sequence& s, std::size_t t) {
    return s.available_at[t] < split.train_end && s.labels.valid[t] != 0;
  });
  const Verdict verdict = prove_windows(sample_set(), {{inside}}, kRules, reaching);
  expect_caught(verdict, "its label reaches the cut or its embargo");
  // One failure a row whose label touches the cut, as counted here.
  std::int64_t touching = 0;
  for (const Sequence& s : sample_set().sequences) {
    for (std::size_t t = 0; t < s.available_at.size(); ++t)
      touching += s.available_at[t] < cut && s.labels.valid[t] != 0 && s.labels.end[t] >= cut;
  }
  EXPECT_GT(touching, 0);
  // Rows in two windows count twice: windows overlap by the burn-in, which carries no loss.
  EXPECT_EQ(verdict.failures, touching);
}

TEST(WindowsProof, ARowBehindTheCutIsCaught) {
  expect_caught(judge(trained_too([](const Split& split, const Sequence& s, std::size_t t) {
                  return s.available_at[t] >= split.train_end &&
                         s.available_at[t] < split.valid_end;
                })),
                "in a training window behind the cut");
  // Unlabelled context alone, behind the last training row.
  expect_caught(judge(windows_changed([](auto& windows, auto sequences, const Split& split) {
                  for (std::size_t s = 0; s < sequences.size(); ++s) {
                    if (sequences[s].available_at.front() < split.train_end) continue;
                    windows.push_back({.sequence = static_cast<std::int64_t>(s), .length = 1});
                    return;
                  }
                })),
                "in a training window behind the cut");
}

TEST(WindowsProof, ARowThatIsNeverTaughtIsCaught) {
  expect_caught(
      judge(windows_changed([](auto& windows, auto, const auto&) { windows.pop_back(); })),
      "without a loss");
  expect_caught(judge(windows_changed([](auto& windows, auto, const auto&) {
                  for (Window& window : windows) window.loss_from = 16;
                })),
                "without a loss");
}

}  // namespace
}  // namespace foxhunt::proofs
