// Any bytes as the state file of a served stream: a FormatError, or a state that is the same when
// saved again. The sum would stop every mutation, so what comes is also sealed as a payload.
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/serve/state.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace serve = foxhunt::serve;

namespace {

void load(std::span<const std::byte> bytes) {
  static const auto kPlan = foxhunt::engine::Plan::build(foxhunt::bundle::test::small_bundle());
  foxhunt::engine::Session session(kPlan);
  foxhunt::market::BarSelector selector({.product = "ES"});
  try {
    const serve::SavedState state = serve::parse_state(bytes, "fuzz", selector, session);
    const std::vector<std::byte> saved = serve::state_bytes(state, selector, session);
    const serve::SavedState again = serve::parse_state(saved, "again", selector, session);
    fuzz::require(serve::state_bytes(again, selector, session) == saved,
                  "a state is the same when saved again");
  } catch (const foxhunt::FormatError&) {
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const fuzz::AllocationLimit limit((std::size_t{64} << 20) + 64 * size);
  load(bytes);
  foxhunt::ByteWriter sealed;
  foxhunt::write_part(sealed, "serve", 1, bytes);
  load(sealed.bytes());
  return 0;
}
