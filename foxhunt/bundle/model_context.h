#pragma once
// What a model's file has to say beside its weights, so that whoever holds the file can answer from
// raw bars: which product, which features, how they are scaled, what the answer means. Torch-free.

#include <map>
#include <optional>
#include <string>

#include "foxhunt/bundle/label_config.h"
#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/normalizer.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/features/schema.h"

namespace foxhunt::bundle {

struct ModelContext {
  std::string product;
  features::FeatureConfig features;
  features::Schema schema;
  features::Normalizer normalizer;
  LabelConfig label;
  std::string config_sha256;  ///< of the resolved configuration it was trained with
  /// Rows are made of order events with these settings; of bars where there are none.
  std::optional<features::BookFeatureConfig> book{};

  /// What makes rows of records for this model.
  /// Errors  ConfigError: an unknown product, or features whose schema is not what the normaliser
  ///         was fitted on; a user's library that is not there. DataError: one of other bytes than
  ///         those it was trained with, naming both hashes; it is not loaded.
  features::RowPipeline pipeline() const;

  /// As entries of a safetensors file's metadata, each name under "foxhunt.".
  std::map<std::string, std::string> to_metadata() const;
  /// Errors  FormatError naming `file` and the entry: missing, unreadable, or schema and normaliser
  /// of different features.
  static ModelContext from_metadata(const std::map<std::string, std::string>& metadata,
                                    const std::string& file);
};

/// SHA-256 of what rows are made with: of [features], or of both where there is a [book].
std::string rows_hash(const features::FeatureConfig& features,
                      const std::optional<features::BookFeatureConfig>& book);

}  // namespace foxhunt::bundle
