#pragma once
// resumes.jsonl of a run folder: one line a resume, with what had changed and was accepted.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/run_identity.h"

namespace foxhunt::train {

struct ResumeRecord {
  RunIdentity identity{};    ///< of the process that resumed
  std::string checkpoint{};  ///< its name; empty: from the start
  std::int64_t step = 0;     ///< of the checkpoint
  std::vector<CheckpointStore::Entry> skipped{};
  std::vector<std::string> accepted{};  ///< changes
  std::string device{};
  std::vector<std::string> command_line{};
};

/// Appends a line, durably. Errors  IoError.
void append_resume(const std::filesystem::path& run, const ResumeRecord& record);

/// What the last resume ran with; nullopt: there was none. Errors  IoError, FormatError.
std::optional<RunIdentity> last_accepted(const std::filesystem::path& run);

}  // namespace foxhunt::train
