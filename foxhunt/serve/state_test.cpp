// What survives a process, and the bytes that are refused.
#include "foxhunt/serve/state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/market/fake_reader.h"

namespace foxhunt::serve {
namespace {

class State : public testing::Test {
 protected:
  State()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("serve-state-" + std::to_string(::getpid()))) {
    Rng rng(3);
    bars_ = features::test::random_bars(rng, market::test::kOpen, 60);
    session_.emplace(plan_);
    market::test::FakeReader reader(bars_);
    std::vector<float> out(static_cast<std::size_t>(plan_->n_outputs()));
    while (const market::Bar* bar = selector_.next(reader)) session_->on_event(*bar, out);
    saved_ = {.records = 60,
              .digest = 0x1234567890ABCDEFULL,
              .answers = 51,
              .ring_id = 7,
              .ring_taken = 8,
              .output_bytes = 400,
              .output_tail = "the last line\n",
              .pending = {AnswerSlot{.number = 51, .n_outputs = 3}}};
    save_state(path_, saved_, selector_, *session_);
  }
  ~State() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
  std::shared_ptr<const engine::Plan> plan_ = engine::Plan::build(
      bundle::test::small_bundle(), {.kernels = {}, .form = bundle::WeightForm::kF32});
  std::vector<market::Bar> bars_;
  std::optional<engine::Session> session_;
  market::BarSelector selector_{{.product = "ES"}};
  SavedState saved_;
};

TEST_F(State, ComesBackAsItWas) {
  market::BarSelector selector({.product = "ES"});
  engine::Session session(plan_);
  const SavedState back = load_state(path_, selector, session);
  EXPECT_EQ(back.records, saved_.records);
  EXPECT_EQ(back.digest, saved_.digest);
  EXPECT_EQ(back.answers, saved_.answers);
  EXPECT_EQ(back.ring_id, saved_.ring_id);
  EXPECT_EQ(back.ring_taken, saved_.ring_taken);
  EXPECT_EQ(back.output_bytes, saved_.output_bytes);
  EXPECT_EQ(back.output_tail, saved_.output_tail);
  ASSERT_EQ(back.pending.size(), 1U);
  EXPECT_EQ(std::memcmp(&back.pending[0], &saved_.pending[0], sizeof(AnswerSlot)), 0);
  EXPECT_EQ(session.save(), session_->save());
  EXPECT_EQ(selector.counters().records, 60);
}

TEST_F(State, RefusesEveryCutAndEveryFlippedBit) {
  const std::string bytes = read_file(path_);
  const auto refused = [&](std::string_view forged) {
    write_file_atomic(path_, forged);
    market::BarSelector selector({.product = "ES"});
    engine::Session session(plan_);
    EXPECT_THROW(load_state(path_, selector, session), FormatError);
  };
  Rng rng(8);
  for (int i = 0; i < 60; ++i) {
    refused(std::string_view(bytes).substr(0, rng.below(bytes.size())));
    std::string flipped = bytes;
    flipped[rng.below(flipped.size())] ^= static_cast<char>(1U << rng.below(8));
    refused(flipped);
  }
  refused(bytes + "x");
}

TEST_F(State, RefusesValuesThatNoServerLeavesBehind) {
  const auto refused = [&](SavedState forged, const std::string& what) {
    save_state(path_, forged, selector_, *session_);
    market::BarSelector selector({.product = "ES"});
    engine::Session session(plan_);
    try {
      load_state(path_, selector, session);
      ADD_FAILURE() << what;
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  SavedState s = saved_;
  s.records = 61;
  refused(s, "61 records");
  s = saved_;
  s.output_bytes = -2;
  refused(s, "an output of -2 bytes");
  s = saved_;
  s.output_bytes = 3;
  refused(s, "an output of 3 bytes");
  s = saved_;
  s.pending[0].n_outputs = kMostOutputs + 1;
  refused(s, "33 outputs");
}

}  // namespace
}  // namespace foxhunt::serve
