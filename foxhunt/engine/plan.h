#pragma once
// A bundle made ready to answer: weights packed once for the kernels and the form that were chosen,
// in the order in which a step reads them. Immutable and shared by any number of sessions.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "foxhunt/bundle/bundle.h"
#include "foxhunt/kernels/step/step_network.h"

namespace foxhunt::engine {

/// What a step needs to know of a model.
kernels::StepShape step_shape(const model::Mamba2Config& config);

struct PlanOptions {
  std::string kernels{};                     ///< "avx512", "avx2", "scalar"; "": the machine's
  std::optional<bundle::WeightForm> form{};  ///< instead of the bundle's
};

class Plan {
 public:
  /// Keeps what serving needs of the bundle; takes the golden rows along for verify().
  /// Errors  ConfigError: a token model, features that do not make the model's rows, kernels that
  /// cannot run here, weights that the form cannot hold.
  static std::shared_ptr<const Plan> build(bundle::Bundle bundle, const PlanOptions& options = {});
  /// Of a file. Errors  those of read_bundle() and build().
  static std::shared_ptr<const Plan> open(const std::filesystem::path& path,
                                          const PlanOptions& options = {});

  const bundle::Bundle& bundle() const { return bundle_; }  ///< without the weights
  const kernels::StepNetwork& network() const { return network_; }
  bundle::WeightForm form() const { return form_; }
  std::string kernels() const;  ///< "avx512, products avx512bf16"
  std::int64_t n_features() const { return bundle_.head.n_features; }
  std::int64_t n_outputs() const { return bundle_.head.n_outputs(); }
  std::int64_t bytes_per_step() const;                  ///< weights read, state read and written
  const std::string& id() const { return bundle_.id; }  ///< of the file
  /// SHA-256 of what the answers depend on, whatever proof and form stand beside it: 64 digits.
  const std::string& model_id() const { return model_id_; }

 private:
  Plan(bundle::Bundle bundle, kernels::StepNetwork network, bundle::WeightForm form);
  bundle::Bundle bundle_;
  kernels::StepNetwork network_;
  bundle::WeightForm form_;
  std::string model_id_;
};

}  // namespace foxhunt::engine
