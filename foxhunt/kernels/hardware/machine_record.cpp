#include "foxhunt/kernels/hardware/machine_record.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"

namespace foxhunt::kernels {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Rises with every change of what is measured or how it is written.
constexpr int kFormat = 1;

Json json_of(const ReadRate& rate) {
  return {{"gb_per_s_median", rate.median},
          {"gb_per_s_best", rate.best},
          {"spread", rate.spread},
          {"working_set_bytes", rate.bytes},
          {"samples", rate.samples}};
}

ReadRate rate_of(const Json& json) {
  const ReadRate rate{.median = json.at("gb_per_s_median").get<double>(),
                      .best = json.at("gb_per_s_best").get<double>(),
                      .spread = json.at("spread").get<double>(),
                      .bytes = json.at("working_set_bytes").get<std::int64_t>(),
                      .samples = json.at("samples").get<std::int64_t>()};
  if (rate.median < 0.0 || rate.best < 0.0)
    throw FormatError(fmt::format("[machine_record] a rate of {} GB/s (best {}) is negative",
                                  rate.median, rate.best));
  return rate;
}

/// What is stored for this CPU, or why it cannot be used.
struct Stored {
  std::optional<MachineRecord> record;
  std::string reason;
};

Stored stored(const fs::path& path, const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  try {
    MachineRecord record = machine_record_from_json(read_file(path));
    if (record.fingerprint == fingerprint) return {.record = std::move(record), .reason = {}};
    return {.record = {},
            .reason = fmt::format("{} is of another CPU ({})", path.string(), record.cpu_model)};
  } catch (const Error& error) {
    return {.record = {},
            .reason = fmt::format("{} cannot be used: {}", path.string(), error.what())};
  }
}

void add_note(std::string& note, const std::string& text) {
  note += note.empty() ? text : "; " + text;
}

}  // namespace

std::string to_json(const MachineRecord& record) {
  const Json json = {{"format", kFormat},
                     {"fingerprint", record.fingerprint},
                     {"cpu", record.cpu_model},
                     {"measured_at", record.measured_at},
                     {"read_rates",
                      {{"l1", json_of(record.bandwidth.l1)},
                       {"l2", json_of(record.bandwidth.l2)},
                       {"l3", json_of(record.bandwidth.l3)},
                       {"dram", json_of(record.bandwidth.dram)}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

MachineRecord machine_record_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    const int format = json.at("format").get<int>();
    if (format != kFormat)
      throw FormatError(
          fmt::format("[machine_record] format is {}, but this program reads {}", format, kFormat));
    const Json& rates = json.at("read_rates");
    return {.fingerprint = json.at("fingerprint").get<std::string>(),
            .cpu_model = json.at("cpu").get<std::string>(),
            .measured_at = json.at("measured_at").get<std::string>(),
            .bandwidth = {.l1 = rate_of(rates.at("l1")),
                          .l2 = rate_of(rates.at("l2")),
                          .l3 = rate_of(rates.at("l3")),
                          .dram = rate_of(rates.at("dram"))}};
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("[machine_record] {}", error.what()));
  }
}

std::optional<fs::path> record_folder(const char* xdg_cache_home, const char* home) {
  const auto absolute = [](const char* text) { return text != nullptr && text[0] == '/'; };
  if (absolute(xdg_cache_home)) return fs::path(xdg_cache_home) / "foxhunt";
  if (absolute(home)) return fs::path(home) / ".cache" / "foxhunt";
  return std::nullopt;
}

RecordResult machine_record(const Machine& machine, const RecordRequest& request,
                            const std::function<Bandwidth()>& measure) {
  RecordResult result;
  result.record.fingerprint = cpu_fingerprint(machine);
  fs::path path;
  if (request.folder) {
    path = *request.folder / fmt::format("machine-{}.json", result.record.fingerprint);
    if (!request.measure_anew) {
      Stored found = stored(path, result.record.fingerprint);
      if (found.record)
        return {.record = std::move(*found.record), .path = path, .measured = false, .note = {}};
      result.note = std::move(found.reason);
    }
  }
  result.record.cpu_model = machine.cpu_model;
  result.record.measured_at = request.now;
  result.record.bandwidth = measure();
  result.measured = true;
  if (!request.folder) {
    add_note(result.note, "not stored: neither XDG_CACHE_HOME nor HOME names a folder");
    return result;
  }
  try {
    make_folder(*request.folder);
    write_file_atomic(path, to_json(result.record));
    result.path = path;
  } catch (const IoError& error) {
    add_note(result.note, fmt::format("not stored: {}", error.what()));
  }
  return result;
}

}  // namespace foxhunt::kernels
