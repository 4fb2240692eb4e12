#pragma once
// Names that only unfinished writing leaves in a run folder. Torch-free.

#include <filesystem>
#include <string>

namespace foxhunt::train {

/// ".step-00000012.tmp", ".best.tmp4711": base/file.h and the checkpoint store write under such
/// names.
inline bool is_temporary(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') && name.find(".tmp") != std::string::npos;
}

}  // namespace foxhunt::train
