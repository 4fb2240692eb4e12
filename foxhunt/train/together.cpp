#include "foxhunt/train/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/ranks/join.h"
#include "foxhunt/ranks/lane_tree.h"

namespace foxhunt::train {

Together::Together() : place_(ranks::place_of_this_process()) {}

void Together::meet(std::int64_t silence) {
  if (!place_) return;
  if (!leads()) log::set_console_level(log::Level::kWarn);
  ranks_ = ranks::join(*place_, {.silence = std::chrono::seconds(silence)});
  log::info("{} ranks have met, started by {}", place_->size, place_->started_by);
}

RunDir Together::open(const std::function<RunDir()>& how) const {
  if (!ranks_) return how();
  const auto name = [this](const std::string& own) {
    const std::string path = ranks_->from_first(own);
    ranks_->set_advice(fmt::format("; go on with: foxhunt resume {}", path));
    return path;
  };
  if (!leads()) return RunDir::elsewhere(name(""));
  RunDir run = how();
  name(std::filesystem::absolute(run.path()).string());
  return run;
}

void Together::require_alike(const std::string& config_sha256) const {
  if (!ranks_) return;
  ranks_->require_equal("configuration", config_sha256,
                        "start all ranks with the same files and --set");
  ranks_->require_equal("program",
                        fmt::format("{} {}", git_revision(), sha256_of_file("/proc/self/exe")),
                        "copy one build to all hosts");
  ranks_->require_equal("LibTorch", nn::torch_version(), "install one version on all hosts");
  ranks_->require_equal("instruction set", kernels::default_kernels<float>().name,
                        "set FOXHUNT_FORCE_ISA to one that all hosts have");
}

void Together::require_lanes(std::int64_t lanes, std::int64_t batch) const {
  if (ranks_) ranks::require_lane_each(ranks_->size(), lanes, batch);
}

void Together::require_same_data(const std::vector<DataFile>& files,
                                 const features::Schema& schema) const {
  if (!ranks_) return;
  std::string hashes;
  for (const DataFile& file : files) hashes += file.sha256;
  ranks_->require_equal("data", sha256_of(hashes), "give all hosts the same files");
  ranks_->require_equal("feature schema", schema.hash(),
                        "give all hosts the same libraries of [features] plugins");
}

std::string Together::from_first(const std::string& text) const {
  return ranks_ ? ranks_->from_first(text) : text;
}

std::string Together::device(const std::string& wanted) const {
  return place_ && wanted == "cuda" ? fmt::format("cuda:{}", place_->local_rank) : wanted;
}

std::int64_t Together::threads(std::int64_t wanted) const {
  if (wanted > 0 || !place_) return wanted;
  return std::max<std::int64_t>(1, this_machine().usable_cores / place_->local_size);
}

TrainReport Together::all(const std::function<TrainReport()>& work) const {
  if (!ranks_) return work();
  try {
    TrainReport report = work();
    report.rank = rank();
    ranks_->wait_for_all();
    ranks_->done();
    return report;
  } catch (const InterruptedError&) {  // all ranks stop at the same step
    ranks_->wait_for_all();
    ranks_->done();
    throw;
  } catch (const ranks::LostRankError&) {
    throw;
  } catch (const std::exception& error) {
    ranks_->ends(error.what());
    throw;
  }
}

}  // namespace foxhunt::train
