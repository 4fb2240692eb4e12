#include "foxhunt/train/environment.h"

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/time.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/nn/device.h"

namespace foxhunt::train {
std::string environment_json(const std::vector<std::string>& command_line,
                             const std::string& device, std::int64_t threads, std::int64_t seed) {
  nlohmann::ordered_json out;
  out["version"] = version();
  out["git_revision"] = git_revision();
  out["binary_sha256"] = sha256_of_file("/proc/self/exe");
  out["compiler"] = compiler();
  out["build_type"] = build_type();
  out["libtorch"] = nn::torch_version();
  out["instruction_set"] = kernels::default_kernels<float>().name;
  out["cpu"] = this_machine().cpu_model;
  out["device"] = device;
  out["threads"] = threads;
  out["seed"] = seed;
  out["command_line"] = command_line;
  out["started"] = to_string(now());
  return out.dump(2) + "\n";
}

}  // namespace foxhunt::train
