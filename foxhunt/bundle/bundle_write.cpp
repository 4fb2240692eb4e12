// Writing: all bytes in memory, sealed, read back as any reader would, then put in place.
#include <fmt/format.h>

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/bundle/bundle_layout.h"
#include "foxhunt/bundle/digest.h"
#include "foxhunt/bundle/golden_rows.h"
#include "foxhunt/model/model_meta.h"
#include "foxhunt/model/safetensors.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::bundle {
namespace {

using model::DType;
using model::TensorView;

std::map<std::string, std::string> metadata_of(const Bundle& bundle) {
  std::map<std::string, std::string> metadata = bundle.context.to_metadata();
  metadata.merge(model::model_metadata(bundle.config, bundle.head));
  const auto put = [&](std::string_view key, std::string value) {
    metadata[std::string(key)] = std::move(value);
  };
  put(kVersionKey, std::string(kBundleVersion));
  put(kWeightsKey, std::string(to_string(bundle.form)));
  put(kTrainingKey, bundle.training_json);
  put(kCertificateKey, bundle.certificate.to_json());
  if (!bundle.latency_json.empty()) put(kLatencyKey, bundle.latency_json);
  if (!bundle.leak_proof_json.empty()) put(kLeakProofKey, bundle.leak_proof_json);
  if (!bundle.git_revision.empty()) put(kRevisionKey, bundle.git_revision);
  put(kDigestKey, std::string(kDigestDigits, '0'));
  return metadata;
}

std::string unsealed_bytes(const Bundle& bundle, const std::string& name) {
  const bool of_events = !bundle.golden.events.empty();
  const std::vector<std::int64_t> records =
      of_events ? golden_rows(bundle.golden.events) : golden_rows(bundle.golden.bars);
  const std::size_t columns = of_events ? std::size_t{kEventColumns} : std::size_t{kBarColumns};
  const auto n = static_cast<std::int64_t>(records.size() / columns);
  const std::int64_t outputs = bundle.head.n_outputs();
  // By falling size of a value, so that each is aligned: LibTorch's reader needs that.
  std::vector<TensorView> tensors{{std::string(of_events ? kGoldenEvents : kGoldenBars),
                                   DType::kI64,
                                   {n, static_cast<std::int64_t>(columns)},
                                   std::as_bytes(std::span(records))}};
  for (const model::TensorInfo& info : model::tensor_list(bundle.config, bundle.head)) {
    const auto found = bundle.weights.find(info.name);
    if (found == bundle.weights.end())
      throw FormatError(fmt::format("{}: weight '{}' is missing", name, info.name));
    tensors.push_back(
        {info.name, DType::kF32, info.shape, std::as_bytes(std::span(found->second))});
  }
  if (tensors.size() != 1 + bundle.weights.size()) {
    throw FormatError(fmt::format("{}: {} weights, but the model has {}", name,
                                  bundle.weights.size(), tensors.size() - 1));
  }
  const auto answers = static_cast<std::int64_t>(bundle.golden.outputs.size()) / outputs;
  tensors.push_back({std::string(kGoldenOutputs),
                     DType::kF32,
                     {answers, outputs},
                     std::as_bytes(std::span(bundle.golden.outputs))});
  tensors.push_back({std::string(kGoldenReady),
                     DType::kU8,
                     {static_cast<std::int64_t>(bundle.golden.ready.size())},
                     std::as_bytes(std::span(bundle.golden.ready))});
  return model::safetensors_bytes(tensors, metadata_of(bundle), name);
}

}  // namespace

std::string bundle_bytes(const Bundle& bundle, const std::string& name) {
  try {
    std::string bytes = unsealed_bytes(bundle, name);
    seal(bytes, name);
    parse_bundle(std::as_bytes(std::span(bytes)), name);  // what no reader takes is not written
    return bytes;
  } catch (const ConfigError& error) {
    throw FormatError(fmt::format("{}: {}", name, error.what()));
  }
}

std::string write_bundle(const std::filesystem::path& path, const Bundle& bundle) {
  const std::string bytes = bundle_bytes(bundle, path.string());
  write_file_atomic(path, bytes);
  return checked_digest(std::as_bytes(std::span(bytes)), path.string());
}

}  // namespace foxhunt::bundle
