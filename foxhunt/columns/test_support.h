#pragma once
// Files for the tests of this room: every DBN file there is, and a folder that goes away.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/base/file.h"
#include "foxhunt/columns/record_io.h"
#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn/stream.h"

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

/// The file with every byte zero that no field names, and in how many records that is a change.
/// (Databento's older encoders left bytes of other records in the reserved ones of bbo and cbbo.)
struct Cleaned {
  std::string bytes{};
  std::int64_t changed = 0;
};

inline Cleaned cleaned(const fs::path& file) {
  Cleaned out{.bytes = read_file(file)};
  auto stream = market::dbn::open_stream(file);
  for (market::dbn::RawRecord record; stream.next(record);) {
    std::string clean(record.bytes.size(), '\0');
    const auto* from = reinterpret_cast<const char*>(record.bytes.data());
    clean[0] = from[0];
    for (const auto& field : market::dbn::fields_of(record.rtype, 3)) {
      const bool text = field.type == market::dbn::FieldType::kText;
      const std::size_t size = text ? ::strnlen(from + field.at, field.size) : field.size;
      clean.replace(field.at, size, from + field.at, size);
    }
    if (std::memcmp(clean.data(), from, clean.size()) != 0) ++out.changed;
    out.bytes.replace(record.offset, clean.size(), clean);
  }
  return out;
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
