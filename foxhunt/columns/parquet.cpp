#include "foxhunt/columns/parquet.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "foxhunt/base/error.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;

fs::path library_path() {
  if (const char* named = std::getenv("FOXHUNT_PARQUET_LIBRARY");
      named != nullptr && *named != '\0')
    return named;
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / "libfoxhunt_parquet.so";
}

struct Opened {
  const ParquetTable* table = nullptr;
  std::string reason{};
};

Opened open_library(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return {nullptr,
            fmt::format("Parquet needs {}, which is built where Arrow is: run scripts/setup "
                        "--parquet, then build again",
                        path.string())};
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (library == nullptr) return {nullptr, ::dlerror()};
  const auto table_of =
      reinterpret_cast<const ParquetTable* (*)()>(::dlsym(library, "foxhunt_parquet_table"));
  if (table_of == nullptr || table_of()->version != kParquetTableVersion) {
    return {nullptr, fmt::format("{} is of another build than this program", path.string())};
  }
  return {table_of()};
}

const Opened& opened() {
  static const Opened library = open_library(library_path());
  return library;
}

const ParquetTable& table() {
  if (opened().table == nullptr) throw UsageError("[parquet] " + opened().reason);
  return *opened().table;
}

}  // namespace

std::string why_no_parquet() { return opened().reason; }

std::unique_ptr<RecordSource> open_parquet(const fs::path& path, const SourceOptions& options) {
  return table().open(path, options);
}

std::unique_ptr<RecordSink> parquet_sink(const fs::path& path,
                                         const market::DbnMetadata& metadata) {
  return table().sink(path, metadata);
}

}  // namespace foxhunt::columns
