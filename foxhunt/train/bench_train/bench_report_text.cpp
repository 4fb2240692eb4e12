#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/train/bench_train/bench_report.h"
#include "foxhunt/train/bench_train/bench_words.h"

namespace foxhunt::train {
namespace {

constexpr double kFullLevel = 0.95;  ///< of intervals that need no remark

std::string table(const WordTable& words) {
  std::string text;
  for (std::size_t i = 0; i < words.rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : words.rows[i]) text += fmt::format(" {} |", cell);
    text += "\n";
    if (i > 0) continue;
    text += "|";
    for (std::size_t c = 0; c < words.rows[0].size(); ++c)
      text += c < words.text_columns ? "---|" : "---:|";
    text += "\n";
  }
  return text;
}

}  // namespace

std::string to_markdown(const BenchReport& report) {
  std::string text = fmt::format("# Training benchmark: {}\n", report.experiment);
  for (const std::string& line : opening_lines(report)) text += "\n" + line + "\n";
  for (const WordTable& words : tables_of(report)) {
    text += fmt::format("\n## {}\n", words.title);
    if (!words.about.empty()) text += "\n" + words.about + "\n";
    text += "\n" + table(words);
  }
  return text;
}

std::string figure_text(const Figure& f, double factor) {
  if (!std::isfinite(f.value)) return "n/a";
  const double size = std::abs(f.value * factor);
  const auto digits = [size](double x) {
    if (size >= 1000) return fmt::format("{:.0f}", x);
    if (size >= 100) return fmt::format("{:.1f}", x);
    if (size >= 10) return fmt::format("{:.2f}", x);
    return size >= 1 ? fmt::format("{:.3f}", x) : fmt::format("{:.3g}", x);
  };
  const std::string few = f.level < kFullLevel ? fmt::format(" at {:.0f} %", 100 * f.level) : "";
  return fmt::format("{} [{}, {}]{}", digits(f.value * factor), digits(f.low * factor),
                     digits(f.high * factor), few);
}

}  // namespace foxhunt::train
