#pragma once
// Times of a text file: one named format and zone to nanoseconds UTC.

#include <memory>
#include <string>
#include <string_view>

#include "foxhunt/base/time.h"

namespace foxhunt::market {

class CsvTimeParser {
 public:
  /// `format` as in CsvFormat::time_format; `zone` is an IANA name.
  /// Errors  ConfigError: a format without any field, a zone that is not known.
  CsvTimeParser(std::string format, std::string zone);
  ~CsvTimeParser();
  CsvTimeParser(CsvTimeParser&&) noexcept;
  CsvTimeParser& operator=(CsvTimeParser&&) noexcept;

  /// The rule that `text` breaks ("is ambiguous in America/Chicago: …"), or "" when `out` is set. A
  /// local time that the change of clocks skips or repeats is refused: there is no way to know what
  /// it means.
  std::string parse(std::string_view text, UnixNanos& out) const;

 private:
  struct Zone;
  std::string parse_iso(std::string_view text, UnixNanos& out) const;
  std::string parse_unix(std::string_view text, UnixNanos& out) const;
  std::string parse_fields(std::string_view text, UnixNanos& out) const;

  std::string format_;
  std::int64_t unix_unit_ = 0;  ///< ns a step; 0: no unix format
  std::unique_ptr<Zone> zone_;
};

}  // namespace foxhunt::market
