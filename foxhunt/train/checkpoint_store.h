#pragma once
// The checkpoints of a run on disk: each complete or absent, whatever happens in between.
//
// A checkpoint is written under a temporary name, every file is synced, DONE (a list of the files
// with size and SHA-256) is written last, then the folder is renamed into place. `best` and `last`
// are relative links beside the `checkpoints` folder, so that a run can be moved.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace foxhunt::train {

class CheckpointStore {
 public:
  /// `keep` newest checkpoints stay; the one `best` points to always stays.
  CheckpointStore(std::filesystem::path run, std::int64_t keep);

  /// `write(folder)` puts the files there. Errors  IoError from writing; earlier checkpoints are
  /// untouched.
  void save(std::int64_t step, bool is_best,
            const std::function<void(const std::filesystem::path&)>& write);

  struct Entry {
    std::int64_t step = 0;
    std::filesystem::path path;
    std::string damage;  ///< why it cannot be used; "" when complete
  };
  /// All of them by step; `damage` from comparing each file with DONE.
  std::vector<Entry> list() const;
  std::optional<std::filesystem::path> best() const;
  std::optional<std::filesystem::path> last() const;

 private:
  void prune() const;
  std::optional<std::filesystem::path> linked(const char* name) const;
  std::filesystem::path run_;
  std::int64_t keep_;
};

}  // namespace foxhunt::train
