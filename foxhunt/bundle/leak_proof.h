#pragma once
// A leak proof as it travels, leakproof.json: what was proven, about which data, features, labels
// and splits, sealed by its own hash. docs/proofs.md lists its fields.
//
// The seal says that nothing was changed since it was written, not who wrote it: whoever doubts the
// answer repeats `foxhunt features prove` and compares the files.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::bundle {

inline constexpr const char* kLeakProofFile = "leakproof.json";

/// A split that the proofs about splits ran over beside the configured one.
struct ProvenSplit {
  std::string name{};    ///< "fold 3", "random 2"
  std::string sha256{};  ///< of the resolved [split]
};

/// What must be the same for a proof to speak of a run. All hashes are SHA-256.
struct ProofSubject {
  std::string product{};
  std::string symbol{};
  std::vector<std::string> data{};  ///< of each file, in order
  std::string reading{};            ///< of how files are read, the resolved [data.csv]
  std::string schema{};             ///< features::Schema::hash()
  std::string features{};           ///< of the resolved [features], [label] and [split]
  std::string label{};
  std::string split{};
  /// A run may be of any of these instead: so one proof serves every fold of a walk-forward.
  std::vector<ProvenSplit> more_splits{};
};

struct LeakProof {
  ProofSubject subject{};
  bool proven = false;
  std::string first{};   ///< counterexample in one line; "" where there is none
  std::string sha256{};  ///< the seal
  std::string text{};    ///< the whole file
};

/// The seal of a JSON object: SHA-256 of its canonical text (keys sorted, no white space) without
/// the entry "sha256".
/// Errors  FormatError naming `name`: no JSON object.
std::string leak_proof_seal(std::string_view json, const std::string& name);

/// Checks the seal first, then every field that is read. Errors  FormatError naming `name`, the
/// field and the rule.
LeakProof parse_leak_proof(std::string_view text, const std::string& name);

/// What differs, a line each: "data file 1: SHA-256 … there, … here". Empty: the proof speaks of
/// `here`.
std::vector<std::string> differences(const ProofSubject& proven, const ProofSubject& here);

/// Errors  IoError, FormatError; DataError: it speaks of something else (each difference), or it
/// found a leak (the first counterexample).
LeakProof require_leak_proof(const std::filesystem::path& path, const ProofSubject& here);

}  // namespace foxhunt::bundle
