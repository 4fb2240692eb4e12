// Any text as a model's description in a file's metadata: the first line is the configuration's,
// what follows the head's. A typed error, or the same values, bit for bit, when written again.
#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/model/model_meta.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace model = foxhunt::model;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const fuzz::AllocationLimit limit((std::size_t{1} << 20) + 512 * size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  auto metadata = model::model_metadata({}, {});
  metadata["foxhunt.mamba2"] = text.substr(0, line);
  metadata["foxhunt.head"] = text.substr(line);
  model::ModelMeta meta;
  try {
    meta = model::read_model_metadata(metadata, "fuzz");
  } catch (const foxhunt::FormatError&) {
    return 0;
  } catch (const foxhunt::ConfigError&) {
    return 0;
  }
  fuzz::require(meta.config.errors().empty() && meta.head.errors().empty(),
                "what is read holds to the rules");
  const auto written = model::model_metadata(meta.config, meta.head);
  const model::ModelMeta again = model::read_model_metadata(written, "again");
  fuzz::require(again.config == meta.config && again.head == meta.head,
                "metadata reads back to the same");
  fuzz::require(model::model_metadata(again.config, again.head) == written,
                "metadata is written the same twice");
  return 0;
}
