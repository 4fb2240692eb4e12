// Any bytes as the state of a session: a FormatError, and the session is as it was; or a state that
// is the same when saved again and from which the session goes on with finite answers. The sums of
// a state's parts would stop every mutation, so the outer one is written anew.
#include <algorithm>
#include <cmath>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/engine/session.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace engine = foxhunt::engine;
namespace test = foxhunt::features::test;

namespace {

/// A session in the middle of a sequence.
engine::Session running() {
  static const auto kPlan = engine::Plan::build(foxhunt::bundle::test::small_bundle());
  engine::Session session(kPlan);
  foxhunt::Rng rng(5);
  std::vector<float> out(static_cast<std::size_t>(kPlan->n_outputs()));
  for (const auto& bar : test::random_bars(rng, foxhunt::parse_time("2013-10-07T22:00"), 60)) {
    session.on_event(bar, out);
  }
  return session;
}

void restore(std::span<const std::byte> bytes) {
  engine::Session session = running();
  const std::vector<std::byte> before = session.save();
  try {
    session.restore(bytes, "fuzz");
  } catch (const foxhunt::FormatError&) {
    fuzz::require(session.save() == before, "a refused state changes nothing");
    return;
  }
  const std::vector<std::byte> saved = session.save();
  engine::Session again(session);
  again.restore(saved, "again");
  fuzz::require(again.save() == saved, "a state is the same when saved again");
  foxhunt::Rng rng(6);
  std::vector<float> out(static_cast<std::size_t>(session.plan().n_outputs()));
  for (const auto& bar : test::random_bars(rng, foxhunt::parse_time("2013-10-08T02:00"), 20)) {
    session.on_event(bar, out);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const fuzz::AllocationLimit limit((std::size_t{64} << 20) + 64 * size);
  restore(bytes);
  foxhunt::ByteWriter sealed;
  foxhunt::write_part(sealed, "session", 1, bytes);
  restore(sealed.bytes());
  return 0;
}
