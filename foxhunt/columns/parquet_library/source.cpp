#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_row.h"
#include "foxhunt/columns/metadata_of_rows.h"
#include "foxhunt/columns/parquet_library/schema.h"
#include "foxhunt/columns/value_text.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::columns::parquet_library {
namespace {

using market::dbn::Field;
using market::dbn::FieldMeaning;
using market::dbn::FieldType;
using market::dbn::RawRecord;

constexpr auto kNoPrice = std::numeric_limits<std::int64_t>::max();
constexpr auto kNoTime = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLengthUnit = 4;

/// DBN's own metadata, or none.
std::optional<market::DbnMetadata> metadata_in(const arrow::Schema& schema,
                                               const std::string& file) {
  if (schema.metadata() == nullptr) return {};
  const int at = schema.metadata()->FindKey(kMetadataKey);
  if (at < 0) return {};
  const std::string text = from_base64(schema.metadata()->value(at), file);
  const auto bytes = std::as_bytes(std::span(text));
  const market::DbnPrelude prelude = market::parse_dbn_prelude(bytes, file);
  if (bytes.size() != market::kDbnPreludeSize + prelude.length) {
    throw FormatError(fmt::format("{}: {} is not of the length it says", file, kMetadataKey));
  }
  return market::parse_dbn_metadata(prelude, bytes.subspan(market::kDbnPreludeSize), file);
}

template <class Array>
void copy(const arrow::Array& array, std::int64_t row, std::byte* at) {
  const auto value = static_cast<const Array&>(array).Value(row);
  std::memcpy(at, &value, sizeof value);
}

class ParquetSource final : public RecordSource {
 public:
  ParquetSource(const std::filesystem::path& path, const SourceOptions& options)
      : name_(path.string()) {
    auto file = value_of(arrow::io::ReadableFile::Open(name_), name_);
    reader_ = value_of(::parquet::arrow::OpenFile(file, arrow::default_memory_pool()), name_);
    batches_ = value_of(reader_->GetRecordBatchReader(), name_);
    next_batch();
    find_type(options.rtype);
    find_columns();
    find_metadata(options);
  }

  const market::DbnMetadata& metadata() const override { return metadata_; }
  std::vector<std::string> ignored() const override { return ignored_; }

  bool next(RawRecord& record) override {
    while (batch_ != nullptr && row_ == batch_->num_rows()) next_batch();
    if (batch_ == nullptr) return false;
    fill(record);
    ++row_;
    ++number_;
    return true;
  }

 private:
  struct Column {
    Field field{};
    int index = -1;
  };

  void next_batch() {
    require(batches_->ReadNext(&batch_), name_);
    row_ = 0;
  }

  void find_type(std::optional<int> rtype) {
    const auto column = batches_->schema()->GetFieldIndex("rtype");
    if (column < 0 && !rtype) {
      throw FormatError(
          fmt::format("{}: no column rtype, which says what the rows are: name the schema", name_));
    }
    while (batch_ != nullptr && batch_->num_rows() == 0) next_batch();
    if (batch_ == nullptr) throw DataError(fmt::format("{}: holds no rows", name_));
    if (column < 0) {
      rtype_ = *rtype;
      return;
    }
    if (batch_->column(column)->type_id() != arrow::Type::UINT8) {
      throw FormatError(fmt::format("{}: the column rtype is {}, not uint8", name_,
                                    batch_->column(column)->type()->ToString()));
    }
    rtype_ = static_cast<const arrow::UInt8Array&>(*batch_->column(column)).Value(0);
  }

  void find_columns() {
    const std::vector<Field> fields = csv_columns(rtype_);
    if (fields.empty())
      throw DataError(fmt::format("{}: record type {} is not known", name_, rtype_));
    const arrow::Schema& schema = *batches_->schema();
    for (const Field& field : fields) {
      const int index = schema.GetFieldIndex(std::string(field.name));
      if (index < 0 && field.name == "rtype") continue;  // it was named
      check_column(field, index);
      columns_.push_back({field, index});
    }
    size_ = market::find_dbn_record_kind(rtype_)->sizes.back();
    if (const int index = schema.GetFieldIndex("ts_out"); index >= 0) {
      check_column(ts_out_field(size_), index);
      ts_out_ = index;
    }
    for (const auto& field : schema.fields()) {
      if (field->name() == "ts_out" || market::dbn::find_field(fields, field->name())) continue;
      ignored_.push_back(field->name());
    }
    record_[0] = static_cast<std::byte>((size_ + (ts_out_ >= 0 ? 8 : 0)) / kLengthUnit);
    record_[1] = static_cast<std::byte>(rtype_);
  }

  void check_column(const Field& field, int index) const {
    if (index < 0) {
      throw FormatError(
          fmt::format("{}: records of type {} also need a column {}", name_, rtype_, field.name));
    }
    const auto& is = batches_->schema()->field(index)->type();
    if (!is->Equals(*type_of(field))) {
      throw FormatError(fmt::format("{}: the column {} is {}; {} is exact", name_, field.name,
                                    is->ToString(), type_of(field)->ToString()));
    }
  }

