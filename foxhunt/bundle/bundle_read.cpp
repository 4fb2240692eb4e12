// Reading: the digest first, so that whatever follows sees bytes as they were written; then every
// rule, since a digest says nothing about who wrote them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/bundle/bundle_layout.h"
#include "foxhunt/bundle/digest.h"
#include "foxhunt/bundle/golden_rows.h"
#include "foxhunt/bundle/leak_proof.h"
#include "foxhunt/config/config.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/model/model_meta.h"
#include "foxhunt/model/safetensors.h"
#include "foxhunt/model/tensor_list.h"
#include "foxhunt/model/weights.h"

namespace foxhunt::bundle {
namespace {

using model::DType;
using model::SafetensorsFile;
using model::TensorView;

constexpr std::string_view kOwnKeys = "foxhunt.";

[[noreturn]] void refuse_file(const SafetensorsFile& file, const std::string& what) {
  throw FormatError(fmt::format("{}: {}", file.name(), what));
}

const std::string& entry_of(const SafetensorsFile& file, std::string_view key) {
  const auto found = file.metadata().find(std::string(key));
  if (found == file.metadata().end())
    refuse_file(file, fmt::format("the metadata has no '{}'", key));
  return found->second;
}

/// Reads one file; every refusal names it.
class BundleReader {
 public:
  BundleReader(const SafetensorsFile& file, model::ModelMeta meta)
      : file_(file),
        bundle_{.config = meta.config,
                .head = std::move(meta.head),
                .context = ModelContext::from_metadata(file.metadata(), file.name())} {}

