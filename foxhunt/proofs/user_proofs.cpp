#include "foxhunt/proofs/user_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "foxhunt/proofs/compare.h"
#include "foxhunt/proofs/poison.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;

/// The rows of one stream, as a pipeline gives them.
class Rows {
 public:
  explicit Rows(features::RowPipeline pipeline)
      : pipeline_(std::move(pipeline)), row_(static_cast<std::size_t>(pipeline_.width())) {}

  features::Status push(const Bar& bar) {
    const features::Status status = pipeline_.push(bar, row_).status;
    if (status == features::Status::kReady) {
      rows.decided_at.push_back(bar.end());
      rows.known_at.push_back(bar.end());
      rows.values.insert(rows.values.end(), row_.begin(), row_.end());
    }
    return status;
  }
  const features::RowPipeline& pipeline() const { return pipeline_; }

  Entries rows{};

 private:
  features::RowPipeline pipeline_;
  std::vector<float> row_;
};

Entries rows_of(features::RowPipeline pipeline, std::span<const Bar> bars) {
  Rows stream(std::move(pipeline));
  for (const Bar& bar : bars) stream.push(bar);
  return std::move(stream.rows);
}

Series columns_of(const TrainingRows& source) {
  return {.name = "features", .schema = source.pipeline().schema()};
}

void hold(const Series& series, const Entries& before, const Entries& after, const char* what,
          Verdict& verdict) {
  ++verdict.tries;
  auto found = first_difference(series, before, after, {}, verdict.compared);
  if (!found) return;
  found->what = what;
  verdict.fail(*std::move(found));
}

std::vector<Bar> with_other_values(std::span<const Bar> bars, Rng& rng) {
  std::vector<Bar> others(bars.begin(), bars.end());
  change_values(others, rng);
  return others;
}

}  // namespace

Verdict prove_rows_are_made_again(const TrainingRows& source, const Ground& ground) {
  Verdict verdict{.name = "made-again"};
  const Series series = columns_of(source);
  Rng rng = Rng(ground.seed).split("made again");
  features::RowPipeline anew = source.pipeline();
  anew.load_libraries_anew();
  // Copies share the library that was loaded anew.
  const Entries first = rows_of(anew, ground.bars);
  hold(series, first, rows_of(anew, ground.bars),
       "the library had seen nothing, and the second time this very stream", verdict);
  rows_of(anew, with_other_values(ground.bars, rng));
  hold(series, first, rows_of(anew, ground.bars),
       "the library had seen nothing, and then a stream of other prices and sizes", verdict);
  hold(series, first, rows_of(source.pipeline(), ground.bars),
       "the library had seen nothing, and where training runs other streams", verdict);
  return verdict;
}

Verdict prove_streams_are_apart(const TrainingRows& source, const Ground& ground) {
  Verdict verdict{.name = "streams-apart"};
  const Series series = columns_of(source);
  Rng rng = Rng(ground.seed).split("streams apart");
  const std::vector<Bar> others = with_other_values(ground.bars, rng);
  const Entries alone = rows_of(source.pipeline(), ground.bars);
  Rows one(source.pipeline());
  Rows other(source.pipeline());
  for (std::size_t i = 0; i < ground.bars.size(); ++i) {
    one.push(ground.bars[i]);
    other.push(others[i]);
  }
  hold(series, alone, one.rows, "the stream was alone, and another one took turns with it",
       verdict);
  return verdict;
}

Verdict prove_values_are_finite(const TrainingRows& source, const Ground& ground) {
  Verdict verdict{.name = "finite-values"};
  Rows stream(source.pipeline());
  const features::Schema& schema = stream.pipeline().schema();
  std::vector<std::int64_t> met(schema.columns.size());
  for (const Bar& bar : ground.bars) {
    if (stream.push(bar) != features::Status::kNotFinite) continue;
    const auto counts = stream.pipeline().not_finite();
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == 0 || met[c] > 0) continue;
      const std::size_t own = schema.columns.size() - counts.size();
      verdict.fail({.column = fmt::format("features.{}", schema.columns[own + c].name),
                    .at = bar.end(),
                    .before = "a finite value",
                    .after = "none",
                    .what = "a row without it has no answer"});
    }
    std::ranges::copy(counts, met.begin());
  }
  const auto counts = stream.pipeline().not_finite();
  verdict.tries = std::ssize(counts);
  const features::PushCounters& bars = stream.pipeline().counters();
  verdict.compared = (bars.ready + bars.not_finite) * verdict.tries;
  if (bars.not_finite > 0) verdict.notes.push_back(stream.pipeline().summary());
  return verdict;
}

}  // namespace foxhunt::proofs
