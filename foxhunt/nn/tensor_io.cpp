#include "foxhunt/nn/tensor_io.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/model/model_meta.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::DType;

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::kF64, at::kDouble},    {DType::kF32, at::kFloat}, {DType::kF16, at::kHalf},
    {DType::kBF16, at::kBFloat16}, {DType::kI64, at::kLong},  {DType::kI32, at::kInt},
    {DType::kI16, at::kShort},     {DType::kI8, at::kChar},   {DType::kU8, at::kByte},
    {DType::kBool, at::kBool}};

at::ScalarType torch_type(DType dtype) {
  for (const auto& [ours, torchs] : kTypes) {
    if (ours == dtype) return torchs;
  }
  throw FormatError(fmt::format("[tensor_io] LibTorch has no {}", model::to_string(dtype)));
}

std::optional<DType> file_type(at::ScalarType dtype) {
  for (const auto& [ours, torchs] : kTypes) {
    if (torchs == dtype) return ours;
  }
  return std::nullopt;
}

bool widens(at::ScalarType from, at::ScalarType to) {
  if (from == to) return true;
  if (to == at::kDouble) return from == at::kFloat || from == at::kHalf || from == at::kBFloat16;
  return to == at::kFloat && (from == at::kHalf || from == at::kBFloat16);
}

/// A contiguous copy on the host, or the tensor itself where it is one.
Tensor host_copy(const std::string& name, const Tensor& tensor) {
  if (!tensor.defined())
    throw FormatError(fmt::format("[tensor_io] tensor '{}' is undefined", name));
  if (tensor.is_meta())
    throw FormatError(fmt::format("[tensor_io] tensor '{}' lies on meta and has no values", name));
  return tensor.detach().to(at::kCPU).contiguous();
}

model::TensorView view_of(const std::string& name, const Tensor& host) {
  const auto dtype = file_type(host.scalar_type());
  if (!dtype) {
    throw FormatError(fmt::format("[tensor_io] tensor '{}': a file cannot hold {}", name,
                                  at::toString(host.scalar_type())));
  }
  return {name,
          *dtype,
          host.sizes().vec(),
          {static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()}};
}

NamedTensors parameters_of(const Mamba2SSM& model) {
  const auto named = model.named_parameters();
  NamedTensors tensors;
  for (const model::TensorInfo& info : model::tensor_list(model.config(), model.head_config())) {
    tensors.emplace_back(info.name, named[info.name]);
  }
  return tensors;
}

bool same_bytes(const model::TensorView& a, const model::TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes.size() == b.bytes.size() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

/// Which view of the file each of the model's tensors comes from, and everything that does not fit.
class Matcher {
 public:
  Matcher(const Mamba2SSM& model, const model::SafetensorsFile& file) : model_(model) {
    for (const model::TensorView& view : file.tensors())
      by_name_[model::canonical_tensor_name(view.name)] = &view;
    if (by_name_.size() != file.tensors().size())
      problems.emplace_back("two tensors have the embedding's name");
    drop_tied_head();
    for (const auto& [name, parameter] : parameters_of(model)) match(name, parameter);
    for (const auto& [name, view] : by_name_)
      problems.push_back(fmt::format("'{}' is extra", name));
  }

  std::vector<std::pair<Tensor, const model::TensorView*>> pairs;
  std::vector<std::string> problems;

 private:
  void drop_tied_head() {
    const model::HeadConfig& head = model_.head_config();
    const auto tied = by_name_.find("lm_head.weight");
    const auto embedding = by_name_.find("backbone.embeddings.weight");
    if (head.kind != model::HeadKind::kTokens || !head.tied || tied == by_name_.end()) return;
    if (embedding != by_name_.end() && !same_bytes(*tied->second, *embedding->second)) {
      problems.emplace_back("'lm_head.weight' differs from the embedding, but the head is tied");
    }
    by_name_.erase(tied);
  }

  void match(const std::string& name, const Tensor& parameter) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      problems.push_back(fmt::format("'{}' is missing", name));
      return;
    }
    const model::TensorView& view = *found->second;
    by_name_.erase(found);
    if (view.shape != parameter.sizes().vec()) {
      problems.push_back(fmt::format("'{}' is [{}], but the model says [{}]", name,
                                     fmt::join(view.shape, ", "),
                                     fmt::join(parameter.sizes(), ", ")));
    } else if (!widens(torch_type(view.dtype), parameter.scalar_type())) {
      problems.push_back(fmt::format("'{}' is {}, which does not fit into {}", name,
                                     model::to_string(view.dtype),
                                     at::toString(parameter.scalar_type())));
    } else {
      pairs.emplace_back(parameter, &view);
    }
  }

  const Mamba2SSM& model_;
  std::map<std::string, const model::TensorView*> by_name_;
};

}  // namespace

Tensor tensor_of(const model::TensorView& view, at::Device device) {
  const Tensor host =
      at::empty(view.shape, at::TensorOptions(at::kCPU).dtype(torch_type(view.dtype)));
  // The file's bytes need not be aligned for their type.
  if (!view.bytes.empty())
    std::memcpy(host.mutable_data_ptr(), view.bytes.data(), view.bytes.size());
  return host.to(device);
}

void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<Tensor> keep;
  std::vector<model::TensorView> views;
  for (const auto& [name, tensor] : tensors) {
    keep.push_back(host_copy(name, tensor));
    views.push_back(view_of(name, keep.back()));
  }
  model::write_safetensors(path, views, metadata);
}

void load_weights(Mamba2SSM& model, const model::SafetensorsFile& file) {
  const Matcher matcher(model, file);
  if (!matcher.problems.empty()) {
    throw FormatError(fmt::format("{}: does not hold this model's weights: {}", file.name(),
                                  fmt::join(matcher.problems, "; ")));
  }
  const at::NoGradGuard no_grad;
  for (const auto& [parameter, view] : matcher.pairs) parameter.copy_(tensor_of(*view, at::kCPU));
}

void save_weights(const Mamba2SSM& model, const std::filesystem::path& path,
                  const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> all =
      model::model_metadata(model.config(), model.head_config());
  all.insert(metadata.begin(), metadata.end());
  save_tensors(path, parameters_of(model), all);
}

std::shared_ptr<Mamba2SSM> load_model(const std::filesystem::path& path, at::Device device,
                                      at::ScalarType dtype) {
  const auto file = model::SafetensorsFile::open(path);
  const model::ModelMeta meta = model::read_model_metadata(file.metadata(), file.name());
  auto model = std::make_shared<Mamba2SSM>(meta.config, meta.head, device, dtype);
  load_weights(*model, file);
  return model;
}

std::string weights_hash(const Mamba2SSM& model) {
  Sha256 hash;
  for (const auto& [name, tensor] : parameters_of(model)) {
    const Tensor host = host_copy(name, tensor);
    const model::TensorView view = view_of(name, host);
    hash.update(fmt::format("{}\n{} [{}]\n", name, model::to_string(view.dtype),
                            fmt::join(view.shape, ", ")));
    hash.update(view.bytes);
  }
  return hash.finish();
}

}  // namespace foxhunt::nn
