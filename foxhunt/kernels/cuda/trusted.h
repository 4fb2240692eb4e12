#pragma once
// The kernels of a device once they have proved themselves on it.

#include <functional>
#include <string>
#include <vector>

#include "foxhunt/kernels/cuda/plugin.h"
#include "foxhunt/kernels/cuda/self_test.h"

namespace foxhunt::kernels::cuda {

/// What the self-test said of one device.
struct Trust {
  bool usable = false;
  std::string device;     ///< "cuda:0 NVIDIA H100 80GB HBM3 (sm_90)"
  std::string text;       ///< one line for the log: what was found, and what follows from it
  SelfTestReport report;  ///< empty where the plugin or the device is missing
};

/// Runs the self-test of `plugin` on `device`. Never throws for a device that fails.
Trust examine(const Plugin& plugin, int device);

/// The kernels as functions that throw.
class Kernels {
 public:
  explicit Kernels(const PluginTable* table) : table_(table) {}

  // Errors  DeviceError with the launcher's text.
  void forward(const ForwardArgs<float, float>& args, On where) const;
  void forward(const ForwardArgs<Bf16, float>& args, On where) const;
  void backward(const BackwardArgs<float, float>& args, On where) const;
  void backward(const BackwardArgs<Bf16, float>& args, On where) const;
  void step(const StepArgs<float, float>& args, On where) const;
  void step(const StepArgs<Bf16, float>& args, On where) const;

 private:
  const PluginTable* table_;
};

/// The kernels of cuda:`device`, or null where they are missing or failed their self-test. The
/// first call for a device tests it, and says in one line of the log what came of it. Cost  the
/// first call about a second, later ones a lock.
const Kernels* trusted_kernels(int device);

/// What the first call of either found.
const Trust& trust_in(int device);

}  // namespace foxhunt::kernels::cuda
