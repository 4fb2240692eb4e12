#include "foxhunt/columns/csv_io.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_record.h"
#include "foxhunt/columns/csv_row.h"
#include "foxhunt/columns/metadata_of_rows.h"
#include "foxhunt/columns/symbol_table.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/gzip_source.h"

namespace foxhunt::columns {
namespace {

using market::DbnMetadata;
using market::dbn::RawRecord;

/// The rows of a file from its header line on.
struct Rows {
  Rows(const std::filesystem::path& path, std::optional<int> rtype)
      : rows(market::gunzip(market::open_bytes(path)), ','), records(begin(path), rtype) {}

  RawRecord raw(std::span<const std::byte> bytes, std::uint64_t number) const {
    RawRecord record{.bytes = bytes, .rtype = std::to_integer<int>(bytes[1]), .offset = number};
    if (records.has_ts_out()) {
      std::uint64_t time = 0;
      record.bytes = bytes.first(bytes.size() - sizeof time);
      std::memcpy(&time, record.bytes.data() + record.bytes.size(), sizeof time);
      record.ts_out = time;
    }
    return record;
  }

  market::CsvRows rows;
  CsvRecord records;

 private:
  market::CsvRows& begin(const std::filesystem::path& path) {
    if (!rows.next()) throw FormatError(fmt::format("{}: is empty", path.string()));
    return rows;
  }
};

class CsvSource final : public RecordSource {
 public:
  CsvSource(const std::filesystem::path& path, const SourceOptions& options)
      : rows_(path, options.rtype) {
    if (!options.metadata_of.empty()) {
      metadata_ = market::dbn::open_stream(options.metadata_of).metadata();
    } else {
      metadata_ = from_rows(path, options);
    }
    metadata_.version = market::kNewestDbnVersion;
    metadata_.ts_out = rows_.records.has_ts_out();
    if (!options.dataset.empty()) metadata_.dataset = options.dataset;
    if (metadata_.dataset.empty()) {
      throw DataError(
          fmt::format("{}: does not say whose data it is; name a dataset", path.string()));
    }
  }
  const DbnMetadata& metadata() const override { return metadata_; }
  bool next(RawRecord& record) override {
    const auto bytes = rows_.records.next();
    if (bytes.empty()) return false;
    record = rows_.raw(bytes, number_++);
    return true;
  }
  bool truncated() const override { return rows_.rows.source().truncated(); }
  std::vector<std::string> ignored() const override { return rows_.records.ignored(); }

 private:
  static DbnMetadata from_rows(const std::filesystem::path& path, const SourceOptions& options) {
    Rows rows(path, options.rtype);
    MetadataOfRows made;
    for (auto bytes = rows.records.next(); !bytes.empty(); bytes = rows.records.next()) {
      const RawRecord record = rows.raw(bytes, 0);
      if (!rows.records.has_symbol()) {
        made.add(record);
        break;  // schema and start are all that there is
      }
      made.add(record, rows.records.symbol());
    }
    return made.metadata();
  }

  Rows rows_;
  DbnMetadata metadata_;
  std::uint64_t number_ = 0;
};

class CsvSink final : public RecordSink {
 public:
  CsvSink(std::unique_ptr<market::ByteOutput> out, std::string name, const DbnMetadata& metadata,
          CsvStyle style)
      : out_(std::move(out)), name_(std::move(name)), style_(style), buffer_(kBufferSize) {
    style_.with_ts_out = metadata.ts_out;
    if (style_.with_symbol) symbols_.emplace(market::to_stream_info(metadata, name_));
  }

  void write(const RawRecord& record) override {
    if (record.rtype != last_rtype_) meet(record.rtype);
    std::string_view symbol;
    if (symbols_) {
      std::uint32_t id = 0;
      std::memcpy(&id, record.bytes.data() + kInstrumentIdAt, sizeof id);
      symbol = symbols_->find(id, index_time(record));
    }
    if (buffer_.size() - used_ < row_->most() + 2 * symbol.size()) flush();
    char* end = row_->write(record.bytes.data(), record.ts_out.value_or(~std::uint64_t{0}), symbol,
                            buffer_.data() + used_);
    used_ = static_cast<std::size_t>(end - buffer_.data());
  }

  void finish() override {
    flush();
    out_->commit();
  }

 private:
  static constexpr std::size_t kBufferSize = std::size_t{256} << 10U;
  static constexpr std::size_t kInstrumentIdAt = 4;

  void meet(int rtype) {
    const auto fields = market::dbn::fields_of(rtype, market::kNewestDbnVersion);
    if (!row_) {
      row_.emplace(rtype, style_);
      fields_ = fields.data();
      const std::string header = row_->header();
      std::memcpy(buffer_.data(), header.data(), header.size());
      used_ = header.size();
    } else if (fields.data() != fields_) {
      throw DataError(
          fmt::format("{}: the input holds records of type {} ({}) too, and one table has one "
                      "layout: name one (--only), or split the input by schema",
                      name_, rtype, market::rtype_name(rtype)));
    }
    last_rtype_ = rtype;
  }

  void flush() {
    out_->write(std::as_bytes(std::span(buffer_).first(used_)));
    used_ = 0;
  }

  std::unique_ptr<market::ByteOutput> out_;
  std::string name_;
  CsvStyle style_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::optional<CsvRow> row_;
  std::optional<SymbolTable> symbols_;
  const market::dbn::Field* fields_ = nullptr;
  int last_rtype_ = -1;
};

}  // namespace

std::unique_ptr<RecordSource> open_csv(const std::filesystem::path& path,
                                       const SourceOptions& options) {
  return std::make_unique<CsvSource>(path, options);
}

std::unique_ptr<RecordSink> csv_sink(std::unique_ptr<market::ByteOutput> out, std::string name,
                                     const DbnMetadata& metadata, CsvStyle style) {
  return std::make_unique<CsvSink>(std::move(out), std::move(name), metadata, style);
}

}  // namespace foxhunt::columns
