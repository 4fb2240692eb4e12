#include <string>

#include "foxhunt/base/json.h"
#include "foxhunt/latency/latency_row.h"

namespace foxhunt::latency {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  template <class T>
  void add(const char* key, const T& value) {
    object_[key] = value;
  }
  void add(const char* key, const std::optional<std::int64_t>& count) {
    object_[key] = count ? Json(*count) : Json(nullptr);
  }
  void add(const char* key, const Percentile& p) {
    object_[key] = p.claimed() ? Json(p.us) : Json(nullptr);
    if (!p.claimed()) refused_[key] = p.why_not;
  }
  Json finish() {
    object_["refused"] = refused_;
    return object_;
  }

 private:
  Json object_ = Json::object();
  Json refused_ = Json::object();
};

Json json_of(const LatencyRow& r) {
  Writer w;
  w.add("model", r.model);
  w.add("parameters", r.parameters);
  w.add("weights", r.weights);
  w.add("kernels", r.kernels);
  w.add("schedule", r.schedule);
  w.add("min_us", r.min_us);
  w.add("p10_us", r.p10);
  w.add("p50_us", r.p50);
  w.add("p99_us", r.p99);
  w.add("p99_9_us", r.p99_9);
  w.add("p99_99_us", r.p99_99);
  w.add("max_us", r.max_us);
  w.add("n", r.n);
  w.add("quiet_p50_us", r.quiet_p50);
  w.add("quiet_p99_us", r.quiet_p99);
  w.add("quiet_n", r.quiet_n);
  w.add("late_events", r.late_events);
  w.add("floor_us", r.floor_us);
  w.add("floor_gb_per_s", r.floor_gb_per_s);
  w.add("floor_ratio", r.floor_ratio());
  w.add("bytes_per_step", r.bytes_per_step);
  w.add("stalls_per_s", r.stalls_per_s);
  w.add("stalls_per_s_bound", r.stalls_per_s_bound);  // infinite where not watched: null
  w.add("stalls_before_per_s", r.stalls_before_per_s);
  w.add("stalls_during_per_s", r.stalls_during_per_s);
  w.add("stalls_after_per_s", r.stalls_after_per_s);
  w.add("largest_stall_us", r.largest_stall_us);
  w.add("allocations", r.allocations);
  w.add("syscalls", r.syscalls);
  w.add("syscalls_text", r.syscalls_text);
  w.add("minor_faults", r.minor_faults);
  w.add("major_faults", r.major_faults);
  w.add("voluntary_switches", r.voluntary_switches);
  w.add("involuntary_switches", r.involuntary_switches);
  w.add("core_ghz", r.core_ghz);
  w.add("core_best_ghz", r.core_best_ghz);
  w.add("tsc_ghz", r.tsc_ghz);
  w.add("tsc_error", r.tsc_error);
  w.add("timer_us", r.timer_us);
  w.add("page_size", r.page_size);
  w.add("cpu", r.cpu);
  w.add("notes", r.notes);
  return w.finish();
}

/// Text that is not UTF-8 (a CPU's name is not ours) is repaired, never an exception.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const LatencyRow& row) { return dump(json_of(row)); }

std::string to_json(std::span<const LatencyRow> rows) {
  Json array = Json::array();
  for (const LatencyRow& row : rows) array.push_back(json_of(row));
  return dump(array);
}

}  // namespace foxhunt::latency
