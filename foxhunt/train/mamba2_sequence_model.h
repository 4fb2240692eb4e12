#pragma once
// A Mamba2SSM as the window trainer sees it: with |A| kept inside its limits after every step.

#include <memory>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/sequence_model.h"
#include "foxhunt/train/train_config.h"

namespace foxhunt::train {

class Mamba2SequenceModel final : public SequenceModel {
 public:
  Mamba2SequenceModel(nn::Mamba2SSM& model, double a_min, double a_max);

  at::Device device() const override { return model_.device(); }
  const model::HeadConfig& head() const override { return model_.head_config(); }
  NamedParameters parameters() override;
  at::Tensor forward(const at::Tensor& x) override { return model_.forward(x); }
  /// Piece by piece, the state carried on: rows in memory do not grow with T.
  at::Tensor answer(const at::Tensor& x) override;
  /// On the CPU with native kernels, which use one thread.
  std::unique_ptr<SequenceModel> replica() override;
  /// A_log into [log a_min, log a_max]. With dt >= lo every decay is then at most exp(-lo a_min) <
  /// 1, and |S| <= max |dt x B| / (1 - exp(-lo a_min)): no drift of A can make a state grow without
  /// bound.
  void after_step() override;

 private:
  Mamba2SequenceModel(std::shared_ptr<nn::Mamba2SSM> model, double log_a_min, double log_a_max);

  std::shared_ptr<nn::Mamba2SSM> own_;  ///< of a replica
  nn::Mamba2SSM& model_;
  double log_a_min_;
  double log_a_max_;
};

/// How a model does inside: what a person looks at when a loss curve says nothing.
struct Health {
  double dt_at_limit_share = 0;  ///< of all step sizes; a step size at a limit has no gradient
  double largest_state = 0;      ///< largest |S| after the rows
  double parameter_norm = 0;
  double a_min = 0;  ///< smallest and largest |A|
  double a_max = 0;
};
/// x [B, T, F] on the model's device. One transfer to the host.
Health examine(nn::Mamba2SSM& model, const at::Tensor& x);

}  // namespace foxhunt::train
