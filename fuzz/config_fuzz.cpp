// Any TOML into a configuration, and any `--set` assignment (inputs that begin with "--set "): a
// ConfigError or values inside their ranges, which are the same bits when written and read again.
#include <string_view>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/feature_config.h"
#include "foxhunt/market/csv_format.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

#include "fuzz/fuzz.h"

namespace config = foxhunt::config;
namespace fuzz = foxhunt::fuzz;

namespace {

/// The sections of an experiment that need no Torch, and one of each kind of list.
struct Config {
  foxhunt::features::FeatureConfig features;
  foxhunt::market::CsvFormat csv;
  foxhunt::model::Mamba2Config model;
  foxhunt::model::HeadConfig head;
  std::string name = "run";
  std::vector<std::string> files{"a.dbn", "b.csv"};

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("name", c.name, "name of the run");
    key("files", c.files, "files to read");
    key.section("features", c.features, "features");
    key.section("csv", c.csv, "CSV files");
    key.section("model", c.model, "the model");
    key.section("head", c.head, "its head");
  }
};

void require_written_and_read(Config& first, bool comments) {
  const config::FieldList list = config::fields_of(first);
  fuzz::require(config::range_errors(list).empty(), "what loads lies inside its range");
  const std::string text = config::dump_toml(list, comments);
  Config second;
  config::FieldList again = config::fields_of(second);
  config::load_toml_text(again, text, "dump");
  fuzz::require(config::dump_toml(again, comments) == text, "a dump reads back to the same");
  fuzz::require(config::hash(again) == config::hash(list), "the hash is that of the values");
  fuzz::require(first.name == second.name && first.files == second.files &&
                    first.model == second.model && first.head == second.head,
                "values are the same behind a dump");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kSet = "--set ";
  const std::string text = fuzz::text_of(data, size);
  const fuzz::AllocationLimit limit((std::size_t{2} << 20) + 512 * size);
  Config values;
  config::FieldList list = config::fields_of(values);
  bool refused = false;
  try {
    if (text.starts_with(kSet)) {
      config::apply_override(list, text.substr(kSet.size()));
    } else {
      config::load_toml_text(list, text, "fuzz");
    }
  } catch (const foxhunt::ConfigError&) {
    refused = true;
  }
  if (!refused) require_written_and_read(values, size % 2 == 0);
  return 0;
}
