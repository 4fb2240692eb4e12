#pragma once
// The core of a layer over a window, forward and backward, in float64 by plain loops: the
// recurrence token by token and its reverse. Shares no algorithm with mixer.h, whose judge it is;
// nn's tests hold it to LibTorch's autograd.

#include <cstdint>
#include <vector>

#include "foxhunt/kernels/mixer.h"

namespace foxhunt::kernels {

/// All in the layouts of mixer.h, contiguous. Empty: not there.
struct ReferenceMixerInput {
  MixerShape shape;  ///< chunk plays no part
  std::int64_t batch = 0, tokens = 0;
  std::vector<double> proj;                     ///< [B, T, proj_width]
  std::vector<double> conv, conv_bias;          ///< [W, C], [C]
  std::vector<double> dt_bias, A, D, norm;      ///< [H], [H], [H], [H P]
  std::vector<double> conv_state, ssm_state;    ///< [B, C, W], [B, H, P, N]
  std::vector<std::int64_t> segments, lengths;  ///< [B, T], [B]
};

struct ReferenceMixerOutput {
  std::vector<double> out;                  ///< [B, T, H P]
  std::vector<double> conv_next, ssm_next;  ///< [B, C, W], [B, H, P, N]
};

struct ReferenceMixerGradients {
  std::vector<double> proj, conv, conv_bias, dt_bias, A, D, norm, conv_state, ssm_state;
};

ReferenceMixerOutput reference_mixer_forward(const ReferenceMixerInput& in);

/// Gradients of sum(out * dout) + sum(conv_next * dconv_next) + sum(ssm_next * dssm_next), all of
/// them given.
ReferenceMixerGradients reference_mixer_backward(const ReferenceMixerInput& in,
                                                 const ReferenceMixerOutput& dout);

}  // namespace foxhunt::kernels
