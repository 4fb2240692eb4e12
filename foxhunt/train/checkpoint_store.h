#pragma once
// The checkpoints of a run on disk: each complete or absent, whatever happens in between.
//
// A checkpoint is written under a temporary name, every file is synced, DONE (manifest.h) is
// written last, then the folder is renamed into place. An earlier one of the same step goes to
// NAME.old first and is removed afterwards: at every instant one of the two is there. `best` and
// `last` are relative links beside the `checkpoints` folder, so that a run can be moved; they may
// be a step behind after a kill, until repair().

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
  /// All of them by step; `damage` from comparing each file with DONE. Cost  reads all of them.
  std::vector<Entry> list() const;
  /// The newest complete one, and the damaged ones that are newer. Cost  reads these alone.
  struct Newest {
    std::optional<Entry> entry{};
    std::vector<Entry> skipped{};
  };
  Newest newest() const;
  std::optional<std::filesystem::path> best() const;
  std::optional<std::filesystem::path> last() const;

  /// For whoever writes next: removes what killed writers left, moves the damaged checkpoints of
  /// `found` aside (damaged-NAME), and lets the links say what is true. `is_best(folder)`: does
  /// this checkpoint say that it holds the best weights? The answer is where found.entry is now.
  /// Cost  reads the best checkpoint. Errors  IoError.
  std::optional<std::filesystem::path> repair(
      const Newest& found, const std::function<bool(const std::filesystem::path&)>& is_best);

 private:
  std::vector<Entry> entries() const;  ///< by step, an .old in front of its successor; unchecked
  void put_in_place(const std::filesystem::path& temporary, const std::filesystem::path& place);
  void move_aside(const Entry& entry);
  void settle_old(const Entry& entry);
  void remove_remains();
  void prune() const;
  std::optional<std::filesystem::path> linked(const char* name) const;
  std::filesystem::path run_;
  std::filesystem::path folder_;
  std::int64_t keep_;
};

}  // namespace foxhunt::train
