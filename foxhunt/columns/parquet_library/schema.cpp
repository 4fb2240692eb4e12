#include "foxhunt/columns/parquet_library/schema.h"

#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/parquet.h"

namespace foxhunt::columns::parquet_library {

using market::dbn::Field;
using market::dbn::FieldMeaning;
using market::dbn::FieldType;

void require(const arrow::Status& status, const std::string& file) {
  if (status.ok()) return;
  if (status.IsIOError()) throw IoError(fmt::format("{}: {}", file, status.ToString()));
  throw FormatError(fmt::format("{}: {}", file, status.ToString()));
}

std::shared_ptr<arrow::DataType> type_of(const Field& field) {
  if (field.type == FieldType::kChar || field.type == FieldType::kText) return arrow::utf8();
  if (field.meaning == FieldMeaning::kTime) return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
  const bool is_signed = field.type == FieldType::kSigned;
  switch (field.size) {
    case 1:
      return is_signed ? arrow::int8() : arrow::uint8();
    case 2:
      return is_signed ? arrow::int16() : arrow::uint16();
    case 4:
      return is_signed ? arrow::int32() : arrow::uint32();
    default:
      return is_signed ? arrow::int64() : arrow::uint64();
  }
}

std::shared_ptr<arrow::Schema> schema_of(std::span<const Field> columns, bool ts_out) {
  arrow::FieldVector fields;
  for (const Field& field : columns) {
    std::shared_ptr<const arrow::KeyValueMetadata> words;
    if (field.meaning == FieldMeaning::kPrice) {
      words = arrow::key_value_metadata({{"scale", "9"}, {"unit", "1e-9"}});
    }
    fields.push_back(arrow::field(std::string(field.name), type_of(field),
                                  field.meaning != FieldMeaning::kPlain, words));
  }
  if (ts_out) fields.push_back(arrow::field("ts_out", type_of(ts_out_field(0)), true));
  return arrow::schema(std::move(fields));
}

Field ts_out_field(std::size_t size) {
  return {"ts_out", static_cast<std::uint16_t>(size), sizeof(std::uint64_t), FieldType::kUnsigned,
          FieldMeaning::kTime};
}

std::string to_base64(std::string_view bytes) { return arrow::util::base64_encode(bytes); }

std::string from_base64(std::string_view text, const std::string& file) {
  return value_of(arrow::util::base64_decode(text), file);
}

}  // namespace foxhunt::columns::parquet_library

extern "C" __attribute__((visibility("default"))) const foxhunt::columns::ParquetTable*
foxhunt_parquet_table() {
  namespace library = foxhunt::columns::parquet_library;
  static const foxhunt::columns::ParquetTable table{foxhunt::columns::kParquetTableVersion,
                                                    library::open, library::sink};
  return &table;
}
