#pragma once
// The columns of a record type as Arrow has them. Only the library of Parquet includes this.

#include <arrow/type.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/dbn/fields.h"

namespace foxhunt::columns::parquet_library {

inline constexpr const char* kMetadataKey = "foxhunt.dbn";  ///< DBN's own bytes, base64

/// Errors  IoError or FormatError naming the file and what Arrow says.
void require(const arrow::Status& status, const std::string& file);

template <class T>
T value_of(arrow::Result<T> result, const std::string& file) {
  require(result.status(), file);
  return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::DataType> type_of(const market::dbn::Field& field);

/// Nullable where a value can be undefined. ts_out comes last.
std::shared_ptr<arrow::Schema> schema_of(std::span<const market::dbn::Field> columns, bool ts_out);

/// The field of the send time, behind a record of `size` bytes.
market::dbn::Field ts_out_field(std::size_t size);

std::string to_base64(std::string_view bytes);
/// Errors  FormatError.
std::string from_base64(std::string_view text, const std::string& file);

std::unique_ptr<RecordSource> open(const std::filesystem::path& path, const SourceOptions& options);
std::unique_ptr<RecordSink> sink(const std::filesystem::path& path,
                                 const market::DbnMetadata& metadata);

}  // namespace foxhunt::columns::parquet_library
