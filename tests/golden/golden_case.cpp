#include "tests/golden/golden_case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "foxhunt/base/json.h"

namespace foxhunt::golden {
namespace {

namespace fs = std::filesystem;

template <class T>
std::vector<T> copy_of(const model::TensorView& view) {
  std::vector<T> values(view.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  return values;
}

model::GateNorm norm_of(const std::string& name) {
  if (name == "norm_first") return model::GateNorm::kNormFirst;
  return name == "none" ? model::GateNorm::kNone : model::GateNorm::kGateFirst;
}

}  // namespace

fs::path folder() {
  if (const char* given = std::getenv("FOXHUNT_GOLDEN"); given != nullptr && *given != '\0')
    return given;
  return "tests/golden/mamba2";  // tests run in the root of the repository
}

std::vector<std::string> cases() {
  std::vector<std::string> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder(), missing)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

GoldenCase::GoldenCase(const fs::path& path) : file(model::SafetensorsFile::open(path)) {
  const auto spec = nlohmann::json::parse(file.metadata().at("spec"));
  config.d_model = spec.at("d_model");
  config.n_layer = spec.value("layers", 1);
  config.d_state = spec.at("d_state");
  config.headdim = spec.at("headdim");
  config.expand = spec.at("expand");
  config.ngroups = spec.at("ngroups");
  config.d_conv = spec.at("d_conv");
  config.chunk_size = spec.at("chunk");
  config.dt_limit_min = spec.at("dt_min");
  const auto& high = spec.at("dt_max");
  config.dt_limit_max =
      high.is_string() ? std::numeric_limits<double>::infinity() : high.get<double>();
  config.norm_eps = spec.at("eps");
  config.gate_norm = norm_of(spec.at("norm"));
  config.conv_bias = spec.at("conv_bias");
  config.proj_bias = spec.at("proj_bias");
  config.has_d = spec.at("has_D");
  config.validate();
  batch = spec.value("B", 0);
  tokens = spec.value("T", 0);
  if (spec.contains("cut") && spec["cut"].is_number()) cut = spec["cut"];
}

std::vector<double> GoldenCase::reals(const std::string& name) const {
  const model::TensorView& view = file.at(name);
  if (view.dtype == model::DType::kF64) return copy_of<double>(view);
  const std::vector<float> narrow = copy_of<float>(view);
  return {narrow.begin(), narrow.end()};
}

std::vector<std::int64_t> GoldenCase::integers(const std::string& name) const {
  return copy_of<std::int64_t>(file.at(name));
}

std::vector<std::string> GoldenCase::parameters() const {
  std::vector<std::string> names;
  for (const char* name :
       {"in_proj.weight", "in_proj.bias", "conv1d.weight", "conv1d.bias", "dt_bias", "A_log", "D",
        "norm.weight", "out_proj.weight", "out_proj.bias"}) {
    if (has(name)) names.emplace_back(name);
  }
  return names;
}

double error(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double scale = 1.0;
  double worst = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    scale = std::max(scale, std::abs(expected[i]));
    worst = std::max(worst, std::abs(got[i] - expected[i]));
  }
  return worst / scale;
}

std::string test_name(std::string stem) {
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return stem;
}

}  // namespace foxhunt::golden
