#pragma once
// What goes into the model and what its last layer answers with.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::model {

enum class HeadKind {
  kClassification,  ///< n_classes logits; softmax gives probabilities
  kRegression,      ///< one value
  kQuantiles,       ///< one value a quantile
  kTokens,  ///< imports of language models only: embedding in, logits over the vocabulary out
};

struct HeadConfig {
  HeadKind kind = HeadKind::kClassification;
  std::int64_t n_features = 16;  ///< width of an input row (F); vocabulary size for kTokens
  std::int64_t n_classes = 3;    ///< for kClassification
  std::vector<double> quantiles{0.1, 0.5, 0.9};
  bool tied = true;  ///< kTokens: the head's weight is the embedding's

  std::int64_t n_outputs() const {
    switch (kind) {
      case HeadKind::kClassification:
        return n_classes;
      case HeadKind::kRegression:
        return 1;
      case HeadKind::kQuantiles:
        return static_cast<std::int64_t>(quantiles.size());
      case HeadKind::kTokens:
        return n_features;
    }
    return 0;
  }

  /// Everything that is wrong, one a line. Empty: all well.
  std::vector<std::string> errors() const;
  /// Errors  ConfigError with all of errors().
  void validate() const;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"classification", HeadKind::kClassification},
                {"regression", HeadKind::kRegression},
                {"quantiles", HeadKind::kQuantiles},
                {"tokens", HeadKind::kTokens}},
               "what the model answers with; tokens: imported language models only");
    key("n_features", c.n_features, 1, 1 << 20,
        "values of an input row; vocabulary of a token model");
    key("n_classes", c.n_classes, 2, 1 << 16, "classes of a classification head");
    key("quantiles", c.quantiles, 0.0, 1.0, "rising levels of a quantile head, inside (0, 1)");
    key("tied", c.tied, "token models: the head's weight is the embedding's");
  }
  friend bool operator==(const HeadConfig&, const HeadConfig&) = default;
};

}  // namespace foxhunt::model
