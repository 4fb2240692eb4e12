#pragma once
// What the model's last layer answers with.

#include <cstdint>
#include <vector>

namespace foxhunt::model {

enum class HeadKind {
  kClassification,  ///< n_classes logits; softmax gives probabilities
  kRegression,      ///< one value
  kQuantiles,       ///< one value a quantile
  kTokens,          ///< imports of language models only: embedding in, logits over the vocabulary out, tied weights
};

struct HeadConfig {
  HeadKind kind = HeadKind::kClassification;
  std::int64_t n_features = 16;  ///< width of an input row (F); vocabulary size for kTokens
  std::int64_t n_classes = 3;    ///< for kClassification
  std::vector<double> quantiles{0.1, 0.5, 0.9};

  std::int64_t n_outputs() const {
    switch (kind) {
      case HeadKind::kClassification: return n_classes;
      case HeadKind::kRegression: return 1;
      case HeadKind::kQuantiles: return static_cast<std::int64_t>(quantiles.size());
      case HeadKind::kTokens: return n_features;
    }
    return 0;
  }
  friend bool operator==(const HeadConfig&, const HeadConfig&) = default;
};

}  // namespace foxhunt::model
