#pragma once
// Made-up layers for tests: a case says what is special about it, the values are drawn.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/kernels/reference_mixer.h"

namespace foxhunt::kernels {

struct MixerCase {
  MixerShape shape{{3, 5, 1, 4}, 4, 8, Gate::kGateFirst, 1e-5, 1e-4, 10.0};
  std::int64_t batch = 1;
  std::int64_t tokens = 21;
  bool bias = true;
  bool skip = true;
  bool with_states = true;
  double a_scale = 1.0;                   ///< A in -a_scale * [0.1, 2]
  std::vector<double> raw_dt{-3.0, 1.0};  ///< range of dt before softplus
  double spike = 0.0;                     ///< raw dt of every seventh token, if not 0
  std::vector<std::int64_t> segments;     ///< first tokens of the segments 0, 1, ..; every row
  std::vector<std::int64_t> lengths;      ///< [B]

  std::string name() const;
  ReferenceMixerInput input() const;
  /// Gradients from above for everything the layer gives.
  ReferenceMixerOutput upstream() const;
};

std::vector<MixerCase> mixer_shapes();  ///< odd and even sizes of every axis, tails, groups
std::vector<MixerCase> mixer_cuts();    ///< states, padding, packed sequences, all together
std::vector<MixerCase> mixer_limits();  ///< limits of the step size that bind

/// What the kernels make of a case; outputs start as NaN, so that a forgotten element shows.
template <class T>
struct MixerRun {
  std::vector<T> out, conv_next, ssm_next, chunk_states, rstd;
  std::vector<T> dproj, dconv, dconv_bias, ddt_bias, dA, dD, dnorm, dconv_state, dssm_state;
};
template <class T>
MixerRun<T> run_mixer_forward(const KernelTableOf<T>& kernels, const ReferenceMixerInput& in);
/// The same on rows of one batch that lie `stride` apart.
MixerRun<float> run_mixer_rows(const KernelTable& kernels, const ReferenceMixerInput& in,
                               const float* proj, std::int64_t stride);
template <class T>
MixerRun<T> run_mixer(const KernelTableOf<T>& kernels, const ReferenceMixerInput& in,
                      const ReferenceMixerOutput& dout);

}  // namespace foxhunt::kernels
