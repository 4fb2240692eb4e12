#pragma once
// Columns whose answer is known: planted faults that the proofs must catch, and clean columns, some
// of them tricky, that must pass. How good a proof is can only be said by such a list.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/market/record.h"
#include "foxhunt/proofs/source.h"
#include "foxhunt/proofs/stream_proofs.h"

namespace foxhunt::proofs {

/// A column made of all bars at once, as a notebook would: one value a bar, kNoValue where there is
/// none.
using ColumnFunction = std::function<std::vector<float>(std::span<const market::Bar>)>;

struct PlantedColumn {
  std::string name{};
  std::int64_t warm_up = 1;  ///< as its author declares it
  ColumnFunction function{};
};

std::vector<PlantedColumn> planted_leaks();
/// No look ahead, but more past than declared: a stream that starts differs from the batch.
std::vector<PlantedColumn> planted_warm_up_faults();
std::vector<PlantedColumn> clean_columns();

/// A column as a source of one series, known at the end of each bar.
class ColumnSource final : public Source {
 public:
  explicit ColumnSource(PlantedColumn column);
  const std::vector<Series>& series() const override { return series_; }
  std::vector<Entries> run(std::span<const market::Bar> bars) const override;

 private:
  PlantedColumn column_;
  std::vector<Series> series_;
};

struct CorpusEntry {
  std::string name{};
  bool is_fault = false;
  std::vector<std::string> caught_by{};  ///< names of the proofs that did not hold
};

struct CorpusReport {
  std::vector<CorpusEntry> entries{};
  std::int64_t faults = 0, caught = 0;
  std::int64_t clean = 0, false_alarms = 0;

  Verdict verdict() const;  ///< fails for each missed fault and each false alarm
};

/// All four stream proofs over every column of the corpus.
CorpusReport judge_corpus(const Ground& ground);

}  // namespace foxhunt::proofs
