#include "foxhunt/kernels/reference_mixer.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::kernels {
namespace {

using Values = std::vector<double>;
using Index = std::int64_t;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return x > 20.0 ? x : std::log1p(std::exp(x)); }

/// Everything one row computes on its way, token by token.
class Row {
 public:
  Row(const ReferenceMixerInput& in, Index row) : in_(in), s_(in.shape), row_(row) {
    inner_ = s_.inner();
    channels_ = s_.channels();
    state_ = state_size(s_.ssd);
    length_ = in.lengths.empty() ? in.tokens : in.lengths[at(row)];
    for (Index t = 0; t < length_; ++t) forward_token(t);
  }

  void write(ReferenceMixerOutput& out) const {
    for (Index t = 0; t < length_; ++t) {
      std::copy(out_[at(t)].begin(), out_[at(t)].end(),
                out.out.begin() + (row_ * in_.tokens + t) * inner_);
    }
    const Values last = length_ > 0 ? states_.back() : initial_state();
    std::copy(last.begin(), last.end(), out.ssm_next.begin() + row_ * state_);
    for (Index c = 0; c < channels_; ++c) {
      for (Index k = 0; k < s_.width; ++k) {
        out.conv_next[at((row_ * channels_ + c) * s_.width + k)] =
            length_ > 0 ? raw(length_ - 1, length_ - s_.width + k, c) : history(k - s_.width, c);
      }
    }
  }

  void backward(const ReferenceMixerOutput& dout, ReferenceMixerGradients& g) {
    Values dS(dout.ssm_next.begin() + row_ * state_, dout.ssm_next.begin() + (row_ + 1) * state_);
    for (Index c = 0; c < channels_; ++c) {
      for (Index k = 0; k < s_.width; ++k) {
        const double d = dout.conv_next[at((row_ * channels_ + c) * s_.width + k)];
        add_raw_gradient(length_ - 1, length_ - s_.width + k, c, d, g);
      }
    }
    for (Index t = length_ - 1; t >= 0; --t) {
      backward_token(t, dout, dS, g);
      if (t == start_of(t) && !continues(t)) std::fill(dS.begin(), dS.end(), 0.0);
    }
    if (length_ == 0 || continues(0)) {
      for (Index i = 0; i < state_; ++i) g.ssm_state[at(row_ * state_ + i)] += dS[at(i)];
    }
  }

 private:
  Index segment(Index t) const {
    return in_.segments.empty() ? 0 : in_.segments[at(row_ * in_.tokens + t)];
  }
  Index start_of(Index t) const {
    while (t > 0 && segment(t - 1) == segment(t)) --t;
    return t;
  }
  bool continues(Index t) const { return start_of(t) == 0 && segment(0) == 0; }
  double proj(Index t, Index column) const {
    return in_.proj[at((row_ * in_.tokens + t) * s_.proj_width() + column)];
  }
  /// Raw input of the convolution `offset` < 0 tokens before the window.
  double history(Index offset, Index c) const {
    if (in_.conv_state.empty()) return 0.0;
    return in_.conv_state[at((row_ * channels_ + c) * s_.width + s_.width + offset)];
  }
  /// Raw input at token `u` as token `t` >= u sees it: zero across the start of t's run.
  double raw(Index t, Index u, Index c) const {
    const Index start = start_of(t);
    if (u >= start) return proj(u, inner_ + c);
    return continues(t) && start == 0 ? history(u, c) : 0.0;
  }
  void add_raw_gradient(Index t, Index u, Index c, double d, ReferenceMixerGradients& g) const {
    const Index start = t < 0 ? 0 : start_of(t);
    const bool open = t < 0 || continues(t);
    if (u >= start) {
      g.proj[at((row_ * in_.tokens + u) * s_.proj_width() + inner_ + c)] += d;
    } else if (open) {
      g.conv_state[at((row_ * channels_ + c) * s_.width + s_.width + u)] += d;
    }
  }
  Values initial_state() const {
    if (in_.ssm_state.empty()) return Values(at(state_), 0.0);
    return {in_.ssm_state.begin() + row_ * state_, in_.ssm_state.begin() + (row_ + 1) * state_};
  }
  Values entering(Index t) const {
    if (t != start_of(t)) return states_[at(t - 1)];
    return continues(t) ? initial_state() : Values(at(state_), 0.0);
  }
  double skip(Index h) const { return in_.D.empty() ? 0.0 : in_.D[at(h)]; }
  Index group(Index h) const { return h * s_.ssd.groups / s_.ssd.heads; }
  Index b_at(Index h) const { return inner_ + group(h) * s_.ssd.d_state; }
  Index c_at(Index h) const { return b_at(h) + s_.ssd.groups * s_.ssd.d_state; }

