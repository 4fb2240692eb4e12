#pragma once
// What a run was made with: env.json of its folder. Torch-free.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::train {

/// env.json: version, git revision, SHA-256 of the running binary, compiler, CPU and the
/// instruction set of its kernels, LibTorch, device, threads, seed, command line, start time.
std::string environment_json(const std::vector<std::string>& command_line,
                             const std::string& device, std::int64_t threads, std::int64_t seed);

}  // namespace foxhunt::train
