#include "foxhunt/contract/preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/config/config.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/market/synthetic.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::contract {
namespace {

constexpr const char* kProduct = "ES";
constexpr std::int64_t kLeastRecords = 1000;
constexpr std::int64_t kHole = 40;

model::Mamba2Config config_of(std::string_view name) {
  model::Mamba2Config config = model::Mamba2Config::default_hft();
  if (name == "default_hft") return config;
  if (name == "lstm_a_size") {
    config.d_model = 112;
    config.n_layer = 2;
    return config;
  }
  throw UsageError(
      fmt::format("there is no preset '{}'; there are {}", name, fmt::join(preset_names(), ", ")));
}

std::vector<market::Bar> records_of(std::int64_t n, Rng rng) {
  const auto sessions = market::Calendar::for_product(kProduct).sessions_between(
      parse_time("2022-03-01"), parse_time("2023-03-01"));
  // More than asked: a hole takes them, longer than a sequence bears.
  std::vector<market::Bar> bars =
      market::make_synthetic({.bars = n + kHole}, market::contract_for_product(kProduct), sessions,
                             rng)
          .bars;
  const auto at = bars.begin() + n / 2;
  bars.erase(at, at + kHole);
  bars[static_cast<std::size_t>(n / 3)].close = Price::null();
  return bars;
}

features::Normalizer normalizer_of(features::FeaturePipeline& pipeline,
                                   const std::vector<market::Bar>& bars,
                                   const features::FeatureConfig& config) {
  features::NormalizerFit fit(pipeline.schema(), {bars.front().start, bars.back().end()});
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (const market::Bar& bar : bars) {
    if (pipeline.push(bar, row).status == features::Status::kReady) fit.add(bar.end(), row);
  }
  return fit.finish(config.clip);
}

bool ends_with(const std::string& name, std::string_view end) { return name.ends_with(end); }

/// As a model is before its training: values whose step is neither dead nor without end.
std::vector<float> weight_of(const model::TensorInfo& info, const model::Mamba2Config& config,
                             Rng rng) {
  std::vector<float> values(static_cast<std::size_t>(info.size()));
  const auto fill = [&](auto&& draw) {
    for (float& v : values) v = static_cast<float>(draw());
  };
  if (ends_with(info.name, "A_log")) {
    fill([&] { return std::log(rng.uniform(config.a_init_min, config.a_init_max)); });
  } else if (ends_with(info.name, "dt_bias")) {
    fill([&] {
      const double dt =
          std::exp(rng.uniform(std::log(config.dt_init_min), std::log(config.dt_init_max)));
      return std::log(std::expm1(dt));  // softplus gives dt back
    });
  } else if (info.shape.size() < 2) {
    const bool is_bias = ends_with(info.name, "bias");
    fill([&] { return (is_bias ? 0.0 : 1.0) + rng.uniform(-0.1, 0.1); });
  } else {
    const std::int64_t fan_in = info.size() / info.shape.front();
    const double most = 1.0 / std::sqrt(static_cast<double>(fan_in));
    fill([&] { return rng.uniform(-most, most); });
  }
  return values;
}

/// What this engine answers in float32, as golden answers; the certificate says so.
void add_golden(bundle::Bundle& bundle, std::vector<market::Bar> bars) {
  bundle.golden.bars = std::move(bars);
  engine::Session session(engine::Plan::build(bundle));
  const engine::Plan& plan = session.plan();
  std::vector<float> out(static_cast<std::size_t>(plan.n_outputs()));
  bundle::Golden& golden = bundle.golden;
  for (const market::Bar& bar : golden.bars) {
    const bool ready = session.on_event(bar, out) == engine::Status::kReady;
    golden.ready.push_back(ready ? 1 : 0);
    if (ready) golden.outputs.insert(golden.outputs.end(), out.begin(), out.end());
  }
  const engine::VerifyReport report = engine::verify(engine::Plan::build(bundle));
  bundle.certificate = {.parity = report.parity,
                        .bound = report.bound,
                        .kernels = report.kernels,
                        .reference = "none: random weights, this engine in float32",
                        .cpu = this_machine().cpu_model,
                        .data = "a made-up market"};
}

}  // namespace

std::vector<std::string> preset_names() { return {"default_hft", "lstm_a_size"}; }

bundle::Bundle preset_bundle(std::string_view name, std::uint64_t seed, std::int64_t records) {
  const model::Mamba2Config config = config_of(name);
  if (records < kLeastRecords) {
    throw UsageError(
        fmt::format("[contract] {} records: a preset takes at least {}", records, kLeastRecords));
  }
  const Rng rng(seed);
  std::vector<market::Bar> bars = records_of(records, rng.split("records"));
  const features::FeatureConfig features;
  features::FeaturePipeline pipeline(features, market::Calendar::for_product(kProduct),
                                     market::contract_for_product(kProduct));
  bundle::Bundle bundle{.context = {.product = kProduct,
                                    .features = features,
                                    .schema = pipeline.schema(),
                                    .normalizer = normalizer_of(pipeline, bars, features),
                                    .label = {},
                                    .config_sha256 = sha256_of(name)}};
  bundle.config = config;
  bundle.head.n_features = pipeline.width();
  for (const model::TensorInfo& info : model::tensor_list(bundle.config, bundle.head))
    bundle.weights[info.name] = weight_of(info, config, rng.split(info.name));
  bundle.training_json =
      fmt::format(R"({{"preset": "{}", "random weights of seed": {}}})", name, seed);
  bundle.form = bundle::WeightForm::kF32;
  add_golden(bundle, std::move(bars));
  return bundle;
}

}  // namespace foxhunt::contract
