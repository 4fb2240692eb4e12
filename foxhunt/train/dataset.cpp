#include "foxhunt/train/dataset.h"

#include <fmt/format.h>

#include <filesystem>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/log.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::train {
namespace {

/// Passes records through and remembers the range of those that rows are made of.
class RangeReader final : public market::Reader {
 public:
  RangeReader(market::Reader& inner, RecordChoice meant) : inner_(inner), meant_(meant) {}
  const market::StreamInfo& info() const override { return inner_.info(); }
  const market::ReadStats& stats() const override { return inner_.stats(); }
  const market::Record* next() override {
    const market::Record* record = inner_.next();
    if (record == nullptr) return nullptr;
    const bool is_meant = meant_ == RecordChoice::kBars
                              ? std::holds_alternative<market::Bar>(*record)
                              : std::holds_alternative<market::OrderEvent>(*record);
    if (is_meant) {
      last = market::index_time(*record);
      if (bars == 0) first = last;
      ++bars;
    }
    return record;
  }

  std::int64_t bars = 0;
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;

 private:
  market::Reader& inner_;
  RecordChoice meant_;
};

DataFile read_into(SequenceBuilder& builder, const std::string& path, RecordChoice meant,
                   const market::ReadOptions& options) {
  if (!std::filesystem::exists(path)) {
    throw DataError(
        fmt::format("{}: no such file; relative paths start at the working directory, {}", path,
                    std::filesystem::current_path().string()));
  }
  const std::unique_ptr<market::Reader> reader = market::open_reader(path, options);
  RangeReader ranged(*reader, meant);
  builder.add(ranged);
  if (ranged.bars == 0)
    throw DataError(fmt::format("{}: holds no {} ({} records)", path,
                                meant == RecordChoice::kBars ? "bar" : "order event",
                                reader->stats().records));
  if (reader->stats().truncated) {
    log::warn("{}: is cut short; {} bytes behind the last whole record were left out", path,
              reader->stats().rest_bytes);
  }
  return {.path = std::filesystem::absolute(path),
          .sha256 = sha256_of_file(path),
          .bytes = static_cast<std::int64_t>(std::filesystem::file_size(path)),
          .bars = ranged.bars,
          .first = ranged.first,
          .last = ranged.last};
}

}  // namespace

Dataset load_rows(const ExperimentConfig& config, const std::vector<std::string>& paths) {
  SequenceBuilder builder({.product = config.data.product, .symbol = config.data.symbol},
                          config.features, config.label, config.book_settings());
  Dataset data;
  data.horizon = config.label.horizon;
  for (const std::string& path : paths.empty() ? config.data.files : paths) {
    data.files.push_back(read_into(builder, path, config.data.records, {.csv = config.data.csv}));
  }
  data.set = builder.finish();
  log::info("{}", data.set.counters.summary());
  return data;
}

Dataset load_dataset(const ExperimentConfig& config, const std::vector<std::string>& paths) {
  Dataset data = load_rows(config, paths);
  data.split = make_split(config.split, data.set.sequences);
  log::info("{}", data.split.summary());
  return data;
}

}  // namespace foxhunt::train
