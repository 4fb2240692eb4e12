#include "foxhunt/kernels/cuda/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foxhunt::kernels::cuda {
namespace {

using Values = std::vector<double>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double on_grid(Grid grid, double value) {
  return grid == Grid::kBf16 ? to_bf16(value) : static_cast<double>(static_cast<float>(value));
}

/// Inputs are about 1. An answer whose values are all smaller than this has cancelled or decayed:
/// its error is taken relative to this.
constexpr double kSmallest = 0.05;

/// The recurrence with its history, one row of one head.
struct Stream {
  const Trial& t;
  std::int64_t row, head;
  std::int64_t P = t.shape.headdim;
  std::int64_t N = t.shape.d_state;
  std::int64_t group = head / t.shape.heads_per_group();
  std::vector<Values> states{};  ///< before token 0, 1, ..; behind the last

  std::int64_t token(std::int64_t i) const { return row * t.shape.tokens + i; }
  std::size_t x(std::int64_t i) const { return at((token(i) * t.shape.heads + head) * P); }
  std::size_t bc(std::int64_t i) const { return at((token(i) * t.shape.groups + group) * N); }
  std::size_t dt(std::int64_t i) const { return at(token(i) * t.shape.heads + head); }
  std::size_t state() const { return at((row * t.shape.heads + head) * P * N); }
  double decay(std::int64_t i) const { return std::exp(t.dt[dt(i)] * t.A[at(head)]); }
  bool restarts(std::int64_t i) const {
    if (t.segments.empty()) return false;
    const std::int64_t before = i == 0 ? 0 : t.segments[at(token(i - 1))];
    return t.segments[at(token(i))] != before;
  }

  void forward(Answers& out) {
    Values S(at(P * N), 0.0);
    if (!t.state.empty()) std::copy_n(t.state.begin() + std::ptrdiff_t(state()), P * N, S.begin());
    for (std::int64_t i = 0; i < t.shape.tokens; ++i) {
      if (restarts(i)) std::fill(S.begin(), S.end(), 0.0);
      states.push_back(S);
      for (std::int64_t p = 0; p < P; ++p) {
        const double input = t.x[x(i) + at(p)];
        double y = t.D.empty() ? 0.0 : t.D[at(head)] * input;
        for (std::int64_t n = 0; n < N; ++n) {
          double& s = S[at(p * N + n)];
          s = decay(i) * s + t.dt[dt(i)] * input * t.B[bc(i) + at(n)];
          y += s * t.C[bc(i) + at(n)];
        }
        out.y[x(i) + at(p)] = y;
      }
    }
    states.push_back(S);
    std::copy(S.begin(), S.end(), out.final_state.begin() + std::ptrdiff_t(state()));
  }

  void backward(Answers& out) {
    Values R(at(P * N), 0.0);
    if (!t.dfinal_state.empty())
      std::copy_n(t.dfinal_state.begin() + std::ptrdiff_t(state()), P * N, R.begin());
    for (std::int64_t i = t.shape.tokens; i-- > 0;) {
      token_backward(i, R, out);
      if (restarts(i)) std::fill(R.begin(), R.end(), 0.0);
    }
    std::copy(R.begin(), R.end(), out.dstate.begin() + std::ptrdiff_t(state()));
  }

  /// R: gradient of the state behind token i, becomes that of the state before it.
  void token_backward(std::int64_t i, Values& R, Answers& out) const {
    const double step = t.dt[dt(i)];
    const double e = decay(i);
    double d_decay = 0.0;
    for (std::int64_t p = 0; p < P; ++p) {
      const double input = t.x[x(i) + at(p)];
      const double dy = t.dy[x(i) + at(p)];
      double d_drive = 0.0;
      for (std::int64_t n = 0; n < N; ++n) {
        const double B = t.B[bc(i) + at(n)];
        double& r = R[at(p * N + n)];
        const double before = states[at(i)][at(p * N + n)];
        out.dC[bc(i) + at(n)] += dy * (e * before + step * input * B);
        r += dy * t.C[bc(i) + at(n)];
        d_decay += r * before;
        d_drive += r * B;
        out.dB[bc(i) + at(n)] += r * step * input;
        r *= e;
      }
      out.dx[x(i) + at(p)] = step * d_drive + (t.D.empty() ? 0.0 : t.D[at(head)] * dy);
      out.ddt[dt(i)] += input * d_drive;
      if (!t.D.empty()) out.dD[at(head)] += dy * input;
    }
    out.ddt[dt(i)] += d_decay * e * t.A[at(head)];
    out.dA[at(head)] += d_decay * e * step;
  }
};

void for_each_stream(const Trial& t, Answers& out, bool with_gradients) {
  for (std::int64_t row = 0; row < t.shape.batch; ++row) {
    for (std::int64_t head = 0; head < t.shape.heads; ++head) {
      Stream stream{t, row, head};
      stream.forward(out);
      if (with_gradients) stream.backward(out);
    }
  }
}

Difference difference(const char* name, const Values& got, const Values& want) {
  Difference d{name, 0.0};
  if (got.size() != want.size()) d.error = std::numeric_limits<double>::infinity();
  double scale = kSmallest;
  for (const double value : want) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < want.size() && i < got.size(); ++i) {
    const double off = std::abs(got[i] - want[i]);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    d.error = std::max(d.error, std::isfinite(off) ? off / scale : kInfinite);
  }
  return d;
}

}  // namespace

