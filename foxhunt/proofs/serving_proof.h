#pragma once
// The rows of training against a stream as it is served: bar by bar, cut off and restored.

#include <cstddef>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/proofs/compare.h"
#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"

namespace foxhunt::proofs {

/// Pushes every record into a pipeline of its own, which is saved, thrown away and restored at each
/// of `cuts`, as in another process: a user's libraries are loaded anew. The same rows as training
/// made (the first series of `source`), bit for bit.
template <class Record, class Source>
Verdict serve_and_compare(const Source& source, std::span<const Record> records,
                          const std::set<std::size_t>& cuts) {
  Verdict verdict{.name = "training-is-serving"};
  Series series = source.series().front();
  series.schema.columns.pop_back();  // persistence: nothing that is served
  const std::size_t width = series.width();
  const Entries trained = source.run(records).front();
  Entries batch{.decided_at = trained.decided_at, .known_at = trained.known_at};
  for (std::size_t t = 0; t < trained.size(); ++t) {
    const auto row = trained.values.begin() + static_cast<std::ptrdiff_t>(t * (width + 1));
    batch.values.insert(batch.values.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
  Entries served;
  features::RowPipeline pipeline = source.pipeline();
  pipeline.load_libraries_anew();
  std::vector<float> row(width);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (pipeline.push(records[i], row).status == features::Status::kReady) {
      served.decided_at.push_back(pipeline.moment().available_at);
      served.known_at.push_back(pipeline.moment().available_at);
      served.values.insert(served.values.end(), row.begin(), row.end());
    }
    if (!cuts.contains(i)) continue;
    ByteWriter state;
    pipeline.save(state);
    pipeline = source.pipeline();
    pipeline.load_libraries_anew();
    ByteReader from(state.bytes(), "state");
    pipeline.restore(from);
    ++verdict.tries;
  }
  if (auto found = first_difference(series, batch, served, {}, verdict.compared)) {
    found->what = "training has the one, the served stream the other";
    verdict.fail(*std::move(found));
  }
  return verdict;
}

/// Of bars, cut at the points of `ground`.
Verdict prove_training_is_serving(const TrainingRows& source, const Ground& ground);

}  // namespace foxhunt::proofs
