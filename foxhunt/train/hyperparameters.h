#pragma once
// What a person tunes on a Mamba-2 run: the model's sizes, its head, and how it is trained.
// Torch-free.

#include <string>
#include <vector>

#include "foxhunt/bundle/label_config.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/train/train_config.h"

namespace foxhunt::train {

/// Which head answers. kAuto: classification for direction labels, regression for returns.
enum class HeadChoice { kAuto, kRegression, kQuantiles };

struct HeadSection {
  HeadChoice kind = HeadChoice::kAuto;
  std::vector<double> quantiles{0.1, 0.5, 0.9};

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"auto", HeadChoice::kAuto},
                {"regression", HeadChoice::kRegression},
                {"quantiles", HeadChoice::kQuantiles}},
               "auto: classification of directions, regression of returns");
    key("quantiles", c.quantiles, 0.0, 1.0, "for kind = quantiles; increasing, inside (0, 1)");
  }
};

struct Mamba2Hyperparameters {
  /// Sizes of default_hft() with the step size limited to [1e-6, 1], so that exp(dt A) stays
  /// below 1.
  model::Mamba2Config model = training_default();
  HeadSection head;
  TrainConfig train;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.section("model", c.model, "sizes of Mamba-2");
    key.section("head", c.head, "what the model answers with");
    key.section("train", c.train, "how it is trained");
  }

  static model::Mamba2Config training_default();

  /// The model alone, and hyper-parameters around a model: nothing is lost either way.
  const model::Mamba2Config& to_model_config() const { return model; }
  static Mamba2Hyperparameters from_model_config(const model::Mamba2Config& config);
  /// The head for rows of `n_features` and these labels.
  model::HeadConfig to_head_config(std::int64_t n_features, bundle::LabelKind label) const;

  /// Everything that is wrong, one a line. Empty: all well.
  std::vector<std::string> errors() const;
  /// Errors  ConfigError with all of errors().
  void validate() const;
  /// Upper bound of exp(dt A) for every step of every head, by the limits of dt and |A|: below 1
  /// means that a state decays whatever comes in.
  double spectral_radius_bound() const;
};

}  // namespace foxhunt::train