  Bundle read() {
    check_model();
    read_texts();
    refuse_unknown_keys();
    read_weights();
    read_golden();
    refuse_other_tensors();
    return std::move(bundle_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { refuse_file(file_, what); }
  const std::string& entry(std::string_view key) const { return entry_of(file_, key); }

  void check_model() const {
    if (bundle_.head.kind == model::HeadKind::kTokens)
      refuse("foxhunt.head: a bundle answers market records, which a token model does not");
    const ModelContext& context = bundle_.context;
    try {
      market::contract_for_product(context.product);
    } catch (const ConfigError& error) {
      refuse(fmt::format("foxhunt.product: {}", error.what()));
    }
    // A key that is not there would get this program's default instead of the trained value.
    const auto written = context.to_metadata();
    for (const char* key : {"foxhunt.features", "foxhunt.label", "foxhunt.book"}) {
      if (const auto found = written.find(key); found != written.end())
        require_complete(key, found->second);
    }
    const auto columns = static_cast<std::int64_t>(context.schema.columns.size());
    if (columns != bundle_.head.n_features) {
      refuse(fmt::format("foxhunt.schema has {} columns, but the model takes {} features", columns,
                         bundle_.head.n_features));
    }
  }
  void require_complete(std::string_view key, const std::string& text) const {
    if (entry(key) != text)
      refuse(fmt::format("{} does not list every key as this program writes them", key));
  }

  void read_texts() {
    try {
      bundle_.form = weight_form_of(entry(kWeightsKey));
    } catch (const UsageError& error) {
      refuse(fmt::format("{}: {}", kWeightsKey, error.what()));
    }
    bundle_.training_json = object_text(kTrainingKey);
    if (file_.metadata().contains(std::string(kLatencyKey)))
      bundle_.latency_json = object_text(kLatencyKey);
    if (file_.metadata().contains(std::string(kLeakProofKey))) read_leak_proof();
    bundle_.git_revision = entry(kRevisionKey);
    bundle_.certificate = Certificate::from_json(
        entry(kCertificateKey), fmt::format("{}: {}", file_.name(), kCertificateKey));
    if (!bundle_.certificate.parity.meets(bundle_.certificate.bound))
      refuse(fmt::format("{}: its differences do not meet its bound", kCertificateKey));
  }
  void read_leak_proof() {
    const LeakProof proof =
        parse_leak_proof(entry(kLeakProofKey), fmt::format("{}: {}", file_.name(), kLeakProofKey));
    const ModelContext& context = bundle_.context;
    if (!proof.proven) refuse(fmt::format("{} is of a leak: {}", kLeakProofKey, proof.first));
    const ProofSubject& proven = proof.subject;
    ProofSubject here = proven;
    here.product = context.product;
    here.schema = context.schema.hash();
    here.features = rows_hash(context.features, context.book);
    here.label = config::hash_of(context.label);
    if (const auto other = differences(proven, here); !other.empty())
      refuse(fmt::format("{} speaks of another model: {}", kLeakProofKey, other.front()));
    bundle_.leak_proof_json = proof.text;
  }
  const std::string& object_text(std::string_view key) const {
    const std::string& text = entry(key);
    const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) refuse(fmt::format("{} is not a JSON object", key));
    return text;
  }

  void refuse_unknown_keys() const {
    std::set<std::string, std::less<>> known{
        std::string(kVersionKey),     std::string(kWeightsKey), std::string(kTrainingKey),
        std::string(kCertificateKey), std::string(kLatencyKey), std::string(kDigestKey),
        std::string(kLeakProofKey)};
    for (const auto& [key, value] : bundle_.context.to_metadata()) known.insert(key);
    for (const auto& [key, value] : model::model_metadata(bundle_.config, bundle_.head))
      known.insert(key);
    for (const auto& [key, value] : file_.metadata()) {
      if (key.starts_with(kOwnKeys) && !known.contains(key))
        refuse(fmt::format("the metadata has '{}', which this program does not know", key));
    }
  }

  const TensorView& tensor(const std::string& name, DType dtype,
                           const std::vector<std::int64_t>& shape) {
    const TensorView& view = file_.at(name);
    if (view.dtype != dtype || view.shape != shape) {
      refuse(fmt::format("tensor '{}' is {} [{}], but must be {} [{}]", name,
                         model::to_string(view.dtype), fmt::join(view.shape, ", "),
                         model::to_string(dtype), fmt::join(shape, ", ")));
    }
    taken_.insert(view.name);
    return view;
  }
  std::vector<float> finite_floats(const TensorView& view) const {
    std::vector<float> values = model::floats_of(view);
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    if (bad != values.end()) {
      refuse(fmt::format("tensor '{}': value {} is {}, but must be finite", view.name,
                         bad - values.begin(), *bad));
    }
    return values;
  }

  void read_weights() {
    for (const model::TensorInfo& info : model::tensor_list(bundle_.config, bundle_.head))
      bundle_.weights[info.name] = finite_floats(tensor(info.name, DType::kF32, info.shape));
  }

  void read_golden() {
    Golden& golden = bundle_.golden;
    const bool of_events = bundle_.context.book.has_value();
    const std::string name(of_events ? kGoldenEvents : kGoldenBars);
    const std::vector<std::int64_t>& shape = file_.at(name).shape;
    const std::int64_t n = shape.empty() ? 0 : shape.front();
    if (n < 1) refuse(fmt::format("tensor '{}' has no rows: nothing to verify", name));
    const std::size_t columns = of_events ? std::size_t{kEventColumns} : std::size_t{kBarColumns};
    const TensorView& view = tensor(name, DType::kI64, {n, static_cast<std::int64_t>(columns)});
    std::vector<std::int64_t> rows(view.bytes.size() / sizeof(std::int64_t));
    std::memcpy(rows.data(), view.bytes.data(), view.bytes.size());
    for (std::size_t at = 0; at < rows.size(); at += columns) {
      const GoldenRow row(view.name, at / columns, std::span(rows).subspan(at, columns));
      try {
        if (of_events) {
          golden.events.push_back(row.event());
        } else {
          golden.bars.push_back(row.bar());
        }
      } catch (const FormatError& error) {
        refuse(error.what());
      }
    }
    std::int64_t answers = 0;
    for (const std::byte flag : tensor(std::string(kGoldenReady), DType::kU8, {n}).bytes) {
      const auto ready = std::to_integer<std::uint8_t>(flag);
      if (ready > 1) {
        refuse(fmt::format("tensor '{}': value {} is {}, but must be 0 or 1", kGoldenReady,
                           golden.ready.size(), ready));
      }
      golden.ready.push_back(ready);
      answers += ready;
    }
    if (answers < 1) refuse(fmt::format("tensor '{}' has no 1: nothing to verify", kGoldenReady));
    golden.outputs = finite_floats(
        tensor(std::string(kGoldenOutputs), DType::kF32, {answers, bundle_.head.n_outputs()}));
  }

  void refuse_other_tensors() const {
    for (const TensorView& view : file_.tensors()) {
      if (!taken_.contains(view.name))
        refuse(fmt::format("tensor '{}' does not belong to the model", view.name));
    }
  }

  const SafetensorsFile& file_;
  Bundle bundle_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

Bundle parse_bundle(std::span<const std::byte> bytes, const std::string& name) {
  const std::string digest = checked_digest(bytes, name);
  const auto file = SafetensorsFile::from_bytes(bytes, name);
  if (entry_of(file, kDigestKey) != digest)
    refuse_file(file, fmt::format("{} is not the digest of the bytes", kDigestKey));
  if (const std::string& version = entry_of(file, kVersionKey); version != kBundleVersion) {
    refuse_file(file, fmt::format("{} is '{}', this program reads '{}'", kVersionKey, version,
                                  kBundleVersion));
  }
  Bundle bundle = BundleReader(file, model::read_model_metadata(file.metadata(), name)).read();
  bundle.id = digest;
  return bundle;
}

Bundle read_bundle(const std::filesystem::path& path) {
  // A copy rather than a mapping: a file that shrinks while it is mapped ends the process.
  const std::string bytes = read_file(path);
  return parse_bundle(std::as_bytes(std::span(bytes)), path.string());
}

}  // namespace foxhunt::bundle
