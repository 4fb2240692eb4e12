#include "foxhunt/cli/csv_options.h"

#include <CLI/CLI.hpp>

namespace foxhunt::cli {

void add_csv_options(CLI::App& sub, market::CsvFormat& csv) {
  const char* group = "How a CSV file is to be read";
  const auto add = [&sub, group](const char* name, auto& value, const char* help) {
    sub.add_option(name, value, help)->capture_default_str()->group(group);
  };
  add("--csv-time-column", csv.time_column, "column that holds the time");
  add("--csv-time-format", csv.time_format,
      "iso, unix_s, unix_ms, unix_us, unix_ns or strptime fields");
  add("--csv-time-zone", csv.time_zone, "IANA name, for times that carry no zone");
  add("--csv-bar-stamp", csv.bar_stamp, "start or end: which edge of the bar the time is");
  add("--csv-bar-seconds", csv.bar_seconds, "length of a bar");
  add("--csv-volume-column", csv.volume_column, "column that holds the volume; empty: none");
  add("--csv-delimiter", csv.delimiter, "one character, or tab");
  add("--csv-symbol", csv.symbol, "what the file holds, where it has no symbol column");
}

}  // namespace foxhunt::cli