  void find_metadata(const SourceOptions& options) {
    if (auto found = metadata_in(*batches_->schema(), name_)) {
      metadata_ = std::move(*found);
    } else {
      RawRecord first{.bytes = {}};
      fill(first);
      MetadataOfRows made;
      made.add(first);
      metadata_ = made.metadata();
    }
    metadata_.version = market::kNewestDbnVersion;
    metadata_.ts_out = ts_out_ >= 0;
    if (!options.dataset.empty()) metadata_.dataset = options.dataset;
    if (metadata_.dataset.empty()) {
      throw DataError(fmt::format("{}: does not say whose data it is; name a dataset", name_));
    }
  }

  void fill(RawRecord& record) {
    for (const Column& column : columns_) {
      read(column.field, *batch_->column(column.index), record_.data() + column.field.at);
    }
    record.bytes = std::span(record_).first(size_);
    record.rtype = std::to_integer<int>(record_[1]);
    record.version = market::kNewestDbnVersion;
    record.offset = number_;
    record.ts_out.reset();
    if (ts_out_ >= 0) {
      std::array<std::byte, sizeof(std::uint64_t)> bytes{};
      read(ts_out_field(size_), *batch_->column(ts_out_), bytes.data());
      std::uint64_t time = 0;
      std::memcpy(&time, bytes.data(), sizeof time);
      record.ts_out = time;
    }
    if (record.rtype != rtype_ && market::dbn::fields_of(record.rtype, 3).data() !=
                                      market::dbn::fields_of(rtype_, 3).data()) {
      refuse("rtype",
             fmt::format("{} is a record of another layout than type {}", record.rtype, rtype_));
    }
  }

  void read(const Field& field, const arrow::Array& array, std::byte* at) const {
    if (array.IsNull(row_)) return read_null(field, at);
    if (field.type == FieldType::kText) {
      const std::string_view text = static_cast<const arrow::StringArray&>(array).Value(row_);
      if (text.size() > field.size || text.find('\0') != std::string_view::npos) {
        refuse(field.name, fmt::format("does not fit into {} bytes without NUL", field.size));
      }
      std::memset(at, 0, field.size);
      std::memcpy(at, text.data(), text.size());
      return;
    }
    if (field.type == FieldType::kChar) {
      std::uint64_t letter = 0;
      const auto rule =
          parse_letter(static_cast<const arrow::StringArray&>(array).Value(row_), letter);
      if (!rule.empty()) refuse(field.name, rule);
      *at = static_cast<std::byte>(letter);
      return;
    }
    if (field.meaning == FieldMeaning::kTime) {
      const std::int64_t time = static_cast<const arrow::TimestampArray&>(array).Value(row_);
      if (time < 0) refuse(field.name, "lies before 1970");
      std::memcpy(at, &time, sizeof time);
      return;
    }
    const bool is_signed = field.type == FieldType::kSigned;
    switch (field.size) {
      case 1:
        return is_signed ? copy<arrow::Int8Array>(array, row_, at)
                         : copy<arrow::UInt8Array>(array, row_, at);
      case 2:
        return is_signed ? copy<arrow::Int16Array>(array, row_, at)
                         : copy<arrow::UInt16Array>(array, row_, at);
      case 4:
        return is_signed ? copy<arrow::Int32Array>(array, row_, at)
                         : copy<arrow::UInt32Array>(array, row_, at);
      default:
        return is_signed ? copy<arrow::Int64Array>(array, row_, at)
                         : copy<arrow::UInt64Array>(array, row_, at);
    }
  }

  void read_null(const Field& field, std::byte* at) const {
    if (field.meaning == FieldMeaning::kPrice) {
      std::memcpy(at, &kNoPrice, sizeof kNoPrice);
    } else if (field.meaning == FieldMeaning::kTime) {
      std::memcpy(at, &kNoTime, sizeof kNoTime);
    } else {
      refuse(field.name, "is null, and DBN has no such value for it");
    }
  }

  [[noreturn]] void refuse(std::string_view column, const std::string& rule) const {
    throw FormatError(fmt::format("{}: row {}: {} {}", name_, number_, column, rule));
  }

  std::string name_;
  std::unique_ptr<::parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t row_ = 0;
  std::uint64_t number_ = 0;
  int rtype_ = -1;
  std::size_t size_ = 0;
  std::vector<Column> columns_;
  int ts_out_ = -1;
  std::vector<std::string> ignored_;
  market::DbnMetadata metadata_;
  std::array<std::byte, 1020> record_{};
};

}  // namespace

std::unique_ptr<RecordSource> open(const std::filesystem::path& path,
                                   const SourceOptions& options) {
  return std::make_unique<ParquetSource>(path, options);
}

}  // namespace foxhunt::columns::parquet_library
