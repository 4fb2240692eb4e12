// Any text as a feature schema: a FormatError, or one that reads back to the same text and hash.
#include "foxhunt/base/error.h"
#include "foxhunt/features/schema.h"

#include "fuzz/fuzz.h"

namespace features = foxhunt::features;
namespace fuzz = foxhunt::fuzz;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::AllocationLimit limit((std::size_t{1} << 20) + 512 * size);
  features::Schema schema;
  try {
    schema = features::Schema::from_json(fuzz::text_of(data, size));
  } catch (const foxhunt::FormatError&) {
    return 0;
  }
  const std::string written = schema.to_json();
  const features::Schema again = features::Schema::from_json(written);
  fuzz::require(again.to_json() == written, "a schema reads back to the same");
  fuzz::require(again.hash() == schema.hash(), "its hash is that of its values");
  fuzz::require(schema.warm_up() >= 1, "a warm-up is at least one bar");
  return 0;
}
