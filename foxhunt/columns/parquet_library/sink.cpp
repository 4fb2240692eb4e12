#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/builder.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include <cstring>
#include <limits>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_row.h"
#include "foxhunt/columns/parquet_library/schema.h"
#include "foxhunt/columns/value_text.h"
#include "foxhunt/market/byte_output.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::columns::parquet_library {
namespace {

using market::dbn::Field;
using market::dbn::FieldMeaning;
using market::dbn::FieldType;
using market::dbn::RawRecord;

constexpr std::int64_t kRowGroup = std::int64_t{1} << 17U;
constexpr std::int64_t kBatch = std::int64_t{1} << 14U;
constexpr auto kNoPrice = std::numeric_limits<std::int64_t>::max();
constexpr auto kNoTime = std::numeric_limits<std::uint64_t>::max();

/// Arrow's stream into ours, which puts the file in place at once.
class OutputStream final : public arrow::io::OutputStream {
 public:
  explicit OutputStream(std::unique_ptr<market::ByteOutput> out) : out_(std::move(out)) {}
  ~OutputStream() override = default;
  arrow::Status Write(const void* data, std::int64_t size) override {
    out_->write({static_cast<const std::byte*>(data), static_cast<std::size_t>(size)});
    at_ += size;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  void commit() { out_->commit(); }

 private:
  std::unique_ptr<market::ByteOutput> out_;
  std::int64_t at_ = 0;
  bool closed_ = false;
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

class ParquetSink final : public RecordSink {
 public:
  ParquetSink(const std::filesystem::path& path, const market::DbnMetadata& metadata)
      : name_(path.string()),
        metadata_(metadata),
        out_(std::make_shared<OutputStream>(market::file_output(path))) {}

  void write(const RawRecord& record) override {
    if (record.rtype != last_rtype_) meet(record.rtype);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      append(columns_[i], record.bytes.data() + columns_[i].at, *builders_[i]);
    }
    if (metadata_.ts_out) {
      const std::uint64_t time = record.ts_out.value_or(kNoTime);
      append(ts_out_, reinterpret_cast<const std::byte*>(&time), *builders_.back());
    }
    if (++rows_ == kBatch) flush();
  }

  void finish() override {
    flush();
    require(writer_->Close(), name_);
    out_->commit();
  }

 private:
  void meet(int rtype) {
    const auto fields = market::dbn::fields_of(rtype, market::kNewestDbnVersion);
    if (!writer_) {
      columns_ = csv_columns(rtype);
      if (columns_.empty()) {
        throw DataError(fmt::format("{}: record type {} is not known", name_, rtype));
      }
      fields_ = fields.data();
      begin();
    } else if (fields.data() != fields_) {
      throw DataError(
          fmt::format("{}: the input holds records of type {} ({}) too, and one table has one "
                      "layout: name one (--schema), or split the input by schema",
                      name_, rtype, market::rtype_name(rtype)));
    }
    last_rtype_ = rtype;
  }

  void begin() {
    ts_out_ = ts_out_field(0);
    schema_ = schema_of(columns_, metadata_.ts_out)
                  ->WithMetadata(arrow::key_value_metadata(
                      {{kMetadataKey, to_base64(market::encode_dbn_metadata(metadata_))}}));
    for (const auto& field : schema_->fields()) {
      builders_.push_back(value_of(arrow::MakeBuilder(field->type()), name_));
    }
    const auto properties = ::parquet::WriterProperties::Builder()
                                .compression(::parquet::Compression::ZSTD)
                                ->max_row_group_length(kRowGroup)
                                ->build();
    const auto arrow_properties =
        ::parquet::ArrowWriterProperties::Builder().store_schema()->build();
    writer_ = value_of(::parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(),
                                                          out_, properties, arrow_properties),
                       name_);
  }

  void flush() {
    if (rows_ == 0) return;
    std::vector<std::shared_ptr<arrow::Array>> arrays;
    for (const auto& builder : builders_) arrays.push_back(value_of(builder->Finish(), name_));
    require(writer_->WriteRecordBatch(
                *arrow::RecordBatch::Make(schema_, std::exchange(rows_, 0), std::move(arrays))),
            name_);
  }

  template <class Builder, class T>
  void put(arrow::ArrayBuilder& builder, T value) {
    require(static_cast<Builder&>(builder).Append(value), name_);
  }

  void append(const Field& field, const std::byte* at, arrow::ArrayBuilder& builder) {
    if (field.type == FieldType::kText) return append_text(field, at, builder);
    if (field.type == FieldType::kChar) {
      char room[4];
      const char* end = write_letter(room, load<unsigned char>(at));
      return put<arrow::StringBuilder>(builder, std::string_view(room, end));
    }
    if (field.meaning == FieldMeaning::kTime)
      return append_time(field, load<std::uint64_t>(at), builder);
    if (field.meaning == FieldMeaning::kPrice) {
      const auto price = load<std::int64_t>(at);
      if (price == kNoPrice) return require(builder.AppendNull(), name_);
      return put<arrow::Int64Builder>(builder, price);
    }
    const bool is_signed = field.type == FieldType::kSigned;
    switch (field.size) {
      case 1:
        return is_signed ? put<arrow::Int8Builder>(builder, load<std::int8_t>(at))
                         : put<arrow::UInt8Builder>(builder, load<std::uint8_t>(at));
      case 2:
        return is_signed ? put<arrow::Int16Builder>(builder, load<std::int16_t>(at))
                         : put<arrow::UInt16Builder>(builder, load<std::uint16_t>(at));
      case 4:
        return is_signed ? put<arrow::Int32Builder>(builder, load<std::int32_t>(at))
                         : put<arrow::UInt32Builder>(builder, load<std::uint32_t>(at));
      default:
        return is_signed ? put<arrow::Int64Builder>(builder, load<std::int64_t>(at))
                         : put<arrow::UInt64Builder>(builder, load<std::uint64_t>(at));
    }
  }

  void append_time(const Field& field, std::uint64_t time, arrow::ArrayBuilder& builder) {
    if (time == kNoTime) return require(builder.AppendNull(), name_);
    if (time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw DataError(
          fmt::format("{}: {} {} lies after the year 2262, which Parquet's timestamps "
                      "cannot hold",
                      name_, field.name, time));
    }
    put<arrow::TimestampBuilder>(builder, static_cast<std::int64_t>(time));
  }

  void append_text(const Field& field, const std::byte* at, arrow::ArrayBuilder& builder) {
    const auto* text = reinterpret_cast<const char*>(at);
    const std::string_view value(text, ::strnlen(text, field.size));
    if (!arrow::util::ValidateUTF8(value)) {
      throw DataError(fmt::format("{}: {} holds bytes that are no UTF-8", name_, field.name));
    }
    put<arrow::StringBuilder>(builder, value);
  }

  std::string name_;
  market::DbnMetadata metadata_;
  std::shared_ptr<OutputStream> out_;
  std::vector<Field> columns_;
  Field ts_out_{};
  const Field* fields_ = nullptr;
  int last_rtype_ = -1;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
  std::unique_ptr<::parquet::arrow::FileWriter> writer_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RecordSink> sink(const std::filesystem::path& path,
                                 const market::DbnMetadata& metadata) {
  return std::make_unique<ParquetSink>(path, metadata);
}

}  // namespace foxhunt::columns::parquet_library