double to_bf16(double value) {
  Bf16 rounded{};
  narrow(static_cast<float>(value), rounded);
  return static_cast<double>(widen(rounded));
}

Trial make_trial(const Shape& s, Grid grid, const TrialOptions& options, Rng rng) {
  Trial t;
  t.shape = s;
  t.grid = grid;
  const auto draw = [&](std::int64_t count, Grid values, double lo, double hi) {
    Values out(at(count));
    for (double& v : out) v = on_grid(values, rng.uniform(lo, hi));
    return out;
  };
  const std::int64_t tokens = s.batch * s.tokens;
  const std::int64_t states = s.batch * s.heads * s.state_size();
  t.x = draw(tokens * s.heads * s.headdim, grid, -1, 1);
  t.B = draw(tokens * s.groups * s.d_state, grid, -1, 1);
  t.C = draw(tokens * s.groups * s.d_state, grid, -1, 1);
  t.dy = draw(tokens * s.heads * s.headdim, grid, -1, 1);
  t.A = draw(s.heads, Grid::kFloat, -16, -1);
  t.dt.resize(at(tokens * s.heads));
  for (std::size_t i = 0; i < t.dt.size(); ++i) {
    const double decay =
        std::exp(rng.uniform(std::log(options.min_decay), std::log(options.max_decay)));
    t.dt[i] = on_grid(Grid::kFloat, decay / -t.A[i % t.A.size()]);
  }
  if (options.skip) t.D = draw(s.heads, Grid::kFloat, -1, 1);
  if (options.state) t.state = draw(states, Grid::kFloat, -1, 1);
  if (options.final_gradient) t.dfinal_state = draw(states, Grid::kFloat, -1, 1);
  if (options.segments) {
    t.segments.resize(at(tokens));
    for (std::int64_t i = 0; i < tokens; ++i) {
      const std::int64_t before = i % s.tokens == 0 ? 0 : t.segments[at(i - 1)];
      t.segments[at(i)] = before + (rng.uniform() < 0.2 ? 1 : 0);
    }
  }
  return t;
}

Answers reference_outputs(const Trial& t) {
  Answers out;
  out.y.resize(t.x.size());
  out.final_state.resize(at(t.shape.batch * t.shape.heads * t.shape.state_size()));
  for_each_stream(t, out, false);
  return out;
}

Answers reference_answers(const Trial& t) {
  Answers out;
  out.y.resize(t.x.size());
  out.final_state.resize(at(t.shape.batch * t.shape.heads * t.shape.state_size()));
  out.dx.resize(t.x.size());
  out.dB.resize(t.B.size());
  out.dC.resize(t.C.size());
  out.ddt.resize(t.dt.size());
  out.dA.resize(t.A.size());
  out.dD.resize(t.D.size());
  out.dstate.resize(out.final_state.size());
  for_each_stream(t, out, true);
  return out;
}

std::vector<Difference> differences(const Answers& got, const Answers& want) {
  return {difference("y", got.y, want.y),
          difference("final_state", got.final_state, want.final_state),
          difference("dx", got.dx, want.dx),
          difference("dB", got.dB, want.dB),
          difference("dC", got.dC, want.dC),
          difference("ddt", got.ddt, want.ddt),
          difference("dA", got.dA, want.dA),
          difference("dD", got.dD, want.dD),
          difference("dstate", got.dstate, want.dstate)};
}

}  // namespace foxhunt::kernels::cuda
