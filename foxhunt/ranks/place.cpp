#include "foxhunt/ranks/place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {
namespace {

constexpr std::int64_t kMostRanks = 1 << 16;
constexpr std::int64_t kFirstPort = 29500;  // torchrun's, too

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return !text(name).empty(); }
  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value != nullptr ? value : "";
  }
  std::string required(const char* name, std::string_view why) const {
    if (!has(name)) throw ConfigError(fmt::format("[ranks] {} is not set, but {}", name, why));
    return text(name);
  }
  /// A number in [low, high].
  std::int64_t number(const char* name, std::int64_t low, std::int64_t high,
                      std::string_view why) const {
    const std::string value = required(name, why);
    std::int64_t out = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (code != std::errc() || end != value.data() + value.size() || out < low || out > high) {
      throw ConfigError(
          fmt::format("[ranks] {}={} is no number from {} to {}", name, value, low, high));
    }
    return out;
  }
  std::int64_t number_or(const char* name, std::int64_t low, std::int64_t high,
                         std::int64_t otherwise) const {
    return has(name) ? number(name, low, high, "") : otherwise;
  }

 private:
  const Environment& environment_;
};

void read_numbers(const Variables& env, const char* rank, const char* size, const char* local_rank,
                  const char* local_size, Place& place) {
  place.size = static_cast<int>(env.number(size, 1, kMostRanks, fmt::format("{} is", rank)));
  const std::int64_t number = env.number(rank, 0, kMostRanks, fmt::format("{} is", size));
  if (number >= place.size) {
    throw ConfigError(
        fmt::format("[ranks] {}={} of {}={}: ranks count from 0", rank, number, size, place.size));
  }
  place.rank = static_cast<int>(number);
  if (local_size != nullptr)
    place.local_size = static_cast<int>(env.number_or(local_size, 1, kMostRanks, 1));
  place.local_rank = static_cast<int>(env.number_or(local_rank, 0, kMostRanks, 0));
}

Place from_torchrun(const Variables& env) {
  Place place;
  read_numbers(env, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", place);
  if (place.size == 1) return place;
  if (env.has("FOXHUNT_MEETING_FILE")) {
    place.file = env.text("FOXHUNT_MEETING_FILE");
    place.started_by = "foxhunt launch";
    return place;
  }
  const std::string why = fmt::format("WORLD_SIZE={} asks for more than one process", place.size);
  place.address = env.required("MASTER_ADDR", why);
  place.port = static_cast<std::uint16_t>(env.number("MASTER_PORT", 1, 65535, why));
  place.served = env.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt = env.text("TORCHELASTIC_RESTART_COUNT");
  place.started_by = "torchrun's variables";
  return place;
}

Place from_slurm(const Variables& env) {
  Place place;
  read_numbers(env, "SLURM_PROCID",
               env.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS",
               "SLURM_LOCALID", nullptr, place);
  if (place.size == 1) return place;
  // "4(x2),3": of the first group of hosts; only where every host has the same is it sure.
  const std::string tasks = env.text("SLURM_STEP_TASKS_PER_NODE");
  if (!tasks.empty() && tasks.find(',') == std::string::npos)
    place.local_size = std::atoi(tasks.c_str());
  place.local_size = std::max(1, place.local_size);
  if (env.has("MASTER_ADDR")) {
    place.address = env.text("MASTER_ADDR");
  } else {
    const char* list =
        env.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    place.address = first_host(env.required(list, "SLURM_PROCID is, and MASTER_ADDR is not"));
  }
  const std::int64_t job = env.number_or("SLURM_JOB_ID", 0, INT64_MAX, 0);
  const std::int64_t step = env.number_or("SLURM_STEP_ID", 0, INT64_MAX, 0);
  place.port = static_cast<std::uint16_t>(
      env.number_or("MASTER_PORT", 1, 65535, kFirstPort + (job * 7 + step) % 4000));
  place.started_by = "Slurm";
  return place;
}

}  // namespace

std::string first_host(const std::string& list) {
  const auto fail = [&list] {
    return ConfigError(fmt::format(
        "[ranks] '{}' is no list of hosts as Slurm writes it; set MASTER_ADDR instead", list));
  };
  const std::size_t end = list.find_first_of(",[");
  std::string host = list.substr(0, end);
  if (end != std::string::npos && list[end] == '[') {
    const std::size_t last = list.find_first_of(",-]", end + 1);
    if (last == std::string::npos || last == end + 1) throw fail();
    host += list.substr(end + 1, last - end - 1);
    const std::size_t close = list.find(']', end);
    if (close == std::string::npos) throw fail();
    // What stands behind the bracket belongs to each name: "rack[1-2]-n[3-4]" -> "rack1-n3".
    const std::string rest = list.substr(close + 1);
    if (!rest.empty() && rest[0] != ',') host += first_host(rest);
  }
  if (host.empty()) throw fail();
  return host;
}

std::optional<Place> place_from(const Environment& environment) {
  const Variables env(environment);
  std::optional<Place> place;
  if (env.has("RANK") || env.has("WORLD_SIZE")) {
    place = from_torchrun(env);
  } else if (env.has("SLURM_PROCID") &&
             (env.has("SLURM_STEP_NUM_TASKS") || env.has("SLURM_STEP_ID"))) {
    place = from_slurm(env);
  }
  if (place && place->size == 1) place.reset();
  return place;
}

std::optional<Place> place_of_this_process() {
  return place_from([](const char* name) { return std::getenv(name); });
}

}  // namespace foxhunt::ranks
