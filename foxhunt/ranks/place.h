#pragma once
// Which of how many processes this one is, as the program that started it says in the environment.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace foxhunt::ranks {

/// Where a process stands among those that train together.
struct Place {
  int rank = 0;
  int size = 1;
  int local_rank = 0;     ///< on this host; the number of its GPU
  int local_size = 1;     ///< how many share this host's cores
  std::string address{};  ///< where the ranks meet: host of rank 0, or of torchrun's agent
  std::uint16_t port = 0;
  bool served = false;           ///< torchrun's agent already listens there
  std::string attempt{};         ///< keeps a restarted job's words from an earlier one's
  std::filesystem::path file{};  ///< instead of address and port: all ranks are on one host
  std::string started_by{};      ///< "torchrun's variables", "Slurm", "foxhunt launch"
};

/// A variable's value, or null.
using Environment = std::function<const char*(const char* name)>;

/// Reads, in this order:
///   FOXHUNT_MEETING_FILE beside RANK and WORLD_SIZE    foxhunt launch
///   RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT         torchrun, or anybody who sets them;
///     LOCAL_RANK, LOCAL_WORLD_SIZE, TORCHELASTIC_USE_AGENT_STORE where they are there
///   SLURM_PROCID and SLURM_STEP_NUM_TASKS              a step of srun; the first host of the step
///     is where the ranks meet, at MASTER_PORT or a port made of the job's number
/// Nothing of these, or one process: no value. Errors  ConfigError naming the variable: missing
/// beside others, no number, out of range, RANK >= WORLD_SIZE.
std::optional<Place> place_from(const Environment& environment);
/// From the environment of this process.
std::optional<Place> place_of_this_process();

/// First host of Slurm's short form: "node[003-007,9],login1" -> "node003". Errors  ConfigError.
std::string first_host(const std::string& list);

}  // namespace foxhunt::ranks
