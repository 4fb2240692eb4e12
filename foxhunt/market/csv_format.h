#pragma once
// How a CSV file is to be understood. Columns are found by the names of its header line, upper and
// lower case alike.

#include <cstdint>
#include <string>

namespace foxhunt::market {

struct CsvFormat {
  std::string time_column = "ts_event";
  /// "iso" (2020-12-28T13:00:00.006Z or with a space; fraction and zone optional), "unix_s",
  /// "unix_ms", "unix_us", "unix_ns", or strptime fields such as "%Y-%m-%d %H:%M:%S". In files with
  /// Databento's columns "iso" also takes nanoseconds since 1970, as those files have one or the
  /// other.
  std::string time_format = "iso";
  std::string time_zone = "UTC";  ///< IANA name; for times that carry no zone of their own
  std::string bar_stamp =
      "start";                    ///< "start" or "end": which edge of the bar the time column holds
  std::int64_t bar_seconds = 60;  ///< length of a bar where the file has no column rtype
  std::string volume_column = "volume";  ///< "" where the file has none: every volume is 0 then
  std::string delimiter = ",";           ///< one character, or "tab"
  std::string symbol{};                  ///< what the file holds, where it has no symbol column

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("time_column", c.time_column, "name of the column with the time");
    key("time_format", c.time_format, "iso, unix_s, unix_ms, unix_us, unix_ns, or strptime fields");
    key("time_zone", c.time_zone, "IANA name of the zone, for times that carry none");
    key.choice("bar_stamp", c.bar_stamp, {{"start", "start"}, {"end", "end"}},
               "which edge of the bar its time is");
    key("bar_seconds", c.bar_seconds, 1, 86400,
        "length of a bar where the file has no column rtype");
    key("volume_column", c.volume_column, "name of the column with the volume; empty: none");
    key("delimiter", c.delimiter, "one character, or tab");
    key("symbol", c.symbol, "what the file holds, where it has no symbol column");
  }
};

}  // namespace foxhunt::market
