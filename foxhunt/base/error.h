#pragma once
// The errors foxhunt throws in cold code, each with the exit code a script can tell apart.
//
// The text of an error names the place ("[room]" or file:line:column), the value and the rule.

#include <stdexcept>
#include <string>

namespace foxhunt {

enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,  ///< anything without a class of its own: a bug, a full disk
  kUsage = 2,    ///< command line, configuration, an unavailable device
  kData = 3,     ///< market data, model files and run folders that cannot be used
  kMemory = 4,
  kNotConverged = 5,  ///< training ended without a usable model
  kInterrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A wrong command line.
struct UsageError : Error {
  explicit UsageError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};
/// A configuration that breaks a rule: unknown key, value out of range, settings that contradict.
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};
/// A device that is not there, or operands that lie on two devices.
struct DeviceError : Error {
  explicit DeviceError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};
/// Market data that cannot be used: empty, out of order, of the wrong schema.
struct DataError : Error {
  explicit DataError(const std::string& what) : Error(ExitCode::kData, what) {}
};
/// Bytes that break the rules of their format (DBN, safetensors, JSON, checkpoints).
struct FormatError : Error {
  explicit FormatError(const std::string& what) : Error(ExitCode::kData, what) {}
};
/// Shapes or sizes that do not fit together.
struct ShapeError : Error {
  explicit ShapeError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};
/// Reading or writing failed in the operating system (disk full, no permission).
struct IoError : Error {
  explicit IoError(const std::string& what) : Error(ExitCode::kFailure, what) {}
};
/// Training that cannot go on (every step non-finite).
struct NotConvergedError : Error {
  explicit NotConvergedError(const std::string& what) : Error(ExitCode::kNotConverged, what) {}
};
/// The person asked to stop; everything was saved.
struct InterruptedError : Error {
  explicit InterruptedError(const std::string& what) : Error(ExitCode::kInterrupted, what) {}
};

}  // namespace foxhunt
