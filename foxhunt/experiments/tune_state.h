#pragma once
// Where a search stands: tune.json of its folder.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/experiments/tune_ranges.h"

namespace foxhunt::experiments {

/// A trial after it trained to the end of a rung.
struct RungResult {
  std::int64_t epochs = 0;  ///< of the rung
  double loss = 0;          ///< best validation loss up to there
  std::int64_t best_epoch = 0;
  bool ended = false;  ///< the training is over: its last epoch, or early stopping
};

struct Trial {
  std::size_t index = 0;
  std::vector<std::string> values{};  ///< one a range, TOML
  std::vector<RungResult> rungs{};    ///< passed so far
  std::string weights_sha256{};       ///< of the best weights so far
  std::string error{};                ///< why it failed; "" when it did not
  double seconds = 0;                 ///< of all its processes that ended

  std::optional<double> loss() const {
    return rungs.empty() || !error.empty() ? std::nullopt : std::optional(rungs.back().loss);
  }
  /// It needs no further training to be judged at a rung of `epochs`.
  bool reached(std::int64_t epochs) const {
    return !rungs.empty() && (rungs.back().ended || rungs.back().epochs >= epochs);
  }
  /// Its result at that rung; nullptr where it failed or did not get there.
  const RungResult* at(std::int64_t epochs) const;
};

struct TuneState {
  std::string config_sha256{};
  std::vector<std::string> ranges{};  ///< as given
  std::vector<Trial> trials{};

  std::string to_json() const;
  /// Errors  FormatError naming `name`; ConfigError: of another version.
  static TuneState from_json(const std::string& text, const std::string& name);
};

}  // namespace foxhunt::experiments
