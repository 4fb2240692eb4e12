#pragma once
// A small bundle for tests, made from a seed: real features over a made-up walk, random weights.

#include "foxhunt/base/rng.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/features/normalizer.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/features/test_bars.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::bundle::test {

inline Bundle small_bundle(std::uint64_t seed = 1) {
  Rng rng(seed);
  const auto pipeline = features::test::make_pipeline();
  const UnixNanos start = parse_time("2013-10-07T14:00");
  const features::FitRange range{start, start + std::chrono::hours{1}};
  features::NormalizerFit fit(pipeline.schema(), range);
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (std::int64_t i = 0; i < 10; ++i) {
    for (float& v : row) v = static_cast<float>(rng.uniform());
    fit.add(start + std::chrono::minutes{i}, row);
  }
  Bundle bundle{.context = {.product = "ES",
                            .features = features::test::small_config(),
                            .schema = pipeline.schema(),
                            .normalizer = fit.finish(5),
                            .label = {},
                            .config_sha256 = std::string(64, 'c')}};
  bundle.config.d_model = 4;
  bundle.config.n_layer = 1;
  bundle.config.d_state = 2;
  bundle.config.headdim = 4;
  bundle.head.n_features = pipeline.width();
  for (const model::TensorInfo& info : model::tensor_list(bundle.config, bundle.head)) {
    std::vector<float>& values = bundle.weights[info.name];
    for (std::int64_t i = 0; i < info.size(); ++i)
      values.push_back(static_cast<float>(rng.uniform(-1.0, 1.0)));
  }
  bundle.form = WeightForm::kBF16;
  bundle.training_json = R"({"epochs": 3, "note": "\"foxhunt.sha256\":\"0000\" in quotes"})";
  bundle.certificate = {.parity = {.rows = 100, .largest_output = 2.5, .max_difference = 1e-3},
                        .bound = bound_of(WeightForm::kBF16),
                        .kernels = "avx2",
                        .reference = "LibTorch, cpu, float32",
                        .cpu = "a test",
                        .data = "a walk"};
  bundle.golden.bars = features::test::random_bars(rng, start, 12);
  bundle.golden.bars[3].volume = ~std::uint64_t{0};
  bundle.golden.bars[4].start = kNullTime;
  bundle.golden.bars[5].close = Price::null();
  bundle.golden.ready = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1};
  for (std::int64_t i = 0; i < 3 * bundle.head.n_outputs(); ++i)
    bundle.golden.outputs.push_back(static_cast<float>(rng.uniform(-2.5, 2.5)));
  return bundle;
}

}  // namespace foxhunt::bundle::test
