#include "foxhunt/columns/dbn_io.h"

#include <fmt/format.h>

#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/dbn/writer.h"

namespace foxhunt::columns {
namespace {

using market::DbnMetadata;
using market::dbn::RawRecord;

class DbnSource final : public RecordSource {
 public:
  DbnSource(const std::filesystem::path& path, const SourceOptions& options)
      : stream_(market::dbn::open_stream(path, {.version = options.dbn_version})),
        metadata_(stream_.metadata()) {
    metadata_.version = market::kNewestDbnVersion;
    if (!options.dataset.empty()) metadata_.dataset = options.dataset;
    if (metadata_.dataset.empty()) {
      throw DataError(
          fmt::format("{}: does not say whose data it is; name a dataset", path.string()));
    }
  }
  const DbnMetadata& metadata() const override { return metadata_; }
  bool next(RawRecord& record) override {
    if (!stream_.next(raw_)) return false;
    record = upgrade_(raw_);
    return true;
  }
  bool truncated() const override { return stream_.stats().truncated; }

 private:
  market::dbn::RecordStream stream_;
  DbnMetadata metadata_;
  market::dbn::Upgrader upgrade_;
  RawRecord raw_;
};

class DbnSink final : public RecordSink {
 public:
  DbnSink(const std::filesystem::path& path, const DbnMetadata& metadata, int level)
      : writer_(open_output(path, level), path.string(), metadata) {}
  void write(const RawRecord& record) override { writer_.write(record); }
  void finish() override { writer_.finish(); }
  bool keeps_all_bytes() const override { return true; }

 private:
  market::dbn::RecordWriter writer_;
};

}  // namespace

std::unique_ptr<RecordSource> open_dbn(const std::filesystem::path& path,
                                       const SourceOptions& options) {
  return std::make_unique<DbnSource>(path, options);
}

std::unique_ptr<RecordSink> dbn_sink(const std::filesystem::path& path, const DbnMetadata& metadata,
                                     int level) {
  return std::make_unique<DbnSink>(path, metadata, level);
}

std::unique_ptr<market::ByteOutput> open_output(const std::filesystem::path& path, int level) {
  auto file = market::file_output(path);
  if (path.extension() != ".zst") return file;
  return market::zstd_output(std::move(file), level);
}

}  // namespace foxhunt::columns
