#include "foxhunt/proofs/prove.h"

#include <algorithm>
#include <chrono>

#include "foxhunt/config/config.h"
#include "foxhunt/proofs/book_proofs.h"
#include "foxhunt/proofs/controls.h"
#include "foxhunt/proofs/fit_proofs.h"
#include "foxhunt/proofs/serving_proof.h"
#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"
#include "foxhunt/proofs/user_proofs.h"
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

/// The report says which they are: runs of any of them are proven.
std::vector<NamedSplit> splits_to_prove(const train::ExperimentConfig& config,
                                        const train::SequenceSet& set, ProofReport& report) {
  std::vector<NamedSplit> splits = splits_of(config, set, report.options.random_splits,
                                             Rng(report.options.seed).split("splits"));
  for (const NamedSplit& split : splits) {
    const std::string hash = config::hash_of(split.config);
    if (hash != report.subject.split)
      report.subject.more_splits.push_back({.name = split.name, .sha256 = hash});
  }
  return splits;
}

/// What needs rows and labels alone, whatever they were made of.
void prove_rows(const train::ExperimentConfig& config, const train::SequenceSet& set,
                std::span<const NamedSplit> splits, const Ground& ground, ProofReport& report) {
  const double clip = config.features.clip;
  const train::Split split = train::make_split(config.split, set.sequences);
  auto& out = report.verdicts;
  out.push_back(prove_purge(set, splits, ground));
  WindowRules rules{.windows = config.windows, .clip = clip};
  if (!config.book_settings())
    rules.longest_hole = std::chrono::minutes{config.features.max_gap_minutes};
  out.push_back(prove_windows(set, splits, rules));
  out.push_back(prove_no_edge_on_shuffled_labels(set, split, clip, ground.seed));
  out.push_back(prove_planted_leak_is_learnt(set, split, clip));
  out.push_back(prove_no_column_is_the_answer(set, config.label.horizon));
}

void prove_bars(const train::ExperimentConfig& config, ProofReport& report) {
  const ProveOptions& options = report.options;
  const UsableBars usable = usable_bars(config);
  report.records = usable.records;
  report.bars = std::ssize(usable.bars);
  report.left_out = usable.left_out;
  const TrainingRows source(config.data.product, config.features, config.label);
  report.libraries = source.pipeline().schema().libraries();
  const Ground ground{.bars = usable.bars, .points = options.points, .seed = options.seed};
  const train::SequenceSet set = source.sequences(usable.bars);
  const std::vector<NamedSplit> splits = splits_to_prove(config, set, report);
  auto& out = report.verdicts;
  out.push_back(prove_future_poisoning(source, ground));
  out.push_back(prove_prefix_invariance(source, ground));
  out.push_back(prove_batch_is_stream(source, ground));
  out.push_back(prove_warm_up(source, ground));
  out.push_back(prove_training_is_serving(source, ground));
  if (!config.features.plugins.empty()) {
    out.push_back(prove_rows_are_made_again(source, ground));
    out.push_back(prove_streams_are_apart(source, ground));
    out.push_back(prove_values_are_finite(source, ground));
  }
  out.push_back(prove_normalizer_fit(source, set, splits, ground, config.features.clip));
  prove_rows(config, set, splits, ground, report);
  add_corpus(report, ground);
}

/// A book has no beginning but its snapshot: no stream starts late, so that warm-up and batch
/// against stream are left to the tests of features/book.
void prove_book(const train::ExperimentConfig& config, ProofReport& report) {
  const ProveOptions& options = report.options;
  const std::vector<market::OrderEvent> events = meant_events(config, report.records);
  report.bars = std::ssize(events);
  const BookTrainingRows source(config);
  const BookGround ground{.events = events, .points = options.points, .seed = options.seed};
  const train::SequenceSet set = source.sequences(events);
  const std::vector<NamedSplit> splits = splits_to_prove(config, set, report);
  auto& out = report.verdicts;
  out.push_back(prove_future_poisoning(source, ground));
  out.push_back(prove_prefix_invariance(source, ground));
  out.push_back(prove_training_is_serving(source, ground));
  out.push_back(prove_normalizer_fit(set, splits, options.seed, config.features.clip));
  prove_rows(config, set, splits, {.bars = {}, .points = options.points, .seed = options.seed},
             report);
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
  ProofReport report{.subject = train::proof_subject(config, train::data_hashes(config)),
                     .files = config.data.files,
                     .config_sha256 = config::hash_of(config),
                     .options = options};
  if (config.book_settings()) {
    prove_book(config, report);
  } else {
    prove_bars(config, report);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return report;
}

}  // namespace foxhunt::proofs
