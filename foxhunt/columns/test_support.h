#pragma once
// Files for the tests of this room: every DBN file there is, and a folder that goes away.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/base/file.h"
#include "foxhunt/columns/record_io.h"

namespace foxhunt::columns::test {

namespace fs = std::filesystem;

/// A folder of one test.
struct Folder {
  explicit Folder(const std::string& name)
      : path(fs::temp_directory_path() / ("foxhunt-columns-" + name + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

/// Every DBN file below tests/data and, where it is there, below the shared data. Legacy DBZ is
/// none.
inline std::vector<fs::path> dbn_files() {
  std::vector<fs::path> folders{"tests/data/dbn"};
  if (const char* shared = std::getenv("FOXHUNT_SHARED"); shared != nullptr && *shared != '\0') {
    folders.push_back(fs::path(shared) / "data/dbn");
  }
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".dbn") != std::string::npos) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// Converts a file, of one type where given; `out` says the form.
inline ConvertReport convert(const fs::path& in, const fs::path& out,
                             const SourceOptions& from = {}, const SinkOptions& to = {},
                             std::optional<int> only = {}) {
  const auto source = open_source(in, from);
  const auto sink = open_sink(out, source->metadata(), to);
  return convert_records(*source, *sink, only, false);
}

}  // namespace foxhunt::columns::test
