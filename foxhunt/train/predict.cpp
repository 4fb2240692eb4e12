// The door's predict(): the served path in LibTorch, one bar at a time, the model's state carried
// on.
#include <fmt/format.h>

#include <vector>

#include "foxhunt/bundle/answer.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/train.h"

namespace foxhunt::train {
namespace {

/// Everything one stream needs: features, scaling, model. Bars in, lines out.
class Predictor {
 public:
  explicit Predictor(LoadedModel loaded)
      : model_(std::move(loaded.model)),
        context_(std::move(loaded.context)),
        pipeline_(context_.pipeline()),
        row_(static_cast<std::size_t>(pipeline_.width())) {}

  /// The line for this bar, or "" while there is none.
  template <class Record>
  std::string push(const Record& record, const std::string& symbol) {
    const features::PushResult result = pipeline_.push(record, row_);
    if (result.starts_sequence) model_->reset_prediction_state();
    if (result.status != features::Status::kReady) return "";
    context_.normalizer.apply(row_, row_);
    const std::span<const float> outputs = model_->predict_single_fast(row_);
    const features::RowMoment& moment = pipeline_.moment();
    return bundle::answer_line({.available_at = moment.available_at,
                                .bar_start = moment.start,
                                .symbol = symbol,
                                .close = moment.price},
                               bundle::meaning_of(outputs, model_->head_config()),
                               model_->head_config());
  }

  const nn::Mamba2SSM& model() const { return *model_; }
  const bundle::ModelContext& context() const { return context_; }
  const features::RowPipeline& pipeline() const { return pipeline_; }

 private:
  std::shared_ptr<nn::Mamba2SSM> model_;
  bundle::ModelContext context_;
  features::RowPipeline pipeline_;
  std::vector<float> row_;
};

template <class Record>
void predict_file(Predictor& predictor, market::BarSelector& selector, market::Reader& reader,
                  const std::function<void(const std::string&)>& line) {
  while (const Record* record = selector.next_of<Record>(reader)) {
    const std::string text = predictor.push(*record, selector.symbol());
    if (!text.empty()) line(text);
  }
}

}  // namespace

PredictReport predict(const std::filesystem::path& run, const PredictOptions& options,
                      const std::function<void(const std::string&)>& line) {
  const nn::DeviceSpec device = nn::parse_device(options.device);
  nn::open_device(device);
  Predictor predictor(load_best(RunDir::open(run).path(), nn::at_device(device)));
  market::BarSelector selector({.product = predictor.context().product, .symbol = options.symbol});
  PredictReport report;
  for (const std::string& path : options.data) {
    const std::unique_ptr<market::Reader> reader = market::open_reader(path, options.read);
    const auto predict_records =
        predictor.context().book ? predict_file<market::OrderEvent> : predict_file<market::Bar>;
    predict_records(predictor, selector, *reader, [&](const std::string& text) {
      ++report.predictions;
      line(text);
    });
  }
  const features::PushCounters& counters = predictor.pipeline().counters();
  report.bars = counters.bars;
  if (counters.bars != counters.ready) report.dropped = predictor.pipeline().summary();
  const nn::PerformanceMetrics metrics = predictor.model().performance_metrics();
  report.p50_us = metrics.p50_us;
  report.p99_us = metrics.p99_us;
  return report;
}

}  // namespace foxhunt::train
