#pragma once
// One way to read market data, whatever the file: a stream of records in flat memory.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/market/csv_format.h"
#include "foxhunt/market/record.h"

namespace foxhunt::market {

class ByteInput;

/// One entry of a symbol map: on the UTC dates [start, end) `raw_symbol` was `instrument_id`.
struct SymbolInterval {
  std::string raw_symbol;
  Date start{};
  Date end{};  ///< exclusive
  std::uint32_t instrument_id = 0;
};

/// What a file says about itself before its first record.
struct StreamInfo {
  std::string format;    ///< "dbn", "csv"
  int version = 0;       ///< of DBN; 0 for others
  std::string dataset;   ///< "GLBX.MDP3"
  std::string schema;    ///< "ohlcv-1m"; "mixed" where the file says none
  std::string stype_in;  ///< "raw_symbol", …; "" where unknown
  std::string stype_out;
  UnixNanos start = kNullTime;
  UnixNanos end = kNullTime;  ///< exclusive; null: open
  std::uint64_t limit = 0;    ///< most records the query asked for; 0: no limit
  bool has_ts_out = false;
  std::vector<std::string> symbols;
  std::vector<std::string> partial;
  std::vector<std::string> not_found;
  std::vector<SymbolInterval> mappings;
};

/// What happened so far.
struct ReadStats {
  std::int64_t records = 0;                      ///< handed out
  std::map<int, std::int64_t> by_rtype;          ///< every framed record, handed out or skipped
  std::map<int, std::int64_t> skipped_by_rtype;  ///< of types that are not handed out
  std::int64_t bytes = 0;                        ///< of the (decompressed) stream consumed
  std::int64_t frames = 0;                       ///< zstd frames completed; 0: not compressed
  bool truncated = false;                        ///< the input ended inside a frame or a record
  std::int64_t rest_bytes = 0;                   ///< bytes behind the last whole record
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual const StreamInfo& info() const = 0;

  /// Next record, or nullptr at the end. Unknown types are skipped and counted; an input that is
  /// cut short ends early and stats().truncated says so. Errors    FormatError / DataError with
  /// file and place (byte offset, or line and column), value and rule. Lifetime  valid until the
  /// next call.
  virtual const Record* next() = 0;

  virtual const ReadStats& stats() const = 0;

  /// The symbol of an instrument at a time, by the UTC date of `at`, or "" where the file does not
  /// say. Where several symbols stand for one id (ES.c.0 and ESH1), the one listed first.
  /// Cost  as this class gives it linear in the mappings of info(), of DBN their logarithm; who
  /// asks for every record keeps the answer of the day.
  virtual std::string symbol_of(const InstrumentKey& key, UnixNanos at) const;
};

/// What a record type of DBN is called: 33 "ohlcv-1m", 0 "trades", 1 "mbp-1"; "unknown" where this
/// code has no name for it.
std::string_view rtype_name(int rtype);

struct ReadOptions {
  CsvFormat csv{};
  /// For DBN fragments without metadata: 1, 2 or 3; 0: infer from record sizes. A version that is
  /// given also says that a file without metadata is DBN and not CSV.
  int dbn_version = 0;
  /// Throw DataError where the input is truncated, instead of ending early.
  bool strict = false;
  /// A last line of CSV without newline is not a row but rest_bytes: of a pipe it may be half of
  /// one.
  bool whole_lines = false;
};

/// Opens by content, not by name: DBN plain or zstd, with metadata or without, else CSV plain, zstd
/// or gzip.
/// Errors  IoError; FormatError: an empty file, legacy DBZ, a DBN version over 3, another
///         container, bytes that are neither DBN nor text; ConfigError: an option out of range.
std::unique_ptr<Reader> open_reader(const std::filesystem::path& path,
                                    const ReadOptions& options = {});
/// The same of an input that someone else has opened; `name` stands for the file in messages. Of a
/// pipe, a record is handed out as soon as its bytes were written; opening waits for DBN's metadata
/// or a CSV's first row.
std::unique_ptr<Reader> open_reader(std::unique_ptr<ByteInput> input, std::string name,
                                    const ReadOptions& options = {});

}  // namespace foxhunt::market
