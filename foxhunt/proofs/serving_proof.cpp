#include "foxhunt/proofs/serving_proof.h"

#include "foxhunt/proofs/points.h"

namespace foxhunt::proofs {

Verdict prove_training_is_serving(const TrainingRows& source, const Ground& ground) {
  Rng rng = Rng(ground.seed).split("serving");
  const auto points =
      choose_points(ground.bars, source.run(ground.bars).front(), ground.points, rng);
  return serve_and_compare(source, ground.bars, {points.begin(), points.end()});
}

}  // namespace foxhunt::proofs
