// Times the kernels on the first GPU, beside the copy bandwidth of the same run. One JSON line a
// shape. Needs no LibTorch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/launch.h"
#include "foxhunt/kernels/cuda/run_trial.h"

namespace foxhunt::kernels::cuda {
namespace {

constexpr int kRepeats = 15;

/// Median milliseconds of one call; the first calls are not counted.
template <class Call>
double median_ms(const Call& call) {
  std::vector<double> times;
  for (int i = 0; i < kRepeats + 3; ++i) {
    synchronise(0);
    const auto start = std::chrono::steady_clock::now();
    call();
    synchronise(0);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (i >= 3) times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

double copy_gb_per_s() {
  constexpr std::size_t kBytes = std::size_t{1} << 28;
  DeviceMemory memory(0);
  void* from = memory.allocate(kBytes);
  void* to = memory.allocate(kBytes);
  return 2.0 * static_cast<double>(kBytes) /
         (median_ms([&] { memory.copy_inside(to, from, kBytes); }) * 1e6);
}

/// Bytes that forward and backward pass must read and write once.
template <class In>
double least_bytes(const Shape& s) {
  const auto tokens = static_cast<double>(s.batch * s.tokens);
  const auto width = static_cast<double>(s.heads * s.headdim + 2 * s.groups * s.d_state);
  const auto y = static_cast<double>(s.heads * s.headdim);
  const auto states = static_cast<double>(s.batch * s.heads * s.state_size());
  return tokens * (3 * width + 2 * y) * sizeof(In) +
         (tokens * 3 * static_cast<double>(s.heads) + states * 4) * sizeof(float);
}

template <class In>
void time_shape(const char* type, const Shape& s, double copy) {
  const Trial trial = make_trial(s, Grid::kBf16, {}, Rng(1));
  DeviceMemory memory(0);
  TrialRun<In, float, DeviceMemory> run(trial, memory);
  const double forward = median_ms([&] { launch_forward(run.forward(), {0, nullptr}); });
  const auto& args = run.backward();
  const double backward = median_ms([&] { launch_backward(args, {0, nullptr}); });
  const double rate = least_bytes<In>(s) / ((forward + backward) * 1e6);
  fmt::print(
      "{{\"input\": \"{}\", \"B\": {}, \"T\": {}, \"H\": {}, \"P\": {}, \"G\": {}, \"N\": {}, "
      "\"chunk\": {}, \"forward_ms\": {:.4f}, \"backward_ms\": {:.4f}, \"tokens_per_s\": {:.0f}, "
      "\"least_gb_per_s\": {:.1f}, \"copy_gb_per_s\": {:.1f}}}\n",
      type, s.batch, s.tokens, s.heads, s.headdim, s.groups, s.d_state, pick_chunk(s), forward,
      backward, static_cast<double>(s.batch * s.tokens) / ((forward + backward) * 1e-3), rate,
      copy);
}

int run() {
  if (device_count() == 0) {
    fmt::print(stderr, "no GPU, or built without nvcc\n");
    return 1;
  }
  const double copy = copy_gb_per_s();
  // d_model 64, 256 and 768 at expand 2; many short windows; one long window.
  for (const Shape& s :
       {Shape{32, 128, 4, 32, 1, 16}, Shape{8, 512, 8, 64, 1, 64}, Shape{8, 1024, 24, 64, 1, 128},
        Shape{70000, 8, 2, 16, 1, 16}, Shape{1, 16384, 8, 64, 1, 64}}) {
    time_shape<float>("float32", s, copy);
    time_shape<Bf16>("bfloat16", s, copy);
  }
  return 0;
}

}  // namespace
}  // namespace foxhunt::kernels::cuda

int main() {
  try {
    return foxhunt::kernels::cuda::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
