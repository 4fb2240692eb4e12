#include "foxhunt/train/checkpoint_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "step-";

std::string name_of(std::int64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<std::int64_t> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.rfind(kPrefix, 0) != 0) return std::nullopt;
  std::int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return step;
}

std::string manifest_of(const fs::path& folder) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename().string()] = {{"bytes", fs::file_size(entry.path())},
                                               {"sha256", sha256_of_file(entry.path())}};
  }
  return files.dump(1) + "\n";
}

std::string damage_of(const fs::path& folder) {
  if (!fs::exists(folder / "DONE")) return "DONE is missing: the checkpoint was not finished";
  const auto files =
      nlohmann::json::parse(read_file(folder / "DONE"), nullptr, /*allow_exceptions=*/false);
  if (!files.is_object() || files.empty()) return "DONE is damaged";
  for (const auto& [name, facts] : files.items()) {
    const fs::path file = folder / name;
    if (!fs::exists(file)) return fmt::format("{} is missing", name);
    if (!facts.is_object() || facts.value("sha256", "") != sha256_of_file(file)) {
      return fmt::format("{} differs from what was written", name);
    }
  }
  return "";
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path run, std::int64_t keep)
    : run_(std::move(run)), keep_(keep) {}

void CheckpointStore::save(std::int64_t step, bool is_best,
                           const std::function<void(const fs::path&)>& write) {
  const fs::path folder = run_ / "checkpoints";
  const fs::path place = folder / name_of(step);
  const fs::path temporary = folder / ("." + name_of(step) + ".tmp");
  fs::remove_all(temporary);
  try {
    make_folder(temporary);
    write(temporary);
    const std::string manifest = manifest_of(temporary);
    for (const auto& entry : fs::directory_iterator(temporary)) sync_path(entry.path());
    write_file_atomic(temporary / "DONE", manifest);
    sync_path(temporary);
    fs::remove_all(place);
    fs::rename(temporary, place);
    sync_path(folder);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(temporary);
    throw IoError(
        fmt::format("{}: checkpoint not written: {}", place.string(), error.code().message()));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
  const fs::path target = fs::path("checkpoints") / name_of(step);
  if (is_best) replace_symlink(run_ / "best", target);
  replace_symlink(run_ / "last", target);
  prune();
}

std::vector<CheckpointStore::Entry> CheckpointStore::list() const {
  std::vector<Entry> entries;
  if (!fs::exists(run_ / "checkpoints")) return entries;
  for (const auto& item : fs::directory_iterator(run_ / "checkpoints")) {
    if (const auto step = step_of(item.path()))
      entries.push_back({*step, item.path(), damage_of(item.path())});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.step < b.step; });
  return entries;
}

std::optional<fs::path> CheckpointStore::linked(const char* name) const {
  const fs::path link = run_ / name;
  if (!fs::exists(link)) return std::nullopt;
  return fs::is_symlink(link) ? run_ / fs::read_symlink(link) : link;
}
std::optional<fs::path> CheckpointStore::best() const { return linked("best"); }
std::optional<fs::path> CheckpointStore::last() const { return linked("last"); }

void CheckpointStore::prune() const {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  for (const auto& item : fs::directory_iterator(run_ / "checkpoints")) {
    if (const auto step = step_of(item.path())) found.emplace_back(*step, item.path());
  }
  std::sort(found.begin(), found.end());
  const auto best_path = best();
  const auto surplus = static_cast<std::int64_t>(found.size()) - keep_;
  for (std::int64_t i = 0; i < surplus; ++i) {
    const fs::path& path = found[static_cast<std::size_t>(i)].second;
    if (!best_path || path.filename() != best_path->filename()) fs::remove_all(path);
  }
}

}  // namespace foxhunt::train