  void forward_token(Index t) {
    Values pre(at(channels_));
    Values v(at(channels_));
    for (Index c = 0; c < channels_; ++c) {
      double sum = in_.conv_bias.empty() ? 0.0 : in_.conv_bias[at(c)];
      for (Index k = 0; k < s_.width; ++k) {
        sum += in_.conv[at(k * channels_ + c)] * raw(t, t - s_.width + 1 + k, c);
      }
      pre[at(c)] = sum;
      v[at(c)] = sum * logistic(sum);
    }
    Values S = entering(t);
    Values y(at(inner_));
    Values dt(at(s_.ssd.heads));
    const Index P = s_.ssd.headdim;
    const Index N = s_.ssd.d_state;
    for (Index h = 0; h < s_.ssd.heads; ++h) {
      const double a = proj(t, inner_ + channels_ + h) + in_.dt_bias[at(h)];
      dt[at(h)] = std::clamp(softplus(a), s_.dt_low, s_.dt_high);
      const double decay = std::exp(dt[at(h)] * in_.A[at(h)]);
      for (Index p = h * P; p < (h + 1) * P; ++p) {
        y[at(p)] = skip(h) * v[at(p)];
        for (Index n = 0; n < N; ++n) {
          double& state = S[at(p * N + n)];
          state = decay * state + dt[at(h)] * v[at(p)] * v[at(b_at(h) + n)];
          y[at(p)] += state * v[at(c_at(h) + n)];
        }
      }
    }
    pre_.push_back(pre);
    v_.push_back(v);
    dt_.push_back(dt);
    states_.push_back(S);
    out_.push_back(gate(t, y));
    y_.push_back(y);
  }

  double opening(Index t, Index c) const { return proj(t, c) * logistic(proj(t, c)); }
  double rms(Index t, const Values& y, Index g) const {
    const Index size = inner_ / s_.ssd.groups;
    double squares = 0.0;
    for (Index c = g * size; c < (g + 1) * size; ++c) {
      const double q = s_.gate == Gate::kGateFirst ? y[at(c)] * opening(t, c) : y[at(c)];
      squares += q * q;
    }
    return 1.0 / std::sqrt(squares / static_cast<double>(size) + s_.eps);
  }
  Values gate(Index t, const Values& y) const {
    Values out(at(inner_));
    for (Index c = 0; c < inner_; ++c) {
      out[at(c)] = y[at(c)] * opening(t, c);
      if (s_.gate == Gate::kNoNorm) continue;
      out[at(c)] *= rms(t, y, c * s_.ssd.groups / inner_) * in_.norm[at(c)];
    }
    return out;
  }

  /// dy of token t; adds to the gradients of z and of the norm's weight.
  Values gate_backward(Index t, const ReferenceMixerOutput& dout,
                       ReferenceMixerGradients& g) const {
    const Values& y = y_[at(t)];
    const Index size = inner_ / s_.ssd.groups;
    Values dy(at(inner_));
    for (Index c = 0; c < inner_; ++c) {
      const Index from = c / size * size;
      const double r = s_.gate == Gate::kNoNorm ? 1.0 : rms(t, y, c / size);
      const bool first = s_.gate == Gate::kGateFirst;
      double dq = 0.0;  // of what is normed; without a norm of y silu(z)
      const auto upstream = [&](Index i) {
        const double d = dout.out[at((row_ * in_.tokens + t) * inner_ + i)];
        const double w = s_.gate == Gate::kNoNorm ? 1.0 : in_.norm[at(i)];
        return d * w * (s_.gate == Gate::kNormFirst ? opening(t, i) : 1.0);
      };
      const auto normed = [&](Index i) { return first ? y[at(i)] * opening(t, i) : y[at(i)]; };
      dq = upstream(c) * r;
      if (s_.gate != Gate::kNoNorm) {
        double overlap = 0.0;
        for (Index i = from; i < from + size; ++i) overlap += upstream(i) * normed(i);
        dq -= normed(c) * r * r * r * overlap / static_cast<double>(size);
      }
      const double z = proj(t, c);
      const double sigma = logistic(z);
      const double slope = sigma * (1.0 + z * (1.0 - sigma));
      const double d = dout.out[at((row_ * in_.tokens + t) * inner_ + c)];
      double dz = 0.0;
      if (s_.gate == Gate::kNormFirst) {
        dy[at(c)] = dq;
        dz = d * y[at(c)] * r * in_.norm[at(c)] * slope;
        g.norm[at(c)] += d * opening(t, c) * y[at(c)] * r;
      } else {
        dy[at(c)] = dq * opening(t, c);
        dz = dq * y[at(c)] * slope;
        if (first) g.norm[at(c)] += d * normed(c) * r;
      }
      g.proj[at((row_ * in_.tokens + t) * s_.proj_width() + c)] += dz;
    }
    return dy;
  }

