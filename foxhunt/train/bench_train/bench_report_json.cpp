#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/json.h"
#include "foxhunt/train/bench_train/bench_report.h"

namespace foxhunt::train {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// null where there is no observation.
Json json_of(const Figure& f) {
  if (!std::isfinite(f.value)) return nullptr;
  return {{"value", f.value}, {"low", number(f.low)}, {"high", number(f.high)}, {"level", f.level}};
}

Json json_of(const BenchedCase& one) {
  const CaseRecord& r = one.record;
  Json out{{"case", r.which.key()},          {"device", r.which.device},
           {"precision", r.which.precision}, {"kernels", r.which.kernels},
           {"batch", r.which.batch},         {"left_out", r.left_out},
           {"visits", r.visits.size()}};
  if (r.visits.empty()) return out;
  const CaseSummary& s = one.summary;
  out["steps"] = s.steps;
  out["references_a_step"] = json_of(s.references);
  out["step_seconds_normalised"] = json_of(s.normalised_seconds);
  out["step_seconds"] = json_of(s.step_seconds);
  out["step_seconds_p5"] = json_of(s.p5);
  out["step_seconds_p95"] = json_of(s.p95);
  out["step_seconds_min"] = json_of(s.least);
  out["windows_per_second"] = json_of(s.windows_per_second);
  out["rows_per_second"] = json_of(s.rows_per_second);
  out["peak_bytes"] = json_of(s.peak_bytes);
  out["loss"] = {{"finite", s.loss.finite},
                 {"falls", s.loss.falls},
                 {"steps_compared", s.loss.steps},
                 {"repeat_difference", number(s.loss.repeat_difference)}};
  out["other_cores"] = s.other_cores;
  out["task"] = {{"steps", one.steps}, {"hours", json_of(one.hours)}, {"cost", json_of(one.cost)}};
  return out;
}

Json task_json(const BenchReport& report) {
  Json symbols = Json::array();
  for (const SymbolWork& w : report.work) {
    symbols.push_back({{"symbol", w.symbol},
                       {"sessions", w.sessions},
                       {"bars", w.bars},
                       {"rows", w.rows},
                       {"windows", w.windows}});
  }
  return {{"from", to_string(report.task.from)},
          {"days", report.task.days},
          {"bar_seconds", report.task.bar_seconds},
          {"epochs", report.task.epochs},
          {"symbols", symbols},
          {"price_per_hour", report.price_per_hour ? Json(*report.price_per_hour) : Json()}};
}

}  // namespace

std::string to_json(const BenchReport& r) {
  Json out{
      {"format", "foxhunt-bench-train"},
      {"version", 2},
      {"complete", r.complete},
      {"experiment", r.experiment},
      {"config_sha256", r.config_hash},
      {"model", r.model},
      {"parameters", r.parameters},
      {"features", r.features},
      {"window_rows", r.window_rows},
      {"own_batch", r.own_batch},
      {"machine",
       {{"cpu", r.cpu},
        {"fingerprint", r.machine_fingerprint},
        {"cores", r.cores},
        {"threads", r.threads},
        {"memory_bytes", r.memory_bytes},
        {"gpus", r.gpus},
        {"cuda_reason", r.cuda_reason}}},
      {"binary", {{"sha256", r.binary_sha256}, {"revision", r.revision}, {"libtorch", r.libtorch}}},
      {"level", r.level},
      {"target_share", r.target_share},
      {"seconds", r.seconds},
      {"other_cores", r.other_cores},
      {"load_before", r.load_before < 0 ? Json() : Json(r.load_before)},
      {"notes", r.notes},
      {"reference", Json::object()},
      {"task", task_json(r)},
      {"fastest", r.fastest},
      {"largest_batch", Json::array()},
      {"speed_ups", Json::array()},
      {"cases", Json::array()}};
  for (const auto& [device, host] : r.host) {
    out["reference"][device] = {{"program_seconds", json_of(host.program)},
                                {"single_thread_seconds", json_of(host.single)},
                                {"visits", host.visits},
                                {"swing", host.swing()}};
  }
  for (const LargestBatch& l : r.largest) {
    out["largest_batch"].push_back({{"family", l.family},
                                    {"measured", l.measured},
                                    {"fits", l.fits},
                                    {"memory_bytes", l.memory_bytes},
                                    {"how", l.how}});
  }
  for (const SpeedUp& s : r.speed_ups) {
    out["speed_ups"].push_back(
        {{"what", s.what}, {"fast", s.fast}, {"slow", s.slow}, {"ratio", json_of(s.ratio)}});
  }
  for (const BenchedCase& one : r.cases) out["cases"].push_back(json_of(one));
  return out.dump(2) + "\n";
}

}  // namespace foxhunt::train
