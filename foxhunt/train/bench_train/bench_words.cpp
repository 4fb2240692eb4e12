#include "foxhunt/train/bench_train/bench_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/number_text.h"

namespace foxhunt::train {
namespace {

using evaluation::count_text;

std::string bytes_text(const Figure& f) {
  return std::isfinite(f.value) ? format_bytes(static_cast<std::int64_t>(f.value)) : "n/a";
}

std::string loss_text(const LossStability& loss) {
  if (!loss.finite) return "NOT FINITE";
  const std::string repeat = loss.repeat_difference == 0
                                 ? "equal in every visit"
                                 : fmt::format("visits differ by {:.2g}", loss.repeat_difference);
  if (loss.steps < 2) return "one step only";
  return fmt::format("{}, {}", loss.falls ? "falls" : "DOES NOT FALL", repeat);
}

WordTable speeds(const BenchReport& report) {
  WordTable t{
      .title = "Steps",
      .about = fmt::format(
          "A step: upload, forward, loss, backward, gradient norm, clipping, AdamW; {} rows a "
          "window. What repeats is a step counted in reference programs, timed in turns with it: "
          "the median over visits, with the interval in which a second run falls at {:.0f} %, and "
          "the same in milliseconds at the machine's median speed of this run. Times by the clock "
          "have intervals that hold, beside that, what the machine drifted while this ran; at "
          "another load or speed of it they may lie elsewhere.",
          report.window_rows, 100 * report.level)};
  t.rows.push_back({"setting", "references a step", "ms at median speed", "ms by the clock", "p5",
                    "p95", "rows/s by the clock", "peak memory", "loss", "visits", "steps"});
  t.text_columns = 1;
  for (const BenchedCase& one : report.cases) {
    if (one.record.visits.empty()) continue;
    const CaseSummary& s = one.summary;
    t.rows.push_back({one.record.which.key(), figure_text(s.references),
                      figure_text(s.normalised_seconds, 1e3), figure_text(s.step_seconds, 1e3),
                      figure_text(s.p5, 1e3), figure_text(s.p95, 1e3),
                      figure_text(s.rows_per_second), bytes_text(s.peak_bytes), loss_text(s.loss),
                      fmt::format("{}", one.record.visits.size()), fmt::format("{}", s.steps)});
  }
  return t;
}

WordTable reference(const BenchReport& report) {
  WordTable t{.title = "How fast the machine was",
              .about =
                  "A fixed program before, between and behind the steps of every visit: "
                  "matrix products and copies. Milliseconds, the median of all visits and what "
                  "95 % of them lie in."};
  t.rows.push_back(
      {"device", "ms, all threads", "ms, one thread", "slowest over fastest", "visits"});
  for (const auto& [device, host] : report.host) {
    t.rows.push_back({device, figure_text(host.program, 1e3), figure_text(host.single, 1e3),
                      fmt::format("{:.2f}", 1 + host.swing()), fmt::format("{}", host.visits)});
  }
  return t;
}

WordTable left_out(const BenchReport& report) {
  WordTable t{.title = "Not measured", .text_columns = 2};
  t.rows.push_back({"setting", "why"});
  for (const BenchedCase& one : report.cases) {
    if (!one.record.left_out.empty())
      t.rows.push_back({one.record.which.key(), one.record.left_out});
    else if (one.record.visits.empty())
      t.rows.push_back({one.record.which.key(), "no time was left for it"});
  }
  if (!report.cuda_reason.empty()) t.rows.push_back({"cuda", report.cuda_reason});
  return t;
}

WordTable speed_ups(const BenchReport& report) {
  WordTable t{.title = "Speed-ups",
              .about =
                  "Time of one over time of the other, both in reference programs, visit by "
                  "visit.",
              .text_columns = 3};
  t.rows.push_back({"what", "faster", "than", "times"});
  for (const SpeedUp& s : report.speed_ups)
    t.rows.push_back({s.what, s.fast, s.slow, figure_text(s.ratio)});
  return t;
}

WordTable largest(const BenchReport& report) {
  WordTable t{.title = "Largest batch", .about = "Windows whose step fits into the memory."};
  t.rows.push_back({"setting", "memory", "largest measured", "fits", "how"});
  for (const LargestBatch& l : report.largest) {
    t.rows.push_back({l.family, format_bytes(l.memory_bytes),
                      count_text(static_cast<double>(l.measured)),
                      count_text(static_cast<double>(l.fits)), l.how});
  }
  return t;
}

WordTable work(const BenchReport& report) {
  WordTable t{.title = "What is trained",
              .about = fmt::format(
                  "{} calendar days from {} by the market calendar, a bar every {} s of trading "
                  "time; rows are what is left behind the warm-up of the features. Days with bars "
                  "missing have fewer.",
                  report.task.days, to_string(report.task.from), report.task.bar_seconds)};
  t.rows.push_back({"product", "sessions", "bars", "rows", "rows a session", "windows"});
  for (const SymbolWork& w : report.work) {
    const auto sessions = static_cast<double>(w.sessions);
    t.rows.push_back(
        {w.symbol, fmt::format("{}", w.sessions), count_text(static_cast<double>(w.bars)),
         count_text(static_cast<double>(w.rows)),
         fmt::format("{:.0f}", sessions > 0 ? static_cast<double>(w.rows) / sessions : 0),
         count_text(static_cast<double>(w.windows))});
  }
  return t;
}

WordTable costs(const BenchReport& report) {
  WordTable t{
      .title = "What it takes",
      .about = fmt::format(
          "{} epochs over every row, a training a product, one after another, at the machine's "
          "median speed of this run; at another, in proportion. Validation and checkpoints come on "
          "top.{}",
          report.task.epochs,
          report.price_per_hour ? fmt::format(" {} an hour.", *report.price_per_hour)
                                : std::string(" The cost needs --price-per-hour."))};
  t.rows.push_back({"setting", "steps", "hours", "cost"});
  for (const BenchedCase& one : report.cases) {
    if (one.record.visits.empty()) continue;
    t.rows.push_back({one.record.which.key(), count_text(static_cast<double>(one.steps)),
                      figure_text(one.hours), figure_text(one.cost)});
  }
  return t;
}

}  // namespace

std::vector<std::string> opening_lines(const BenchReport& report) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{}: {} parameters, {} features, windows of {} rows; the "
                  "configuration's own batch is {}.",
                  report.model, count_text(static_cast<double>(report.parameters)), report.features,
                  report.window_rows, report.own_batch));
  lines.push_back(
      fmt::format("{}, {} cores, {} threads, {} memory; {}; LibTorch {}, foxhunt {}.", report.cpu,
                  report.cores, report.threads, format_bytes(report.memory_bytes),
                  report.gpus.empty() ? "no GPU" : fmt::format("{}", fmt::join(report.gpus, "; ")),
                  report.libtorch, report.revision));
  for (const std::string& note : report.notes) lines.push_back(note);
  for (const std::string& key : report.fastest) {
    for (const BenchedCase& one : report.cases) {
      if (one.record.which.key() == key) {
        lines.push_back(fmt::format("Fastest on {}: {}, {} rows/s.", one.record.which.device, key,
                                    figure_text(one.summary.rows_per_second)));
      }
    }
  }
  return lines;
}

std::vector<WordTable> tables_of(const BenchReport& report) {
  std::vector<WordTable> all{speeds(report), reference(report), speed_ups(report), largest(report),
                             work(report),   costs(report),     left_out(report)};
  std::vector<WordTable> filled;
  for (WordTable& t : all) {
    if (t.rows.size() > 1) filled.push_back(std::move(t));
  }
  return filled;
}

}  // namespace foxhunt::train
