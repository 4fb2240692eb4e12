#pragma once
// CSV in Databento's columns as a source and a sink of records; see record_io.h.

#include <filesystem>
#include <memory>
#include <string>

#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/byte_output.h"

namespace foxhunt::columns {

/// Errors  FormatError with file:line:column; DataError: no dataset.
std::unique_ptr<RecordSource> open_csv(const std::filesystem::path& path,
                                       const SourceOptions& options);

/// The first record says the columns. Errors  DataError: a record of another layout (one CSV holds
/// one), or of a type that this code does not know; what the output throws.
std::unique_ptr<RecordSink> csv_sink(std::unique_ptr<market::ByteOutput> out, std::string name,
                                     const market::DbnMetadata& metadata, CsvStyle style);

}  // namespace foxhunt::columns
