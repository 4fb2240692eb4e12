#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "foxhunt/latency/latency_row.h"

namespace foxhunt::latency {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kBetween = 2;

std::string us(double value) { return fmt::format("{:.3f}", value); }
std::string cell(const Percentile& p) {
  return p.claimed() ? us(p.us) : fmt::format("n/a ({})", p.why_not);
}
std::string cell(const std::optional<std::int64_t>& count) {
  return count ? fmt::format("{}", *count) : "not known";
}

using Column = std::vector<std::string>;

const Column& labels() {
  static const Column kLabels = {
      "model",      "parameters",  "weights",      "kernels",       "schedule",     "min us",
      "p10",        "p50",         "p99",          "p99.9",         "p99.99",       "max",
      "samples",    "quiet p50",   "quiet p99",    "quiet samples", "late events",  "floor us",
      "floor GB/s", "p50 / floor", "bytes a step", "stalls/s",      "before",       "during",
      "after",      "largest us",  "allocations",  "system calls",  "minor faults", "major faults",
      "preempted"};
  return kLabels;
}

Column cells_of(const LatencyRow& r) {
  return {r.model,
          fmt::format("{}", r.parameters),
          r.weights,
          r.kernels,
          r.schedule,
          us(r.min_us),
          cell(r.p10),
          cell(r.p50),
          cell(r.p99),
          cell(r.p99_9),
          cell(r.p99_99),
          us(r.max_us),
          fmt::format("{}", r.n),
          cell(r.quiet_p50),
          cell(r.quiet_p99),
          fmt::format("{}", r.quiet_n),
          fmt::format("{}", r.late_events),
          us(r.floor_us),
          fmt::format("{:.1f}", r.floor_gb_per_s),
          fmt::format("{:.2f}", r.floor_ratio()),
          fmt::format("{}", r.bytes_per_step),
          fmt::format("{:.0f}", r.stalls_per_s),
          fmt::format("{:.0f}", r.stalls_before_per_s),
          fmt::format("{:.0f}", r.stalls_during_per_s),
          fmt::format("{:.0f}", r.stalls_after_per_s),
          us(r.largest_stall_us),
          cell(r.allocations),
          cell(r.syscalls),
          fmt::format("{}", r.minor_faults),
          fmt::format("{}", r.major_faults),
          fmt::format("{}", r.involuntary_switches)};
}

std::size_t width_of(const Column& column) {
  std::size_t width = 0;
  for (const std::string& text : column) width = std::max(width, text.size());
  return width;
}

std::string block_text(std::span<const Column> columns) {
  std::string text;
  for (std::size_t line = 0; line < labels().size(); ++line) {
    text += fmt::format("{:<{}}", labels()[line], width_of(labels()));
    for (const Column& column : columns) {
      text += fmt::format("{:>{}}", column[line], width_of(column) + kBetween);
    }
    text += '\n';
  }
  return text;
}

/// What rows of one machine share is said once.
std::string machine_text(const LatencyRow& r) {
  return fmt::format(
      "{}, core {:.2f} GHz (best {:.2f}), counter {:.4f} GHz within {:.1g}, a pair of readings "
      "{:.0f} ns, pages {}\n",
      r.cpu, r.core_ghz, r.core_best_ghz, r.tsc_ghz, r.tsc_error, r.timer_us * 1e3, r.page_size);
}

}  // namespace

std::string table_text(std::span<const LatencyRow> rows) {
  std::vector<Column> columns;
  columns.reserve(rows.size());
  for (const LatencyRow& row : rows) columns.push_back(cells_of(row));
  std::string text;
  for (std::size_t from = 0; from < columns.size();) {
    std::size_t to = from;
    std::size_t width = width_of(labels());
    while (to < columns.size()) {
      width += width_of(columns[to]) + kBetween;
      if (width > kWidth && to > from) break;
      ++to;
    }
    text += block_text(std::span(columns).subspan(from, to - from)) + '\n';
    from = to;
  }
  std::string said;
  for (const LatencyRow& row : rows) {
    const std::string machine = machine_text(row);
    if (machine != said) text += machine;
    said = machine;
  }
  for (const LatencyRow& row : rows) {
    const std::string who =
        fmt::format("{} {} {} {}: ", row.model, row.weights, row.kernels, row.schedule);
    if (!row.syscalls_text.empty()) text += who + row.syscalls_text + '\n';
    for (const std::string& note : row.notes) text += who + note + '\n';
  }
  return text;
}

}  // namespace foxhunt::latency
