#pragma once
// metrics.jsonl of a run folder, as far as it is whole.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::report {

/// One line: its numbers by name. A null is NaN; what is neither number, boolean (0 or 1) nor null
/// is left out.
struct MetricsLine {
  std::map<std::string, double, std::less<>> numbers{};

  /// NaN without one.
  double at(std::string_view name) const;
  bool has(std::string_view name) const { return numbers.contains(name); }
};

struct MetricsLog {
  std::vector<MetricsLine> epochs{};  ///< lines with "epoch", in the order of the file
  std::vector<MetricsLine> steps{};   ///< lines with "step" alone ([train] log_every)
  std::int64_t unread_lines = 0;      ///< no JSON object; the last one may be half written
};

/// `name` of every line; NaN where a line has none.
std::vector<double> column(const std::vector<MetricsLine>& lines, std::string_view name);

/// Reads on after a bad line. Cost  about 20 MB/s.
MetricsLog parse_metrics(std::string_view text);
/// Nothing where there is no file. Errors  IoError.
MetricsLog read_metrics(const std::filesystem::path& run);

}  // namespace foxhunt::report
