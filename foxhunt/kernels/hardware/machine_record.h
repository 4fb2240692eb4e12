#pragma once
// What was measured on this machine, kept in the user's cache folder so that it is measured once.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "foxhunt/base/machine.h"
#include "foxhunt/kernels/hardware/bandwidth.h"

namespace foxhunt::kernels {

struct MachineRecord {
  std::string fingerprint;  ///< cpu_fingerprint() of where it was measured
  std::string cpu_model;
  std::string measured_at;  ///< UTC, for people
  Bandwidth bandwidth;

  friend bool operator==(const MachineRecord&, const MachineRecord&) = default;
};

std::string to_json(const MachineRecord& record);
/// Errors  FormatError: no JSON, another format version, a missing key, a value of the wrong type,
/// a rate that is negative.
MachineRecord machine_record_from_json(std::string_view text);

/// $XDG_CACHE_HOME/foxhunt or $HOME/.cache/foxhunt, of the first that is an absolute path;
/// nothing without either.
std::optional<std::filesystem::path> record_folder(const char* xdg_cache_home, const char* home);

struct RecordRequest {
  std::optional<std::filesystem::path> folder;  ///< of record_folder()
  std::string now;                              ///< becomes measured_at
  bool measure_anew = false;                    ///< whatever is stored
};
struct RecordResult {
  MachineRecord record;
  std::filesystem::path path;  ///< where it is stored; empty: nowhere
  bool measured = false;       ///< just now
  std::string note;  ///< why it was measured although something was stored, or is not stored
};

/// The stored record of this machine, or a new one from `measure`, stored under
/// machine-<fingerprint>.json. A folder that cannot be written or a file that cannot be used is
/// said in `note` and never an error.
RecordResult machine_record(const Machine& machine, const RecordRequest& request,
                            const std::function<Bandwidth()>& measure);

}  // namespace foxhunt::kernels
