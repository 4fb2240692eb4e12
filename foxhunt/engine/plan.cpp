#include "foxhunt/engine/plan.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/model/model_meta.h"

namespace foxhunt::engine {
namespace {

using bundle::Bundle;
using bundle::WeightForm;
using kernels::WeightType;

WeightType type_of(WeightForm form) {
  switch (form) {
    case WeightForm::kF32:
      return WeightType::kF32;
    case WeightForm::kF16:
      return WeightType::kF16;
    case WeightForm::kBF16:
      return WeightType::kBF16;
    case WeightForm::kI8:
      return WeightType::kI8;
  }
  return WeightType::kF32;
}

kernels::Gate gate_of(model::GateNorm gate) {
  switch (gate) {
    case model::GateNorm::kGateFirst:
      return kernels::Gate::kGateFirst;
    case model::GateNorm::kNormFirst:
      return kernels::Gate::kNormFirst;
    case model::GateNorm::kNone:
      return kernels::Gate::kNoNorm;
  }
  return kernels::Gate::kGateFirst;
}

/// The weight of that name, or null where the model has none: read_bundle() saw to it that every
/// tensor of the model is there.
const float* weight(const Bundle& bundle, const std::string& name) {
  const auto found = bundle.weights.find(name);
  return found == bundle.weights.end() ? nullptr : found->second.data();
}

kernels::StepNetwork pack(const Bundle& bundle, const kernels::StepKernels& table,
                          WeightForm form) {
  return {step_shape(bundle.config),
          bundle.head.n_features,
          bundle.head.n_outputs(),
          kernels::step_weights(bundle.config.n_layer,
                                [&](const std::string& name) { return weight(bundle, name); }),
          table,
          kernels::product_for(table, type_of(form))};
}

/// Of what the answers depend on: the model and its context, not the proof and not the form.
std::string model_id_of(const Bundle& bundle) {
  Sha256 hash;
  auto metadata = model::model_metadata(bundle.config, bundle.head);
  metadata.merge(bundle.context.to_metadata());
  metadata.erase("foxhunt.git_revision");
  for (const auto& [key, value] : metadata)
    for (const std::string* text : {&key, &value}) {
      hash.update(*text);
      hash.update(std::string_view("\0", 1));
    }
  for (const auto& [name, values] : bundle.weights) {
    hash.update(name);
    hash.update(std::string_view("\0", 1));
    hash.update(std::as_bytes(std::span(values)));
  }
  return hash.finish();
}

}  // namespace

kernels::StepShape step_shape(const model::Mamba2Config& config) {
  return {.d_model = config.d_model,
          .heads = config.n_heads(),
          .headdim = config.headdim,
          .groups = config.ngroups,
          .d_state = config.d_state,
          .conv_width = config.d_conv,
          .gate = gate_of(config.gate_norm),
          .eps = static_cast<float>(config.norm_eps),
          .dt_low = static_cast<float>(config.dt_limit_min),
          .dt_high = static_cast<float>(config.dt_limit_max)};
}

Plan::Plan(Bundle bundle, kernels::StepNetwork network, WeightForm form)
    : bundle_(std::move(bundle)),
      network_(std::move(network)),
      form_(form),
      model_id_(model_id_of(bundle_)) {
  bundle_.weights.clear();
}

std::shared_ptr<const Plan> Plan::build(Bundle bundle, const PlanOptions& options) {
  if (bundle.head.kind == model::HeadKind::kTokens) {
    throw ConfigError("[engine] a token model answers no market record");
  }
  if (bundle.context.pipeline().width() != bundle.head.n_features) {
    throw ConfigError(fmt::format("[engine] the features are {} wide, the model takes {}",
                                  bundle.context.pipeline().width(), bundle.head.n_features));
  }
  const kernels::StepKernels& table = kernels::pick_step_kernels(options.kernels);
  const WeightForm form = options.form.value_or(bundle.form);
  kernels::StepNetwork network = pack(bundle, table, form);
  return std::shared_ptr<const Plan>(new Plan(std::move(bundle), std::move(network), form));
}

std::shared_ptr<const Plan> Plan::open(const std::filesystem::path& path,
                                       const PlanOptions& options) {
  return build(bundle::read_bundle(path), options);
}

std::string Plan::kernels() const {
  return fmt::format("{}, products {}", network_.kernels().name, network_.projections().name);
}

std::int64_t Plan::bytes_per_step() const {
  return network_.weight_bytes() + 2 * network_.state_bytes();
}

}  // namespace foxhunt::engine
