// Any text as the config.json of another system's checkpoint: a typed error, or a model that holds
// to its own rules and is the same behind our metadata.
#include "foxhunt/base/error.h"
#include "foxhunt/model/hf_config.h"
#include "foxhunt/model/model_meta.h"
#include "foxhunt/model/tensor_list.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace model = foxhunt::model;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::AllocationLimit limit((std::size_t{4} << 20) + 512 * size);
  model::ImportedConfig imported;
  try {
    imported = model::parse_hf_config(fuzz::text_of(data, size), "fuzz");
  } catch (const foxhunt::FormatError&) {
    return 0;
  } catch (const foxhunt::ConfigError&) {
    return 0;
  }
  fuzz::require(imported.config.errors().empty() && imported.head.errors().empty(),
                "what is imported holds to the rules");
  const model::ModelMeta meta =
      model::read_model_metadata(model::model_metadata(imported.config, imported.head), "again");
  fuzz::require(meta.config == imported.config && meta.head == imported.head,
                "an import is the same behind our metadata");
  fuzz::require(model::parameter_count(imported.config, imported.head) > 0,
                "an import has parameters");
  return 0;
}
