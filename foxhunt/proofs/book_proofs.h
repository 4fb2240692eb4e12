#pragma once
// The proofs about rows of an order book: order events instead of bars, the same rule. A value that
// is known when an event was received is a function of the events received by then.

#include <span>
#include <vector>

#include "foxhunt/market/record.h"
#include "foxhunt/proofs/poison.h"
#include "foxhunt/proofs/source.h"
#include "foxhunt/proofs/verdict.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/sequences.h"

namespace foxhunt::proofs {

/// What is under proof, as Source.
class BookSource {
 public:
  virtual ~BookSource() = default;
  virtual const std::vector<Series>& series() const = 0;
  virtual std::vector<Entries> run(std::span<const market::OrderEvent> events) const = 0;
};

/// The rows and labels that training makes of order events: as TrainingRows, with [book].
class BookTrainingRows final : public BookSource {
 public:
  /// Errors  ConfigError: unknown product, bad book or label config, rows that are not of a book.
  explicit BookTrainingRows(const train::ExperimentConfig& config);

  const std::vector<Series>& series() const override { return series_; }
  std::vector<Entries> run(std::span<const market::OrderEvent> events) const override;

  features::RowPipeline pipeline() const;
  /// Errors  DataError when no row comes out.
  train::SequenceSet sequences(std::span<const market::OrderEvent> events) const;

 private:
  train::ExperimentConfig config_;
  std::vector<Series> series_;
};

struct BookGround {
  std::span<const market::OrderEvent> events;
  std::int64_t points = 48;
  std::uint64_t seed = 1;
};

/// The order events of the experiment's files that are meant, in order.
/// Errors  what readers and selector throw.
std::vector<market::OrderEvent> meant_events(const train::ExperimentConfig& config,
                                             std::int64_t& records);

/// Events [0, last] as they are, and another future behind them.
std::vector<market::OrderEvent> with_other_future(std::span<const market::OrderEvent> events,
                                                  std::size_t last, Poison poison, Rng& rng);

/// As the proofs of stream_proofs.h and serving_proof.h. Points lie where the next event came
/// later. Errors  DataError: too few events for two points.
Verdict prove_future_poisoning(const BookSource& source, const BookGround& ground);
Verdict prove_prefix_invariance(const BookSource& source, const BookGround& ground);
Verdict prove_training_is_serving(const BookTrainingRows& source, const BookGround& ground);

}  // namespace foxhunt::proofs
