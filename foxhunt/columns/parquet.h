#pragma once
// Parquet as a source and a sink of records, by a library that is opened when it is first needed.
//
// libfoxhunt_parquet.so lies beside the program where cmake found Arrow (scripts/setup --parquet);
// nothing else links Arrow. One table holds one layout, as CSV does.
//
//   times    timestamp[ns, UTC], undefined ones null
//   prices   int64 in 1e-9 units (field metadata scale = 9), undefined ones null
//   letters  text; "" for NUL, "0x1F" for one that is no printable one
//   others   integers of their width, texts
//
// The DBN metadata stands in the file's own (key foxhunt.dbn), so that the way back is byte-equal.

#include <filesystem>
#include <memory>

#include "foxhunt/columns/record_io.h"

namespace foxhunt::columns {

/// Errors  UsageError: the library is not there, and how to get it; FormatError naming the column
///         and what it should be; DataError: a file of others without options.dataset.
std::unique_ptr<RecordSource> open_parquet(const std::filesystem::path& path,
                                           const SourceOptions& options);

/// zstd inside. Errors  UsageError as above; DataError: a record of another layout, a time over
/// 2262, text that is no UTF-8.
std::unique_ptr<RecordSink> parquet_sink(const std::filesystem::path& path,
                                         const market::DbnMetadata& metadata);

/// What the library answers to foxhunt_parquet_table().
struct ParquetTable {
  int version;
  std::unique_ptr<RecordSource> (*open)(const std::filesystem::path&, const SourceOptions&);
  std::unique_ptr<RecordSink> (*sink)(const std::filesystem::path&, const market::DbnMetadata&);
};
inline constexpr int kParquetTableVersion = 1;

/// Why Parquet cannot be used here; "" where it can.
std::string why_no_parquet();

}  // namespace foxhunt::columns
