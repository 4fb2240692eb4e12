#include "foxhunt/train/resume_log.h"

#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/time.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

/// The whole lines of the file.
std::string whole_lines(const fs::path& run) {
  const fs::path file = run / "resumes.jsonl";
  if (!fs::exists(file)) return "";
  const std::string text = read_file(file);
  return text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0
}

}  // namespace

void append_resume(const fs::path& run, const ResumeRecord& record) {
  nlohmann::ordered_json skipped = nlohmann::ordered_json::array();
  for (const auto& entry : record.skipped) {
    skipped.push_back({{"checkpoint", entry.path.filename().string()}, {"damage", entry.damage}});
  }
  const nlohmann::ordered_json line{
      {"time", to_string(now())},
      {"checkpoint", record.checkpoint.empty() ? nlohmann::ordered_json()
                                               : nlohmann::ordered_json(record.checkpoint)},
      {"step", record.step},
      {"skipped", skipped},
      {"accepted_changes", record.accepted},
      {"device", record.device},
      {"command_line", record.command_line},
      {"identity", nlohmann::ordered_json::parse(record.identity.to_json())}};
  // Few and short: written anew as a whole, which cannot leave half a line.
  write_file_atomic(run / "resumes.jsonl", whole_lines(run) + line.dump() + "\n");
}

std::optional<RunIdentity> last_accepted(const fs::path& run) {
  std::string lines = whole_lines(run);
  if (lines.empty()) return std::nullopt;
  lines.pop_back();
  const std::size_t begin = lines.rfind('\n') + 1;
  const auto line = nlohmann::json::parse(lines.substr(begin), nullptr, false);
  if (!line.is_object() || !line.contains("identity")) return std::nullopt;
  return RunIdentity::from_json(line["identity"].dump());
}

}  // namespace foxhunt::train
