#include "foxhunt/proofs/serving_proof.h"

#include <set>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/proofs/compare.h"
#include "foxhunt/proofs/points.h"

namespace foxhunt::proofs {

Verdict prove_training_is_serving(const TrainingRows& source, const Ground& ground) {
  Verdict verdict{.name = "training-is-serving"};
  Rng rng = Rng(ground.seed).split("serving");
  Series series = source.series().front();
  series.schema.columns.pop_back();  // persistence: nothing that is served
  const Entries trained = source.run(ground.bars).front();
  const auto points = choose_points(ground.bars, trained, ground.points, rng);
  const std::set<std::size_t> cuts(points.begin(), points.end());

  Entries batch{.decided_at = trained.decided_at, .known_at = trained.known_at};
  const std::size_t width = series.width();
  for (std::size_t t = 0; t < trained.size(); ++t) {
    const auto row = trained.values.begin() + static_cast<std::ptrdiff_t>(t * (width + 1));
    batch.values.insert(batch.values.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
  Entries served;
  features::FeaturePipeline pipeline = source.pipeline();
  std::vector<float> row(width);
  for (std::size_t i = 0; i < ground.bars.size(); ++i) {
    if (pipeline.push(ground.bars[i], row).status == features::Status::kReady) {
      served.decided_at.push_back(ground.bars[i].end());
      served.known_at.push_back(ground.bars[i].end());
      served.values.insert(served.values.end(), row.begin(), row.end());
    }
    if (!cuts.contains(i)) continue;
    ByteWriter state;
    pipeline.save(state);
    pipeline = source.pipeline();
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

}  // namespace foxhunt::proofs
