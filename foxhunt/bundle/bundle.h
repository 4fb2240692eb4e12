#pragma once
// The served model in one file: weights, everything needed to answer from raw records, and the
// proof that the engine answers as the trained model did.
//
// A safetensors file that any reader of that format opens; docs/model_file.md describes every byte.
// Tensors: the weights in float32 under the names of model/tensor_list.h, and the golden rows.
// Metadata: the model (model/model_meta.h), its context (model_context.h), and
//
//   "foxhunt.bundle": "1"              version of this layout
//   "foxhunt.weights": "bf16"          the form in which the engine serves the weights
//   "foxhunt.training": {...}          what the run says of itself: epochs, losses, data, hashes
//   "foxhunt.certificate": {...}       certificate.h
//   "foxhunt.latency": {...}           measured on a named machine; absent until then
//   "foxhunt.leakproof": {...}         leak_proof.h; absent where the run was unproven
//   "foxhunt.sha256": "..."            of the whole file, with these 64 digits as zeros
//
// Weights stay float32 in the file whatever form serves them: narrowing is part of packing, the
// same on every machine, and the file stays what another system can load.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/bundle/certificate.h"
#include "foxhunt/bundle/model_context.h"
#include "foxhunt/bundle/weight_form.h"
#include "foxhunt/market/record.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::bundle {

/// Real records and what the trained model answered: what `verify` replays. Bars or order events,
/// whichever the model's features are made of.
struct Golden {
  std::vector<market::Bar> bars{};
  std::vector<market::OrderEvent> events{};
  std::vector<std::uint8_t> ready{};  ///< [records] 1 where the model answered
  std::vector<float> outputs{};  ///< [sum of ready, K] of the trained model in LibTorch, float32
};

struct Bundle {
  model::Mamba2Config config{};
  model::HeadConfig head{};
  ModelContext context;  ///< no default: a model without one answers nothing
  std::map<std::string, std::vector<float>> weights{};  ///< by name, row-major
  WeightForm form = WeightForm::kF32;
  std::string training_json = "{}";
  Certificate certificate{};
  Golden golden{};
  std::string latency_json{};     ///< "" until measured
  std::string leak_proof_json{};  ///< leakproof.json of the run, byte for byte; "": unproven
  std::string git_revision{};     ///< of the program that exported; "": written as this program's
  std::string id{};               ///< the file's own SHA-256; set by reading and writing
};

/// Reads and checks everything: the digest of all bytes first, then layout, versions, every tensor
/// of the list with its shape and dtype and no other one, finite weights, golden rows of fitting
/// sizes with at least one answer, a certificate that meets its bound, features as many as the
/// model takes, a leak proof (where there is one) that is sealed, holds and speaks of these
/// features and this label. Entries of the metadata outside "foxhunt." are not read. Errors
/// IoError; FormatError naming file, entry and rule; ConfigError of a model that cannot be. Cost
/// one pass over the file.
Bundle read_bundle(const std::filesystem::path& path);
/// The same from memory; `name` stands for the file in messages.
Bundle parse_bundle(std::span<const std::byte> bytes, const std::string& name);

/// The file's bytes, sealed; parse_bundle() takes them. The same bundle gives the same bytes, and a
/// bundle that was read gives the bytes that it was read from. Memory  the file twice.
/// Errors  FormatError naming `name`: the content breaks a rule of reading.
std::string bundle_bytes(const Bundle& bundle, const std::string& name);

/// Writes atomically and answers the id. The same bundle gives the same bytes.
/// Errors  IoError; FormatError where the content breaks a rule of reading.
std::string write_bundle(const std::filesystem::path& path, const Bundle& bundle);

}  // namespace foxhunt::bundle
