#include "foxhunt/engine/output_names.h"

#include <fmt/format.h>

#include "foxhunt/bundle/answer.h"

namespace foxhunt::engine {

std::vector<std::string> output_names(const bundle::Bundle& bundle) {
  const model::HeadConfig& head = bundle.head;
  std::vector<std::string> names;
  switch (head.kind) {
    case model::HeadKind::kClassification:
      for (std::int64_t k = 0; k < head.n_classes; ++k) {
        const bool direction = bundle::is_class(bundle.context.label.kind) && head.n_classes == 3;
        names.push_back(direction ? std::string(bundle::class_name(k))
                                  : fmt::format("class_{}", k));
      }
      break;
    case model::HeadKind::kQuantiles:
      for (const double q : head.quantiles) names.push_back(fmt::format("q{}", q));
      break;
    case model::HeadKind::kRegression:
    case model::HeadKind::kTokens:
      names.emplace_back("value");
      break;
  }
  return names;
}

}  // namespace foxhunt::engine
