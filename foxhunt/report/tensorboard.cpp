#include "foxhunt/report/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/time.h"
#include "foxhunt/report/event.h"

namespace foxhunt::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "events.out.tfevents.";

/// "train_loss" as "loss/train": TensorBoard groups by the part before the slash.
std::string tag_of(const std::string& name) {
  static const std::map<std::string, std::string> kTags{
      {"train_loss", "loss/train"},
      {"valid_loss", "loss/valid"},
      {"lr", "schedule/lr"},
      {"grad_norm_mean", "gradient/norm_mean"},
      {"grad_norm_max", "gradient/norm_max"},
      {"skipped_steps", "gradient/skipped_steps"},
      {"dt_at_limit_share", "state/dt_at_limit_share"},
      {"largest_state", "state/largest"},
      {"parameter_norm", "weights/norm"},
      {"a_min", "weights/a_min"},
      {"a_max", "weights/a_max"},
      {"rows_per_second", "speed/rows_per_second"},
      {"seconds", "speed/seconds"}};
  const auto found = kTags.find(name);
  if (found != kTags.end()) return found->second;
  return (name.ends_with("_bytes") ? "memory/" : "other/") + name;
}

std::vector<Scalar> scalars_of(const MetricsLine& line, const char* group) {
  std::vector<Scalar> scalars;
  for (const auto& [name, value] : line.numbers) {
    if (name == "step" || !std::isfinite(value)) continue;
    scalars.push_back({group == nullptr ? tag_of(name) : group + name, value});
  }
  return scalars;
}

/// Epochs and steps in the order of their steps, each with its time.
struct Entry {
  double step = 0;
  double time = 0;
  const MetricsLine* line = nullptr;
  const char* group = nullptr;
};

std::vector<Entry> entries_of(const MetricsLog& log, double start) {
  std::vector<Entry> entries;
  std::size_t next_step = 0;
  double seconds = 0;
  const auto take_steps_up_to = [&](double last) {
    for (; next_step < log.steps.size() && log.steps[next_step].at("step") <= last; ++next_step)
      entries.push_back(
          {log.steps[next_step].at("step"), start + seconds, &log.steps[next_step], "step/"});
  };
  for (const MetricsLine& epoch : log.epochs) {
    const double step = std::isfinite(epoch.at("step")) ? epoch.at("step") : epoch.at("epoch");
    take_steps_up_to(step);
    if (std::isfinite(epoch.at("seconds"))) seconds += epoch.at("seconds");
    entries.push_back({step, start + seconds, &epoch, nullptr});
  }
  take_steps_up_to(HUGE_VAL);
  return entries;
}

/// When the run began, by env.json; 0 where it does not say.
double start_of(const fs::path& run) {
  std::ifstream file(run / "env.json");
  const auto env = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!env.is_object() || !env.contains("started") || !env["started"].is_string()) return 0;
  try {
    return static_cast<double>(count(parse_time(env["started"].get<std::string>()))) * 1e-9;
  } catch (const ConfigError&) {
    return 0;
  }
}

/// The newest of our files; empty without one.
fs::path newest(const fs::path& folder) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(kPrefix))
      found = std::max(found, entry.path());
  }
  return found;
}

void append(const fs::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw IoError(fmt::format("{}: cannot be written", file.string()));
}

}  // namespace

std::string events_of(const MetricsLog& log, double start) {
  std::string bytes = record(version_event(start));
  for (const Entry& entry : entries_of(log, start)) {
    const std::vector<Scalar> scalars = scalars_of(*entry.line, entry.group);
    if (scalars.empty()) continue;
    bytes += record(scalar_event(entry.time, static_cast<std::int64_t>(entry.step), scalars));
  }
  return bytes;
}

void update_events(const fs::path& run) {
  const double start = start_of(run);
  const std::string bytes = events_of(read_metrics(run), start);
  const fs::path folder = run / "tb";
  make_folder(folder);
  const fs::path old = newest(folder);
  if (!old.empty()) {
    const std::string before = read_file(old);
    if (bytes.starts_with(before)) {
      append(old, std::string_view(bytes).substr(before.size()));
      return;
    }
  }
  // Names ascend: the seconds of the start, then a number that each replacement raises.
  const std::string stem = fmt::format("{}{:010.0f}.foxhunt.", kPrefix, std::floor(start));
  int number = 0;
  while (!old.empty() && folder / fmt::format("{}{:04}", stem, number) <= old && number < 9999)
    ++number;
  write_file_atomic(folder / fmt::format("{}{:04}", stem, number), bytes);
  if (!old.empty()) fs::remove(old);
}

}  // namespace foxhunt::report
