#pragma once
// data.lock: which files were meant, down to the byte, and what the doctor said of them. One format
// for `foxhunt data check --lock`, for [data] lock of a configuration and for a run's own
// data.lock.
//
// A JSON array, an object a file: path, sha256, bytes, bars, first, last, and, of a file that was
// checked, checked = {doctor, records, schema, symbols, errors, warnings, infos, findings}.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/doctor/doctor.h"

namespace foxhunt::doctor {

struct CheckSummary {
  int doctor = 0;  ///< kDoctorVersion of who checked
  std::int64_t records = 0;
  std::string schema{};
  std::vector<std::string> symbols{};
  std::int64_t errors = 0;  ///< findings of each severity
  std::int64_t warnings = 0;
  std::int64_t infos = 0;
  std::map<std::string, std::int64_t> findings{};  ///< records by rule
  friend bool operator==(const CheckSummary&, const CheckSummary&) = default;
};

/// A data file as somebody saw it.
struct DataFile {
  std::filesystem::path path;  ///< absolute
  std::string sha256{};
  std::int64_t bytes = 0;
  std::int64_t bars = 0;
  UnixNanos first = kNullTime;  ///< start of the first and the last bar
  UnixNanos last = kNullTime;
  std::optional<CheckSummary> checked{};  ///< nothing: nobody checked it
};

std::string data_lock_json(const std::vector<DataFile>& files);
/// Errors  FormatError.
std::vector<DataFile> parse_data_lock(const std::string& text);

std::vector<DataFile> lock_of(const std::vector<FileReport>& reports);

/// `files` with what the lock says of them, after each was found in it: by its path, else by its
/// name. `name` stands for the lock in messages.
/// Errors  DataError with everything that differs, one a line: a file that the lock does not list,
///         another SHA-256, number of bars or range (other settings for CSV make these differ), a
///         file with findings of severity error, unless `accept_errors`, or one that nobody
///         checked.
std::vector<DataFile> require_locked(std::vector<DataFile> files, const std::vector<DataFile>& lock,
                                     const std::string& name, bool accept_errors);

}  // namespace foxhunt::doctor
