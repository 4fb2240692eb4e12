#include "foxhunt/train/proof_subject.h"

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/bundle/model_context.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/row_pipeline.h"

namespace foxhunt::train {

bundle::ProofSubject proof_subject(const ExperimentConfig& config, std::vector<std::string> data) {
  const features::RowPipeline pipeline(config.features, config.book_settings(),
                                       market::Calendar::for_product(config.data.product),
                                       market::contract_for_product(config.data.product));
  return {.product = config.data.product,
          .symbol = config.data.symbol,
          .data = std::move(data),
          .reading = config::hash_of(config.data.csv),
          .schema = pipeline.schema().hash(),
          .features = bundle::rows_hash(config.features, config.book_settings()),
          .label = config::hash_of(config.label),
          .split = config::hash_of(config.split)};
}

std::vector<std::string> data_hashes(const ExperimentConfig& config) {
  std::vector<std::string> hashes;
  for (const std::string& file : config.data.files) hashes.push_back(sha256_of_file(file));
  return hashes;
}

std::vector<std::string> data_hashes(const std::vector<DataFile>& files) {
  std::vector<std::string> hashes;
  for (const DataFile& file : files) hashes.push_back(file.sha256);
  return hashes;
}

std::optional<bundle::LeakProof> checked_proof(const std::filesystem::path& path, bool required,
                                               const ExperimentConfig& config) {
  if (!path.empty()) {
    return bundle::require_leak_proof(path, proof_subject(config, data_hashes(config)));
  }
  if (!required) return std::nullopt;
  throw ConfigError(
      "[train] a proof is required and none was named: make one with foxhunt features prove and "
      "name it with --proof");
}

}  // namespace foxhunt::train
