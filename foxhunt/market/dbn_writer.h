#pragma once
// Writes DBN version 3: bars (ohlcv-1s, -1m, -1h, -1d) or instrument definitions, plain or zstd.
//
//   DbnWriter writer(path, info);            // info.schema says what it holds
//   for (const Bar& bar : bars) writer.write(bar);
//   writer.finish();                         // only now does `path` exist
//
// Source  Databento's public description of DBN; files are read back by their own decoder.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "foxhunt/market/reader.h"
#include "foxhunt/market/record.h"

namespace foxhunt::market {

struct DbnWriteOptions {
  bool compress = true;  ///< one zstd frame with a checksum; else plain
  int level = 9;         ///< of zstd, 1 .. 19
};

class DbnWriter {
 public:
  /// Takes dataset, schema, stype_in, stype_out, start, end, limit, symbols, partial, not_found and
  /// mappings from `info`; its format, version and has_ts_out are not used. Intervals of one symbol
  /// may stand anywhere in info.mappings: they are gathered in the order of first appearance.
  /// Errors  DataError naming the field: a schema that is not written, a name too long for its
  ///         field, an invalid or reversed date; ConfigError: options.level; IoError: the folder
  ///         cannot be written.
  DbnWriter(const std::filesystem::path& path, const StreamInfo& info,
            const DbnWriteOptions& options = {});
  /// Without finish() nothing is left behind: an earlier `path` stays as it was.
  ~DbnWriter();
  DbnWriter(const DbnWriter&) = delete;
  DbnWriter& operator=(const DbnWriter&) = delete;

  /// Null prices and times are written as the format's undefined values.
  /// Errors  DataError: a schema of another kind or span, a start before that of the bar before, a
  ///         time before 1970; IoError (disk full).
  void write(const Bar& bar);
  /// Fields that Definition does not hold are written as undefined.
  /// Errors  DataError: another schema, a text too long; IoError.
  void write(const Definition& definition);

  /// Ends the file, syncs it and puts it in place in one step. Call once; write() is over then.
  /// Errors  IoError; nothing is left behind.
  void finish();

  std::int64_t records() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt::market
