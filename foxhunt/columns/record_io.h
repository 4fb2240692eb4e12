#pragma once
// Records from a file of any form into a file of any other: what readers and writers have in
// common, and the loop between them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/columns/csv_row.h"
#include "foxhunt/market/dbn/raw_record.h"
#include "foxhunt/market/dbn_metadata.h"

namespace foxhunt::columns {

/// Records in the layout of DBN version 3, one at a time in flat memory.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Known before the first record.
  virtual const market::DbnMetadata& metadata() const = 0;
  /// The next record; false at the end. Errors  as its format: file, place, value and rule.
  /// Lifetime  record.bytes until the next call.
  virtual bool next(market::dbn::RawRecord& record) = 0;
  virtual bool truncated() const { return false; }  ///< the input ended early
  /// What is in the file and has no place in a record: columns that no field has.
  virtual std::vector<std::string> ignored() const { return {}; }
};

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// A record of version 3, with ts_out where the metadata has it.
  virtual void write(const market::dbn::RawRecord& record) = 0;
  /// Puts the file in place. Call once.
  virtual void finish() = 0;
  /// Whether every byte of a record is kept, also those that no field has.
  virtual bool keeps_all_bytes() const { return false; }
};

struct SourceOptions {
  int dbn_version = 0;         ///< of DBN without metadata; 0: by its records
  std::optional<int> rtype{};  ///< of CSV and Parquet without a column rtype
  std::string dataset{};       ///< whose data it is, where the file does not say; "" keeps its word
  /// A DBN file whose metadata CSV is given; else it is made from the rows (dataset, schema, first
  /// time, symbols where there is a column for them: the file is then read twice).
  std::filesystem::path metadata_of{};
};

struct SinkOptions {
  CsvStyle style{};  ///< of CSV; with_ts_out is taken from the metadata
  int level = 9;     ///< of zstd, where the name ends in .zst
};

/// By content: Parquet, DBN (plain, zstd, with metadata or without), else CSV in Databento's
/// columns (plain, zstd, gzip).
/// Errors  IoError, FormatError, DataError: neither the file nor the options say the dataset.
std::unique_ptr<RecordSource> open_source(const std::filesystem::path& path,
                                          const SourceOptions& options);

/// By name: .dbn, .csv (each also with .zst behind), .parquet.
/// Errors  UsageError: another name; IoError.
std::unique_ptr<RecordSink> open_sink(const std::filesystem::path& path,
                                      const market::DbnMetadata& metadata,
                                      const SinkOptions& options);

/// Whether the file can be opened by open_source as it stands: DBN, Parquet, or CSV with
/// Databento's columns.
bool has_records(const std::filesystem::path& path);

struct ConvertReport {
  std::int64_t records = 0;
  std::map<int, std::int64_t> by_rtype{};
  std::map<int, std::int64_t> left_out_by_rtype{};  ///< by `only`
  std::uint64_t first = ~std::uint64_t{0};          ///< index time of the first record, ns
  std::uint64_t last = ~std::uint64_t{0};
  std::int64_t with_lost_bytes = 0;  ///< records with bytes that no field has and the form drops
  bool truncated = false;
  std::vector<std::string> ignored{};
};

/// All records of `source` (of type `only`, where given) into `sink`, which is put in place.
/// `progress` is told the number of records now and then.
/// Errors  DataError: no record at all, a source cut short unless allowed; what both throw. The
///         file of the sink is then as it was.
ConvertReport convert_records(RecordSource& source, RecordSink& sink, std::optional<int> only,
                              bool allow_truncated,
                              const std::function<void(std::int64_t)>& progress = {});

/// ts_recv where the record has one, else ts_event. `record` is of version 3.
std::uint64_t index_time(const market::dbn::RawRecord& record);

}  // namespace foxhunt::columns
