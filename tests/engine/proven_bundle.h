#pragma once
// A small bundle whose golden rows and certificate are what the engine itself says, as an honest
// export would find them, and the bars behind them.

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/engine/plan.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/engine/verify.h"

namespace foxhunt::engine::test {

/// A session of minutes with what real files hold: a hole, a bad bar, a duplicate, a new session.
inline std::vector<market::Bar> a_market() {
  const UnixNanos start = parse_time("2013-10-07T22:00");  // a session of ES opens
  Rng rng(5);
  std::vector<market::Bar> bars = features::test::random_bars(rng, start, 200);
  const std::vector<market::Bar> next =
      features::test::random_bars(rng, start + std::chrono::hours{24}, 100);
  bars[40].close = Price::null();
  bars[60] = bars[59];
  bars.erase(bars.begin() + 100, bars.begin() + 170);
  bars.insert(bars.end(), next.begin(), next.end());
  return bars;
}

struct Answer {
  Status status{};
  std::vector<float> out{};  ///< [K]; zeros without an answer
  friend bool operator==(const Answer&, const Answer&) = default;
};

inline std::vector<Answer> answers_of(const std::shared_ptr<const Plan>& plan,
                                      const std::vector<market::Bar>& bars) {
  Session session(plan);
  std::vector<Answer> answers;
  for (const market::Bar& bar : bars) {
    Answer answer{.out = std::vector<float>(static_cast<std::size_t>(plan->n_outputs()))};
    answer.status = session.on_event(bar, answer.out);
    answers.push_back(std::move(answer));
  }
  return answers;
}

/// The certificate of what the engine itself says to the golden rows.
inline void prove(bundle::Bundle& b) {
  const VerifyReport found = verify(Plan::build(b));
  b.certificate = {.parity = found.parity,
                   .bound = found.bound,
                   .kernels = found.kernels,
                   .reference = "the engine itself",
                   .cpu = "this machine",
                   .data = "a walk"};
}

inline bundle::Bundle proven_bundle(std::uint64_t seed = 1) {
  bundle::Bundle b = bundle::test::small_bundle(seed);
  b.form = bundle::WeightForm::kF32;
  b.golden = {.bars = a_market()};
  for (const Answer& a : answers_of(Plan::build(b), b.golden.bars)) {
    b.golden.ready.push_back(a.status == Status::kReady ? 1 : 0);
    if (a.status == Status::kReady)
      b.golden.outputs.insert(b.golden.outputs.end(), a.out.begin(), a.out.end());
  }
  prove(b);
  return b;
}

}  // namespace foxhunt::engine::test
