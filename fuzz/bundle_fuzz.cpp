// Any bytes as a bundle: a FormatError, or a model that cannot be (ConfigError), or a bundle that
// is the same when written and read again. A mutation breaks the digest and gets no further, so the
// bytes are sealed anew and read once more.
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/bundle/digest.h"
#include "foxhunt/engine/plan.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace bundle = foxhunt::bundle;

namespace {

/// Whether the bytes are a bundle.
bool read(std::span<const std::byte> bytes) {
  try {
    const bundle::Bundle b = bundle::parse_bundle(bytes, "fuzz");
    const std::string written = bundle::bundle_bytes(b, "again");
    const bundle::Bundle again = bundle::parse_bundle(std::as_bytes(std::span(written)), "again");
    fuzz::require(again.weights == b.weights, "weights are the same when written again");
    fuzz::require(again.golden.outputs == b.golden.outputs, "golden rows are the same");
    fuzz::require(bundle::bundle_bytes(again, "again") == written, "written the same twice");
    foxhunt::engine::Plan::build(b);
    return true;
  } catch (const foxhunt::FormatError&) {
  } catch (const foxhunt::ConfigError&) {
  }
  return false;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const fuzz::AllocationLimit limit((std::size_t{64} << 20) + 4096 * size);
  read(bytes);
  std::string sealed(reinterpret_cast<const char*>(data), size);
  try {
    bundle::seal(sealed, "fuzz");
  } catch (const foxhunt::FormatError&) {
    return 0;
  }
  read(std::as_bytes(std::span(sealed)));
  return 0;
}
