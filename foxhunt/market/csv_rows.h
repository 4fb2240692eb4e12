#pragma once
// Rows of a delimited text file, one at a time in flat memory: RFC 4180 quotes, LF or CRLF, with or
// without a newline at the end, with or without a byte order mark.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/market/byte_source.h"

namespace foxhunt::market {

/// A row longer than this is an error: a quote that was never closed must not load the whole file.
inline constexpr std::size_t kMaxRowBytes = std::size_t{1} << 20;

struct CsvField {
  std::string_view text;    ///< without quotes
  std::int64_t column = 0;  ///< of its first character in the row, from 1
};

class CsvRows {
 public:
  CsvRows(std::unique_ptr<ByteSource> source, char delimiter, bool whole_lines = false);

  /// Goes to the next row that is not empty; false at the end. Where the source was cut short, or
  /// with whole_lines, a last line without newline is not a row: it may be half of one
  /// (rest_bytes()). Errors FormatError with file:line:column: quotes that break the rules, a row
  /// over
  ///           kMaxRowBytes; and what the source throws.
  bool next();

  /// Lifetime  valid until next().
  std::span<const CsvField> fields() const { return fields_; }
  /// Line of the file on which the row begins, from 1.
  std::int64_t line() const { return line_; }
  /// Bytes of the rows so far.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t rest_bytes() const { return rest_bytes_; }
  const ByteSource& source() const { return *source_; }

  /// FormatError "file:line:column: message".
  [[noreturn]] void fail(std::int64_t column, const std::string& message) const;

 private:
  bool fill();
  std::size_t find_row_end();
  void split(std::size_t end);
  std::size_t take_quoted(std::size_t at, std::size_t end);

  std::unique_ptr<ByteSource> source_;
  char delimiter_;
  bool whole_lines_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of the bytes not yet taken, in buffer_
  std::size_t end_ = 0;
  bool at_end_ = false;  ///< the source has no more
  std::vector<CsvField> fields_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
  std::int64_t bytes_ = 0;
  std::int64_t rest_bytes_ = 0;
};

}  // namespace foxhunt::market
