#include "foxhunt/proofs/corpus/corpus.h"

#include <fmt/format.h>

#include <utility>

namespace foxhunt::proofs {
namespace {

CorpusEntry judge(PlantedColumn column, bool is_fault, const Ground& ground) {
  CorpusEntry entry{.name = column.name, .is_fault = is_fault};
  const ColumnSource source(std::move(column));
  for (const auto prove :
       {prove_future_poisoning, prove_prefix_invariance, prove_batch_is_stream, prove_warm_up}) {
    const Verdict verdict = prove(source, ground);
    if (!verdict.holds()) entry.caught_by.push_back(verdict.name);
  }
  return entry;
}

}  // namespace

ColumnSource::ColumnSource(PlantedColumn column) : column_(std::move(column)) {
  features::Schema schema;
  schema.columns.push_back(
      {.name = column_.name, .unit = "", .warm_up = column_.warm_up, .help = ""});
  series_ = {{.name = "corpus", .schema = std::move(schema)}};
}

std::vector<Entries> ColumnSource::run(std::span<const market::Bar> bars) const {
  Entries entries{.values = column_.function(bars)};
  for (const market::Bar& bar : bars) entries.decided_at.push_back(bar.end());
  entries.known_at = entries.decided_at;
  std::vector<Entries> out;
  out.push_back(std::move(entries));
  return out;
}

CorpusReport judge_corpus(const Ground& ground) {
  CorpusReport report;
  for (auto* const list : {planted_leaks, planted_warm_up_faults}) {
    for (PlantedColumn& column : list()) {
      const CorpusEntry& entry =
          report.entries.emplace_back(judge(std::move(column), /*is_fault=*/true, ground));
      ++report.faults;
      report.caught += entry.caught_by.empty() ? 0 : 1;
    }
  }
  for (PlantedColumn& column : clean_columns()) {
    const CorpusEntry& entry =
        report.entries.emplace_back(judge(std::move(column), /*is_fault=*/false, ground));
    ++report.clean;
    report.false_alarms += entry.caught_by.empty() ? 0 : 1;
  }
  return report;
}

Verdict CorpusReport::verdict() const {
  Verdict verdict{.name = "corpus", .tries = faults + clean};
  for (const CorpusEntry& entry : entries) {
    verdict.compared += 4;
    if (entry.is_fault != entry.caught_by.empty()) continue;
    verdict.fail({.what = fmt::format("{} '{}'",
                                      entry.is_fault ? "missed the planted fault"
                                                     : "false alarm for the clean column",
                                      entry.name)});
  }
  verdict.notes.push_back(
      fmt::format("{} of {} planted faults caught, {} false alarms on {} clean columns", caught,
                  faults, false_alarms, clean));
  return verdict;
}

}  // namespace foxhunt::proofs
