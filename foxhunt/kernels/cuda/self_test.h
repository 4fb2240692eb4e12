#pragma once
// Golden problems, solved on the device that is to be trusted: a GPU generation on which the same
// code is silently wrong is found before a model is trained on it.

#include <string>
#include <vector>

namespace foxhunt::kernels::cuda {

/// One answer of one operation, at its worst problem.
struct SelfTestLine {
  std::string operation;  ///< "ssd_backward float32 dB"
  double error = 0.0;     ///< see trial.h
  double bound = 0.0;

  bool passed() const { return error <= bound; }
};

struct SelfTestReport {
  std::vector<SelfTestLine> lines;

  bool passed() const;
  /// The line that failed by most, or that came closest to failing.
  const SelfTestLine& worst() const;
};

/// Runs the kernels on `device` against float64 answers that the host computes, and a second time
/// for the same bits. Errors  DeviceError: a launch failed.
SelfTestReport self_test(int device);

}  // namespace foxhunt::kernels::cuda
