#include "foxhunt/bundle/model_context.h"

#include <fmt/format.h>

#include <sstream>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/feature_library.h"

namespace foxhunt::bundle {
namespace {

constexpr const char* kFormat = "1";

template <class Struct>
Struct from_toml(const std::string& text, const std::string& origin) {
  Struct value;
  config::FieldList list = config::fields_of(value);
  config::load_toml_text(list, text, origin);
  return value;
}

/// The label as TOML. Keys that came after the first bundles stand there only where they are used:
/// a bundle that has no need of them keeps its bytes, and older programs read it.
std::string label_text(const LabelConfig& label) {
  std::istringstream lines(config::dump(label));
  const std::string defaults = "\n" + config::dump(LabelConfig{});
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool is_later = line.starts_with("smooth_") || line.starts_with("barrier_");
    const bool is_default = defaults.find("\n" + line + "\n") != std::string::npos;
    if (!is_later || !is_default) text += line + "\n";
  }
  return text;
}

}  // namespace

std::string rows_hash(const features::FeatureConfig& features,
                      const std::optional<features::BookFeatureConfig>& book) {
  const std::string of_features = config::hash_of(features);
  return book ? sha256_of(of_features + config::hash_of(*book)) : of_features;
}

features::RowPipeline ModelContext::pipeline() const {
  features::require_libraries(features.plugins, schema);
  features::RowPipeline pipeline(features, book, market::Calendar::for_product(product),
                                 market::contract_for_product(product));
  normalizer.require_schema(pipeline.schema());
  return pipeline;
}

std::map<std::string, std::string> ModelContext::to_metadata() const {
  std::map<std::string, std::string> metadata{
      {"foxhunt.format", kFormat},
      {"foxhunt.product", product},
      {"foxhunt.features", config::dump(features)},
      {"foxhunt.schema", schema.to_json()},
      {"foxhunt.normalizer", normalizer.to_json()},
      {"foxhunt.label", label_text(label)},
      {"foxhunt.config_sha256", config_sha256},
      {"foxhunt.git_revision", std::string(git_revision())}};
  if (book) metadata["foxhunt.book"] = config::dump(*book);
  return metadata;
}

ModelContext ModelContext::from_metadata(const std::map<std::string, std::string>& metadata,
                                         const std::string& file) {
  const auto at = [&](const std::string& name) {
    const auto found = metadata.find("foxhunt." + name);
    if (found == metadata.end())
      throw FormatError(fmt::format("{}: the metadata has no 'foxhunt.{}'", file, name));
    return found->second;
  };
  if (at("format") != kFormat) {
    throw FormatError(fmt::format("{}: foxhunt.format is '{}', this program reads '{}'", file,
                                  at("format"), kFormat));
  }
  const std::string product = at("product");
  const std::string features = at("features");
  const std::string schema = at("schema");
  const std::string normalizer = at("normalizer");
  const std::string label = at("label");
  const std::string config_sha256 = at("config_sha256");
  try {
    ModelContext context{
        .product = product,
        .features = from_toml<features::FeatureConfig>(features, "foxhunt.features"),
        .schema = features::Schema::from_json(schema),
        .normalizer = features::Normalizer::from_json(normalizer),
        .label = from_toml<LabelConfig>(label, "foxhunt.label"),
        .config_sha256 = config_sha256};
    if (const auto book = metadata.find("foxhunt.book"); book != metadata.end())
      context.book = from_toml<features::BookFeatureConfig>(book->second, "foxhunt.book");
    context.normalizer.require_schema(context.schema);
    return context;
  } catch (const Error& error) {  // of texts that do not know which file they are from
    throw FormatError(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace foxhunt::bundle
