#pragma once
// Progress of long work: a bar on a terminal, a plain line every few seconds elsewhere, nothing
// when off.

#include <chrono>
#include <cstdint>
#include <string>

namespace foxhunt {

enum class ProgressMode { kAuto, kPlain, kOff };

/// Draws to stderr. One at a time (the log makes the bar step aside).
///
///     epoch 3/8  [#########.........]  412/960  1180 rows/s  ETA 0:41  loss 1.032  412 MiB
class Progress {
 public:
  /// `unit` is what update() counts, `total` its final value (0: unknown).
  Progress(ProgressMode mode, std::string title, std::string unit, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` are ready; `note` is shown behind rate and time left. Cheap to call often.
  void update(std::int64_t done, const std::string& note);
  /// The last state, on a line of its own.
  void finish();

  void erase();
  void redraw();

 private:
  std::string line(bool with_bar) const;

  bool terminal_;
  bool off_;
  std::string title_;
  std::string unit_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::string note_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool on_screen_ = false;
  bool finished_ = false;
};

/// While one lives, the bar on the terminal (if any) is out of the way.
struct ProgressPause {
  ProgressPause();
  ~ProgressPause() = default;  ///< the bar comes back with its next update
  ProgressPause(const ProgressPause&) = delete;
  ProgressPause& operator=(const ProgressPause&) = delete;
};

/// Memory of this process in bytes: resident now, and the most it ever was.
struct ResidentSet {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
ResidentSet resident_set();

/// 1.2 GiB, 412 MiB, 17 KiB.
std::string format_bytes(std::int64_t bytes);
/// 0:41, 12:03, 1:02:03.
std::string format_duration(double seconds);

}  // namespace foxhunt
