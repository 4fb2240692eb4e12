#include "foxhunt/market/dbn_writer.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/byte_output.h"
#include "foxhunt/market/dbn/writer.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

namespace fs = std::filesystem;

}  // namespace

class DbnWriter::Impl {
 public:
  Impl(const fs::path& path, const StreamInfo& info, const DbnWriteOptions& options)
      : name_(path.string()), schema_(info.schema), bar_rtype_(dbn_bar_rtype(info.schema)) {
    if (bar_rtype_ == rtype::kOhlcvEod || (!bar_rtype_ && schema_ != "definition")) {
      throw DataError(
          fmt::format("[dbn_writer] schema '{}' is not written; ohlcv-1s, ohlcv-1m, "
                      "ohlcv-1h, ohlcv-1d and definition are",
                      schema_));
    }
    const DbnMetadata metadata = from_stream_info(info);
    std::unique_ptr<ByteOutput> out = file_output(path);
    if (options.compress) out = zstd_output(std::move(out), options.level);
    writer_.emplace(std::move(out), name_, metadata);
  }

  void write(const Bar& bar) {
    if (!bar_rtype_ || bar.span != dbn_bar_span(*bar_rtype_)) {
      throw DataError(fmt::format("{}: a bar of {} s does not belong into a file of schema '{}'",
                                  name_, std::chrono::duration<double>(bar.span).count(), schema_));
    }
    // Files are ordered by time; readers count on it.
    if (!is_null(bar.start)) {
      if (bar.start < last_start_) {
        throw DataError(fmt::format("{}: record {} starts at {}, before the one before it ({})",
                                    name_, records(), to_string(bar.start),
                                    to_string(last_start_)));
      }
      last_start_ = bar.start;
    }
    append(encode_bar(bar, *bar_rtype_), *bar_rtype_);
  }

  void write(const Definition& definition) {
    if (bar_rtype_) {
      throw DataError(fmt::format("{}: a definition does not belong into a file of schema '{}'",
                                  name_, schema_));
    }
    append(encode_definition(definition), rtype::kDefinition);
  }

  void finish() { writer_->finish(); }
  std::int64_t records() const { return writer_->records(); }

 private:
  void append(std::span<const std::byte> bytes, int rtype) {
    writer_->write({.bytes = bytes, .rtype = rtype});
  }

  std::string name_;
  std::string schema_;
  std::optional<int> bar_rtype_;
  std::optional<dbn::RecordWriter> writer_;
  UnixNanos last_start_ = kNullTime;  ///< less than any time
};

DbnWriter::DbnWriter(const fs::path& path, const StreamInfo& info, const DbnWriteOptions& options)
    : impl_(std::make_unique<Impl>(path, info, options)) {}
DbnWriter::~DbnWriter() = default;

void DbnWriter::write(const Bar& bar) { impl_->write(bar); }
void DbnWriter::write(const Definition& definition) { impl_->write(definition); }
void DbnWriter::finish() { impl_->finish(); }
std::int64_t DbnWriter::records() const { return impl_->records(); }

}  // namespace foxhunt::market
