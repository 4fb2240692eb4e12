#include "foxhunt/train/checkpoint_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/train/manifest.h"
#include "foxhunt/train/temporary_name.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kOld = ".old";

std::string name_of(std::int64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kOld)) name.remove_suffix(kOld.size());
  std::int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, step);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return step;
}

bool is_old(const fs::path& path) { return path.extension() == kOld; }
fs::path old_of(const fs::path& place) { return place.string() + std::string(kOld); }

/// In two steps, so that a kill never leaves half a checkpoint under its name.
void remove_folder(const fs::path& path) {
  const fs::path hidden = path.parent_path() / ("." + path.filename().string() + ".tmp-gone");
  fs::remove_all(hidden);
  fs::rename(path, hidden);
  fs::remove_all(hidden);
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path run, std::int64_t keep)
    : run_(std::move(run)), folder_(run_ / "checkpoints"), keep_(keep) {}

void CheckpointStore::put_in_place(const fs::path& temporary, const fs::path& place) {
  const fs::path old = old_of(place);
  if (fs::exists(place)) {
    if (!damage_of(place).empty()) {
      remove_folder(place);  // worthless; an .old beside it may not be
    } else {
      if (fs::exists(old)) remove_folder(old);
      fs::rename(place, old);
    }
  }
  fs::rename(temporary, place);
  sync_path(folder_);
  if (fs::exists(old)) remove_folder(old);
}

void CheckpointStore::save(std::int64_t step, bool is_best,
                           const std::function<void(const fs::path&)>& write) {
  const fs::path place = folder_ / name_of(step);
  const fs::path temporary = folder_ / ("." + name_of(step) + ".tmp");
  const auto give_up = [&temporary] {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
  };
  try {
    fs::remove_all(temporary);
    make_folder(temporary);
    write(temporary);
    const std::string manifest = manifest_of(temporary);
    for (const auto& entry : fs::directory_iterator(temporary)) sync_path(entry.path());
    write_file_atomic(temporary / kManifestName, manifest);
    sync_path(temporary);
    put_in_place(temporary, place);
    const fs::path target = fs::path("checkpoints") / name_of(step);
    if (is_best) replace_symlink(run_ / "best", target);
    replace_symlink(run_ / "last", target);
    prune();
  } catch (const fs::filesystem_error& error) {
    give_up();
    throw IoError(
        fmt::format("{}: checkpoint not written: {}", place.string(), error.code().message()));
  } catch (...) {
    give_up();
    throw;
  }
}

std::vector<CheckpointStore::Entry> CheckpointStore::entries() const {
  std::vector<Entry> found;
  std::error_code none;
  for (const auto& item : fs::directory_iterator(folder_, none)) {
    if (const auto step = step_of(item.path().filename().string()))
      found.push_back({*step, item.path(), ""});
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.step, !is_old(a.path)) < std::pair(b.step, !is_old(b.path));
  });
  return found;
}

std::vector<CheckpointStore::Entry> CheckpointStore::list() const {
  std::vector<Entry> found = entries();
  for (Entry& entry : found) entry.damage = damage_of(entry.path);
  return found;
}

CheckpointStore::Newest CheckpointStore::newest() const {
  Newest newest;
  std::vector<Entry> found = entries();
  for (auto entry = found.rbegin(); entry != found.rend(); ++entry) {
    entry->damage = damage_of(entry->path);
    if (entry->damage.empty()) {
      newest.entry = *entry;
      break;
    }
    newest.skipped.push_back(*entry);
  }
  return newest;
}

std::optional<fs::path> CheckpointStore::linked(const char* name) const {
  const fs::path link = run_ / name;
  if (!fs::exists(link)) return std::nullopt;
  return fs::is_symlink(link) ? run_ / fs::read_symlink(link) : link;
}
std::optional<fs::path> CheckpointStore::best() const { return linked("best"); }
std::optional<fs::path> CheckpointStore::last() const { return linked("last"); }

void CheckpointStore::remove_remains() {
  for (const fs::path& place : {run_, folder_, run_ / "tb"}) {
    std::vector<fs::path> remains;
    std::error_code none;
    for (const auto& item : fs::directory_iterator(place, none)) {
      if (is_temporary(item.path())) remains.push_back(item.path());
    }
    for (const fs::path& path : remains) fs::remove_all(path);
  }
}

/// Out of the way of whole ones: it would count among the newest.
void CheckpointStore::move_aside(const Entry& entry) {
  const fs::path aside = folder_ / ("damaged-" + entry.path.filename().string());
  fs::remove_all(aside);
  fs::rename(entry.path, aside);
}

void CheckpointStore::settle_old(const Entry& entry) {
  const fs::path place = folder_ / name_of(entry.step);
  if (!fs::exists(place)) {
    fs::rename(entry.path, place);
  } else if (damage_of(place).empty()) {
    remove_folder(entry.path);
  }
}

std::optional<fs::path> CheckpointStore::repair(
    const Newest& found, const std::function<bool(const fs::path&)>& is_best) {
  try {
    remove_remains();
    for (const Entry& entry : found.skipped) move_aside(entry);
    for (const Entry& entry : entries()) {
      if (is_old(entry.path)) settle_old(entry);
    }
    for (const char* name : {"best", "last"}) fs::remove(run_ / name);
    if (!found.entry) return std::nullopt;
    const std::vector<Entry> rest = entries();
    for (auto entry = rest.rbegin(); entry != rest.rend(); ++entry) {
      if (!is_best(entry->path) || !damage_of(entry->path).empty()) continue;
      replace_symlink(run_ / "best", fs::path("checkpoints") / entry->path.filename());
      break;
    }
    const fs::path newest = folder_ / name_of(found.entry->step);
    replace_symlink(run_ / "last", fs::path("checkpoints") / newest.filename());
    sync_path(folder_);
    return newest;
  } catch (const fs::filesystem_error& error) {
    throw IoError(fmt::format("{}: cannot be put in order: {}", error.path1().string(),
                              error.code().message()));
  }
}

void CheckpointStore::prune() const {
  const std::vector<Entry> found = entries();
  const auto best_path = best();
  const auto surplus = static_cast<std::int64_t>(found.size()) - keep_;
  for (std::int64_t i = 0; i < surplus; ++i) {
    const fs::path& path = found[static_cast<std::size_t>(i)].path;
    if (!best_path || path.filename() != best_path->filename()) remove_folder(path);
  }
}

}  // namespace foxhunt::train
