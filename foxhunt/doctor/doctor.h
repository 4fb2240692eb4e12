#pragma once
// Data doctor: reads market data files once, in flat memory, and says what is wrong with them
// before it costs a night of training. It changes nothing.
//
//   const auto reports = doctor::check_files(paths, {.product = "ES"});
//   fmt::print("{}", doctor::to_text(reports));

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "foxhunt/doctor/findings.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::doctor {

struct CheckOptions {
  market::ReadOptions read{};
  /// Whose hours, tick and prices to hold the records against ("ES"); "" goes by the symbols.
  std::string product{};
};

/// Where a symbol's prices began and ended in a file: for what lies between files.
struct SymbolEnds {
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;
  Price first_price{};  ///< closes of bars, prices of trades; null without any
  Price last_price{};
};

struct FileReport {
  std::filesystem::path path{};
  std::string sha256{};
  std::int64_t bytes = 0;    ///< of the file
  std::int64_t records = 0;  ///< of all types, those that are only counted included
  std::int64_t bars = 0;
  UnixNanos first = kNullTime;  ///< index time of the first and the last bar; without bars, record
  UnixNanos last = kNullTime;
  std::string format{};  ///< "dbn 3", "csv"; "" where it was not recognised
  std::string schema{};
  std::vector<std::string> symbols{};  ///< with records, in order of appearance, at most 1000
  std::vector<Finding> findings{};     ///< worst first
  std::map<std::int32_t, std::int64_t> bad_days{};  ///< days since 1970 with errors, and how many
  std::map<std::string, SymbolEnds> ends{};

  std::int64_t count(Severity severity) const;  ///< findings (not records) of that severity
  bool has_errors() const { return count(Severity::kError) > 0; }
};

/// Reads the file to its end, or to where it cannot be read: then that is a finding, too.
/// Errors  IoError: it cannot be opened. ConfigError: options that are not possible.
/// Cost    one pass, memory by the number of symbols and days; docs/data.md has the speed.
FileReport check_file(const std::filesystem::path& path, const CheckOptions& options = {});
/// The same of records from anywhere; `path`, hash and size stay empty.
FileReport check_records(market::Reader& reader, const CheckOptions& options = {});

/// Each file, then what lies between them: files stand in the order of time.
std::vector<FileReport> check_files(const std::vector<std::filesystem::path>& paths,
                                    const CheckOptions& options = {});

/// For people.
std::string to_text(const std::vector<FileReport>& reports);
/// For machines: {"doctor", "passed", "files": [{path, sha256, bytes, records, bars, schema, first,
/// last, symbols, errors, warnings, infos, findings: [{rule, severity, count, record, line, byte,
/// time, symbol, example, fate, training}], quarantine: [{day, errors}]}]}.
std::string to_json(const std::vector<FileReport>& reports);
/// One page that needs nothing else (report/page_frame.h).
std::string to_html(const std::vector<FileReport>& reports);
/// The rules with severity, threshold and what training does, as a table in Markdown.
std::string rules_markdown();

}  // namespace foxhunt::doctor
