#include "foxhunt/contract/peer_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/contract/replay.h"

namespace foxhunt::contract {

std::string peer_rows_json(const bundle::Bundle& bundle, std::int64_t rows) {
  if (rows < 1) throw UsageError(fmt::format("[contract] {} rows: must be >= 1", rows));
  const auto plan = engine::Plan::build(bundle, {.form = bundle::WeightForm::kF32});
  const Rows all = rows_of(plan);
  engine::Session session(plan);
  const auto width = static_cast<std::size_t>(all.n_features);
  std::vector<float> scaled(width);
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  nlohmann::json features = nlohmann::json::array();
  nlohmann::json answers = nlohmann::json::array();
  const auto n = std::min<std::size_t>(static_cast<std::size_t>(rows), all.answered.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const float> raw(all.features.data() + i * width, width);
    plan->bundle().context.normalizer.apply(raw, scaled);
    session.step(raw, out);
    features.push_back(scaled);
    answers.push_back(out);
  }
  return nlohmann::json{{"features", features}, {"answers", answers}}.dump();
}

}  // namespace foxhunt::contract
