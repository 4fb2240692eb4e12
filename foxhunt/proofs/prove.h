#pragma once
// The door of this room: everything that can be proven about an experiment, and the file that says
// so.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/bundle/leak_proof.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/proofs/corpus/corpus.h"
#include "foxhunt/proofs/verdict.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::proofs {

struct ProveOptions {
  std::int64_t points = 48;  ///< places at which the future, the start or the end is varied
  std::uint64_t seed = 1;
  std::int64_t random_splits = 12;
};

struct ProofReport {
  bundle::ProofSubject subject{};
  std::vector<features::Library> libraries{};  ///< of a user's columns
  std::vector<std::string> files{};            ///< as configured
  std::string config_sha256{};
  ProveOptions options{};
  std::int64_t records = 0;   ///< in the files
  std::int64_t bars = 0;      ///< or order events, that the pipeline takes
  std::int64_t left_out = 0;  ///< of the selected ones, not taken
  std::vector<Verdict> verdicts{};
  CorpusReport corpus{};  ///< empty where the data are too short for it
  double seconds = 0;

  bool proven() const;
  std::string first() const;  ///< counterexample in one line; "" where all holds
};

/// Runs every proof over the experiment's data. A leak is no error but an answer.
/// Errors  what readers, SequenceBuilder and make_split throw: data or configuration that could not
///         be trained on either.
ProofReport prove(const train::ExperimentConfig& config, const ProveOptions& options);

/// leakproof.json, sealed (bundle/leak_proof.h). The same program, data, configuration and options
/// give the same bytes.
std::string to_json(const ProofReport& report);
std::string to_text(const ProofReport& report);

}  // namespace foxhunt::proofs
