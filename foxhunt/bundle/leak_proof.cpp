#include "foxhunt/bundle/leak_proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::bundle {
namespace {

using Json = nlohmann::json;  // sorted keys: the canonical order

constexpr std::string_view kVersion = "1";
constexpr const char* kSeal = "sha256";

Json object_of(std::string_view text, const std::string& name) {
  if (const std::string problem = json_problem(text); !problem.empty())
    throw FormatError(fmt::format("{}: the text {}", name, problem));
  Json json = Json::parse(text);
  if (!json.is_object()) throw FormatError(fmt::format("{}: is no JSON object", name));
  return json;
}

std::string seal_of(Json json) {
  json.erase(kSeal);
  return sha256_of(json.dump());
}

/// Fields of one object; every refusal names file and field.
class Fields {
 public:
  Fields(const Json& json, const std::string& name) : json_(json), name_(name) {}

  template <class T>
  T get(const char* field) const {
    try {
      return json_.at(field).get<T>();
    } catch (const Json::exception& error) {
      throw FormatError(fmt::format("{}: field '{}': {}", name_, field, error.what()));
    }
  }

 private:
  const Json& json_;
  const std::string& name_;
};

ProofSubject subject_of(const Json& json, const std::string& name) {
  const Fields fields(json, name);
  ProofSubject subject{.product = fields.get<std::string>("product"),
                       .symbol = fields.get<std::string>("symbol"),
                       .reading = fields.get<std::string>("reading_sha256"),
                       .schema = fields.get<std::string>("schema_sha256"),
                       .features = fields.get<std::string>("features_sha256"),
                       .label = fields.get<std::string>("label_sha256"),
                       .split = fields.get<std::string>("split_sha256")};
  for (const Json& file : fields.get<Json>("data"))
    subject.data.push_back(Fields(file, name).get<std::string>("sha256"));
  if (!json.contains("more_splits")) return subject;  // files of before there were any
  for (const Json& split : fields.get<Json>("more_splits")) {
    const Fields one(split, name);
    subject.more_splits.push_back(
        {.name = one.get<std::string>("name"), .sha256 = one.get<std::string>("sha256")});
  }
  return subject;
}

}  // namespace

std::string leak_proof_seal(std::string_view json, const std::string& name) {
  return seal_of(object_of(json, name));
}

LeakProof parse_leak_proof(std::string_view text, const std::string& name) {
  const Json json = object_of(text, name);
  const Fields fields(json, name);
  const auto version = fields.get<std::string>("foxhunt.leakproof");
  if (version != kVersion) {
    throw FormatError(fmt::format("{}: a leak proof of version {}, this program reads {}", name,
                                  version, kVersion));
  }
  const auto seal = fields.get<std::string>(kSeal);
  if (const std::string real = seal_of(json); seal != real) {
    throw FormatError(
        fmt::format("{}: was changed after it was written: its content has SHA-256 {}, it says {}",
                    name, real, seal));
  }
  return {.subject = subject_of(fields.get<Json>("subject"), name),
          .proven = fields.get<bool>("proven"),
          .first = fields.get<std::string>("first"),
          .sha256 = seal,
          .text = std::string(text)};
}

std::vector<std::string> differences(const ProofSubject& proven, const ProofSubject& here) {
  std::vector<std::string> found;
  const auto compare = [&found](const std::string& what, const std::string& a,
                                const std::string& b) {
    if (a != b) found.push_back(fmt::format("{}: proven for '{}', here '{}'", what, a, b));
  };
  compare("product", proven.product, here.product);
  compare("symbol", proven.symbol, here.symbol);
  compare("number of data files", std::to_string(proven.data.size()),
          std::to_string(here.data.size()));
  for (std::size_t i = 0; i < std::min(proven.data.size(), here.data.size()); ++i)
    compare(fmt::format("SHA-256 of data file {}", i + 1), proven.data[i], here.data[i]);
  compare("[data.csv]", proven.reading, here.reading);
  compare("feature schema", proven.schema, here.schema);
  compare("[features]", proven.features, here.features);
  compare("[label]", proven.label, here.label);
  if (std::ranges::find(proven.more_splits, here.split, &ProvenSplit::sha256) ==
      proven.more_splits.end())
    compare("[split]", proven.split, here.split);
  return found;
}

LeakProof require_leak_proof(const std::filesystem::path& path, const ProofSubject& here) {
  LeakProof proof = parse_leak_proof(read_file(path), path.string());
  const std::vector<std::string> other = differences(proof.subject, here);
  if (!other.empty()) {
    throw DataError(
        fmt::format("{}: speaks of something else; make it anew with foxhunt features "
                    "prove\n  {}",
                    path.string(), fmt::join(other, "\n  ")));
  }
  if (!proof.proven)
    throw DataError(fmt::format("{}: a leak was found: {}", path.string(), proof.first));
  return proof;
}

}  // namespace foxhunt::bundle
