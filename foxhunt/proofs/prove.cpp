#include "foxhunt/proofs/prove.h"

#include <algorithm>
#include <chrono>

#include "foxhunt/config/config.h"
#include "foxhunt/proofs/controls.h"
#include "foxhunt/proofs/fit_proofs.h"
#include "foxhunt/proofs/serving_proof.h"
#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"
#include "foxhunt/train/proof_subject.h"

namespace foxhunt::proofs {
namespace {

/// Enough bars for the longest warm-up of the corpus, ends of sessions among them.
constexpr std::size_t kCorpusBars = 5000;
constexpr std::int64_t kCorpusPoints = 16;

void add_corpus(ProofReport& report, Ground ground) {
  if (ground.bars.size() < kCorpusBars) {
    Verdict skipped{.name = "corpus"};
    skipped.notes.push_back("not run: the data have fewer than 5000 bars");
    report.verdicts.push_back(std::move(skipped));
    return;
  }
  ground.bars = ground.bars.first(kCorpusBars);
  ground.points = kCorpusPoints;
  report.corpus = judge_corpus(ground);
  report.verdicts.push_back(report.corpus.verdict());
}

}  // namespace

bool ProofReport::proven() const { return std::ranges::all_of(verdicts, &Verdict::holds); }

std::string ProofReport::first() const {
  for (const Verdict& verdict : verdicts) {
    if (verdict.first) return verdict.name + ": " + verdict.first->text();
  }
  return {};
}

ProofReport prove(const train::ExperimentConfig& config, const ProveOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const UsableBars usable = usable_bars(config);
  ProofReport report{.subject = train::proof_subject(config, train::data_hashes(config)),
                     .files = config.data.files,
                     .config_sha256 = config::hash_of(config),
                     .options = options,
                     .records = usable.records,
                     .bars = std::ssize(usable.bars),
                     .left_out = usable.left_out};
  const TrainingRows source(config.data.product, config.features, config.label);
  const Ground ground{.bars = usable.bars, .points = options.points, .seed = options.seed};
  const double clip = config.features.clip;
  const train::SequenceSet set = source.sequences(usable.bars);
  const train::Split split = train::make_split(config.split, set.sequences);
  const std::vector<NamedSplit> splits =
      splits_of(config, set, options.random_splits, Rng(options.seed).split("splits"));

  auto& out = report.verdicts;
  out.push_back(prove_future_poisoning(source, ground));
  out.push_back(prove_prefix_invariance(source, ground));
  out.push_back(prove_batch_is_stream(source, ground));
  out.push_back(prove_warm_up(source, ground));
  out.push_back(prove_training_is_serving(source, ground));
  out.push_back(prove_normalizer_fit(source, set, splits, ground, clip));
  out.push_back(prove_purge(set, splits, ground));
  out.push_back(prove_windows(set, splits, config.windows, clip));
  out.push_back(prove_no_edge_on_shuffled_labels(set, split, clip, options.seed));
  out.push_back(prove_planted_leak_is_learnt(set, split, clip));
  out.push_back(prove_no_column_is_the_answer(set, config.label.horizon));
  add_corpus(report, ground);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return report;
}

}  // namespace foxhunt::proofs