  void backward_token(Index t, const ReferenceMixerOutput& dout, Values& dS,
                      ReferenceMixerGradients& g) const {
    const Values dy = gate_backward(t, dout, g);
    const Values& v = v_[at(t)];
    const Values before = entering(t);
    Values dv(at(channels_), 0.0);
    const Index P = s_.ssd.headdim;
    const Index N = s_.ssd.d_state;
    for (Index h = 0; h < s_.ssd.heads; ++h) {
      const double step = dt_[at(t)][at(h)];
      const double A = in_.A[at(h)];
      const double decay = std::exp(step * A);
      double dstep = 0.0;
      double dlog = 0.0;  // of log decay = step A
      for (Index p = h * P; p < (h + 1) * P; ++p) {
        double dU = 0.0;
        for (Index n = 0; n < N; ++n) {
          const Index i = p * N + n;
          const double B = v[at(b_at(h) + n)];
          dS[at(i)] += dy[at(p)] * v[at(c_at(h) + n)];
          dv[at(c_at(h) + n)] += dy[at(p)] * states_[at(t)][at(i)];
          dv[at(b_at(h) + n)] += dS[at(i)] * step * v[at(p)];
          dU += dS[at(i)] * B;
          dlog += dS[at(i)] * decay * before[at(i)];
          dS[at(i)] *= decay;
        }
        dv[at(p)] += step * dU + skip(h) * dy[at(p)];
        dstep += v[at(p)] * dU;
        if (!in_.D.empty()) g.D[at(h)] += dy[at(p)] * v[at(p)];
      }
      dstep += A * dlog;
      g.A[at(h)] += step * dlog;
      const Index column = inner_ + channels_ + h;
      const double a = proj(t, column) + in_.dt_bias[at(h)];
      const double free = softplus(a);
      const bool bound = free < s_.dt_low || free > s_.dt_high;
      const double da = bound ? 0.0 : dstep * (a > 20.0 ? 1.0 : logistic(a));
      g.proj[at((row_ * in_.tokens + t) * s_.proj_width() + column)] += da;
      g.dt_bias[at(h)] += da;
    }
    for (Index c = 0; c < channels_; ++c) {
      const double x = pre_[at(t)][at(c)];
      const double d = dv[at(c)] * logistic(x) * (1.0 + x * (1.0 - logistic(x)));
      if (!in_.conv_bias.empty()) g.conv_bias[at(c)] += d;
      for (Index k = 0; k < s_.width; ++k) {
        const Index u = t - s_.width + 1 + k;
        g.conv[at(k * channels_ + c)] += d * raw(t, u, c);
        add_raw_gradient(t, u, c, d * in_.conv[at(k * channels_ + c)], g);
      }
    }
  }

  const ReferenceMixerInput& in_;
  const MixerShape& s_;
  Index row_, inner_ = 0, channels_ = 0, state_ = 0, length_ = 0;
  std::vector<Values> pre_, v_, dt_, states_, out_, y_;
};

Values zeros(Index count) { return Values(at(count), 0.0); }

}  // namespace

ReferenceMixerOutput reference_mixer_forward(const ReferenceMixerInput& in) {
  const MixerShape& s = in.shape;
  ReferenceMixerOutput out{zeros(in.batch * in.tokens * s.inner()),
                           zeros(in.batch * s.channels() * s.width),
                           zeros(in.batch * state_size(s.ssd))};
  for (Index row = 0; row < in.batch; ++row) Row(in, row).write(out);
  return out;
}

ReferenceMixerGradients reference_mixer_backward(const ReferenceMixerInput& in,
                                                 const ReferenceMixerOutput& dout) {
  const MixerShape& s = in.shape;
  ReferenceMixerGradients g;
  g.proj = zeros(static_cast<Index>(in.proj.size()));
  g.conv = zeros(s.width * s.channels());
  g.conv_bias = zeros(static_cast<Index>(in.conv_bias.size()));
  g.dt_bias = g.A = zeros(s.ssd.heads);
  g.D = zeros(static_cast<Index>(in.D.size()));
  g.norm = zeros(s.inner());
  g.conv_state = zeros(in.batch * s.channels() * s.width);
  g.ssm_state = zeros(in.batch * state_size(s.ssd));
  for (Index row = 0; row < in.batch; ++row) Row(in, row).backward(dout, g);
  return g;
}

}  // namespace foxhunt::kernels
