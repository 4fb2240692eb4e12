#pragma once
// Starts one program several times on this host, as ranks of one training.

#include <chrono>
#include <string>
#include <vector>

namespace foxhunt::ranks {

struct LaunchOptions {
  int size = 1;
  std::vector<std::string> command{};  ///< program and its arguments
  /// What the others may take to end by themselves after one has failed.
  std::chrono::milliseconds grace{10'000};
};

/// Each process gets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and FOXHUNT_MEETING_FILE, a
/// file in a folder of its own that is removed at the end, so nothing listens on the network. Rank
/// 0 has this program's terminal; lines of the others go to standard error behind "[rank 1] ".
/// SIGINT and SIGTERM are handed on; a second one kills. When one fails the others have `grace` to
/// end, then they are terminated, and killed 5 s later. The answer is the exit code of the first
/// that failed (128 + the signal's number for one that was killed), 0 when none did.
/// Errors  ConfigError: the program cannot be started; IoError.
int launch(const LaunchOptions& options);

}  // namespace foxhunt::ranks
