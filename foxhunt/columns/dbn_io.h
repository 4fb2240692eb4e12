#pragma once
// DBN as a source and a sink of records; see record_io.h.

#include <filesystem>
#include <memory>

#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/byte_output.h"

namespace foxhunt::columns {

/// Versions 1 to 3, upgraded to 3. Errors  as market::dbn::RecordStream; DataError: the file says
/// no dataset and the options neither.
std::unique_ptr<RecordSource> open_dbn(const std::filesystem::path& path,
                                       const SourceOptions& options);

/// Version 3, zstd where the name ends in .zst.
std::unique_ptr<RecordSink> dbn_sink(const std::filesystem::path& path,
                                     const market::DbnMetadata& metadata, int level);

/// The file itself, or a zstd frame in it where the name ends in .zst.
std::unique_ptr<market::ByteOutput> open_output(const std::filesystem::path& path, int level);

}  // namespace foxhunt::columns
