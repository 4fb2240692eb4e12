#include "foxhunt/features/feature_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/features/elf_check.h"

namespace foxhunt::features {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders = "FOXHUNT_PLUGINS";
constexpr const char* kSymbol = "foxhunt_features_v1";

/// The libraries of this process, by the hash of their bytes.
struct Registry {
  std::mutex lock{};
  std::map<std::string, std::weak_ptr<const FeatureLibrary>> loaded{};
};
Registry& registry() {
  static Registry one;
  return one;
}

std::vector<std::string> folders() {
  const char* text = std::getenv(kFolders);
  std::vector<std::string> all;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) all.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return all;
}

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

}  // namespace

fs::path find_feature_library(const std::string& configured) {
  if (is_file(configured)) return configured;
  const fs::path name = fs::path(configured).filename();
  std::string looked;
  for (const std::string& folder : folders()) {
    const fs::path there = fs::path(folder) / name;
    if (!name.empty() && is_file(there)) return there;
    looked += fmt::format(", nor '{}'", there.string());
  }
  throw ConfigError(fmt::format("[features] plugins: there is no file '{}'{}{}", configured, looked,
                                looked.empty() ? fmt::format(" ({} names no folders)", kFolders)
                                               : fmt::format(" (of {})", kFolders)));
}

/// A file in memory, and what the dynamic linker made of it.
struct FeatureLibrary::Image {
  Image(std::string_view bytes, const std::string& file);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  std::string place() const { return fmt::format("/proc/self/fd/{}", memory); }
  void write(std::string_view bytes, const std::string& file) const;

  int memory = -1;         ///< descriptor
  void* handle = nullptr;  ///< of dlopen
};

FeatureLibrary::Image::Image(std::string_view bytes, const std::string& file)
    : memory(::memfd_create("foxhunt_features", MFD_CLOEXEC)) {
  if (memory < 0) {
    throw IoError(fmt::format("{}: no memory to load it from: {}", file, std::strerror(errno)));
  }
  try {
    write(bytes, file);
    // Start-up code of a library may change how this thread computes (-ffast-math does).
    std::fenv_t mode;
    std::fegetenv(&mode);
    handle = ::dlopen(place().c_str(), RTLD_NOW | RTLD_LOCAL);
    std::fesetenv(&mode);
    if (handle == nullptr) {
      const char* const said = ::dlerror();
      std::string why = said == nullptr ? "no reason given" : said;
      if (why.starts_with(place() + ": ")) why.erase(0, place().size() + 2);
      throw ConfigError(fmt::format("{}: cannot be loaded: {}", file, why));
    }
  } catch (...) {
    ::close(memory);
    throw;
  }
}

FeatureLibrary::Image::~Image() {
  ::dlclose(handle);
  // The linker knows libraries by name: one that stays (some ask for it) keeps its descriptor, or
  // the next one of that number would be taken for it.
  if (::dlopen(place().c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) ::close(memory);
}

void FeatureLibrary::Image::write(std::string_view bytes, const std::string& file) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(memory, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw IoError(fmt::format("{}: could not be kept in memory: {}", file, std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

FeatureLibrary::FeatureLibrary(std::string file, std::string sha256, const std::string& bytes)
    : file_(std::move(file)) {
  if (const std::string problem = elf_problem(bytes); !problem.empty())
    throw ConfigError(fmt::format("{}: {}", file_, problem));
  image_ = std::make_unique<Image>(bytes, file_);
  void* const symbol = ::dlsym(image_->handle, kSymbol);
  if (symbol == nullptr) throw ConfigError(fmt::format("{}: exports no {}", file_, kSymbol));
  table_ = reinterpret_cast<const foxhunt_features* (*)()>(symbol)();
  check_feature_table(table_, file_);
  id_ = {.name = table_->name, .version = table_->version, .sha256 = std::move(sha256)};
}
FeatureLibrary::~FeatureLibrary() = default;

std::shared_ptr<const FeatureLibrary> FeatureLibrary::open(const std::string& configured) {
  const fs::path path = find_feature_library(configured);
  const std::string bytes = read_file(path);
  const std::string sha256 = sha256_of(bytes);
  const std::lock_guard guard(registry().lock);
  std::weak_ptr<const FeatureLibrary>& slot = registry().loaded[sha256];
  if (auto there = slot.lock()) return there;
  const std::shared_ptr<const FeatureLibrary> made(
      new FeatureLibrary(path.string(), sha256, bytes));
  slot = made;
  return made;
}

std::shared_ptr<const FeatureLibrary> FeatureLibrary::loaded_anew() const {
  return std::shared_ptr<const FeatureLibrary>(
      new FeatureLibrary(file_, id_.sha256, read_file(image_->place())));
}

std::vector<Column> FeatureLibrary::columns() const {
  std::vector<Column> all;
  for (std::size_t i = 0; i < table_->n_columns; ++i) {
    const foxhunt_feature_column& column = table_->columns[i];
    all.push_back({.name = column.name,
                   .unit = column.unit,
                   .warm_up = column.warm_up,
                   .help = column.help,
                   .library = id_});
  }
  return all;
}

void require_libraries(const std::vector<std::string>& plugins, const Schema& made_with) {
  const std::vector<Library> want = made_with.libraries();
  if (want.size() != plugins.size()) {
    throw DataError(fmt::format("[features] plugins names {} libraries, but the columns are of {}",
                                plugins.size(), want.size()));
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    const fs::path path = find_feature_library(plugins[i]);
    const std::string here = sha256_of_file(path);
    if (here == want[i].sha256) continue;
    throw DataError(
        fmt::format("{}: is not the library that the columns of '{}' were made with: SHA-256 {} "
                    "then, {} here",
                    path.string(), want[i].name, want[i].sha256, here));
  }
}

}  // namespace foxhunt::features
