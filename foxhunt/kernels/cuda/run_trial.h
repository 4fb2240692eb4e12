#pragma once
// Lays a trial out as the kernels want it, in the memory of the host or of a GPU, runs them and
// collects the answers.
//
// Memory has put(vector) -> pointer and get(pointer, vector). Everything that is written starts as
// NaN: what a kernel forgets is seen.

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "foxhunt/kernels/cuda/plan.h"
#include "foxhunt/kernels/cuda/trial.h"

namespace foxhunt::kernels::cuda {

/// What the kernels promise of an answer, relative to its largest value. float32: sums of some
/// hundred products, 6e-8 each. The worst seen on the host is 3.3e-6, of a dA that cancels; a GPU's
/// exponential has another last bit.
inline constexpr double kFloatBound = 1e-5;
/// Stored as bfloat16, whose 8 bits are at worst 2^-8 = 3.9e-3 off, and the float32 sum before it.
inline constexpr double kBf16Bound = 3.95e-3;
/// The bound of the answer `name`: bfloat16 inputs have bfloat16 answers and gradients.
template <class In>
double bound_of(const std::string& name) {
  const bool narrow_answer = name == "y" || name == "dx" || name == "dB" || name == "dC";
  return std::is_same_v<In, Bf16> && narrow_answer ? kBf16Bound : kFloatBound;
}

/// The host's own memory.
struct HostMemory {
  template <class T>
  T* put(std::vector<T>& values) {
    return values.data();
  }
  template <class T>
  void get(const T*, std::vector<T>&) {}
};

template <class T, class U>
T converted(U value) {
  T out{};
  if constexpr (std::is_same_v<T, double>) {
    out = value;
  } else {
    narrow(static_cast<float>(value), out);
  }
  return out;
}

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(converted<T>(value));
  return out;
}

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const T value : values) out.push_back(static_cast<double>(widen(value)));
  return out;
}

/// The operands of one trial and the room for its answers.
template <class In, class Real, class Memory>
class TrialRun {
 public:
  TrialRun(const Trial& trial, Memory& memory) : t_(trial), memory_(memory) {
    const Shape& s = t_.shape;
    width_ = s.heads * s.headdim + 2 * s.groups * s.d_state + kGap;
    pack(xbc_, t_.x, t_.B, t_.C);
    const std::int64_t states = s.batch * s.heads * s.state_size();
    in_ = inputs();
    forward_ = {s,
                in_,
                optional(state_, t_.state),
                blank(y_, s.batch * s.tokens * s.heads * s.headdim),
                blank(enter_, states * chunk_count(s)),
                blank(through_, s.batch * chunk_count(s) * s.heads),
                blank(final_state_, states)};
  }

  const ForwardArgs<In, Real>& forward() const { return forward_; }

  /// Call it after the forward pass has run.
  const BackwardArgs<In, Real>& backward() {
    const Shape& s = t_.shape;
    dy_ = converted<In>(t_.dy);
    In* grad = blank(dxbc_, s.batch * s.tokens * width_);
    backward_ = {s,
                 in_,
                 forward_.enter,
                 forward_.through,
                 memory_.put(dy_),
                 optional(dfinal_, t_.dfinal_state),
                 grad,
                 grad + s.heads * s.headdim,
                 grad + s.heads * s.headdim + s.groups * s.d_state,
                 s.tokens * width_,
                 width_,
                 blank(ddt_, s.batch * s.tokens * s.heads),
                 blank(dA_, s.heads),
                 t_.D.empty() ? nullptr : blank(dD_, s.heads),
                 blank(dstate_, s.batch * s.heads * s.state_size()),
                 blank(workspace_, backward_workspace(s).size)};
    return backward_;
  }

  Answers outputs() {
    Answers out;
    out.y = fetch(forward_.y, y_);
    out.final_state = fetch(forward_.final_state, final_state_);
    return out;
  }
  Answers answers() {
    Answers out = outputs();
    unpack(fetch(backward_.dx, dxbc_), out);
    out.ddt = fetch(backward_.ddt, ddt_);
    out.dA = fetch(backward_.dA, dA_);
    if (!t_.D.empty()) out.dD = fetch(backward_.dD, dD_);
    out.dstate = fetch(backward_.dstate, dstate_);
    return out;
  }

 private:
  static constexpr std::int64_t kGap = 3;  ///< unused channels behind x, B and C: they are a view

  template <class T>
  T* blank(std::vector<T>& values, std::int64_t count) {
    values.assign(static_cast<std::size_t>(count),
                  converted<T>(std::numeric_limits<double>::quiet_NaN()));
    return memory_.put(values);
  }
  const Real* optional(std::vector<Real>& values, const std::vector<double>& from) {
    if (from.empty()) return nullptr;
    values = converted<Real>(from);
    return memory_.put(values);
  }
  template <class T>
  std::vector<double> fetch(const T* there, std::vector<T>& values) {
    memory_.get(there, values);
    return widened(values);
  }

  Inputs<In, Real> inputs() {
    const Shape& s = t_.shape;
    dt_ = converted<Real>(t_.dt);
    A_ = converted<Real>(t_.A);
    segments_ = t_.segments;
    const In* base = memory_.put(xbc_);
    return {base,
            base + s.heads * s.headdim,
            base + s.heads * s.headdim + s.groups * s.d_state,
            s.tokens * width_,
            width_,
            memory_.put(dt_),
            s.tokens * s.heads,
            s.heads,
            memory_.put(A_),
            optional(D_, t_.D),
            segments_.empty() ? nullptr : memory_.put(segments_)};
  }

  void pack(std::vector<In>& out, const std::vector<double>& x, const std::vector<double>& B,
            const std::vector<double>& C) const {
    const auto tokens = static_cast<std::size_t>(t_.shape.batch * t_.shape.tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      for (const auto* part : {&x, &B, &C}) {
        const std::size_t size = part->size() / tokens;
        for (std::size_t k = 0; k < size; ++k) out.push_back(converted<In>((*part)[i * size + k]));
      }
      out.resize(out.size() + kGap, converted<In>(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  void unpack(const std::vector<double>& packed, Answers& out) const {
    const auto tokens = static_cast<std::size_t>(t_.shape.batch * t_.shape.tokens);
    const std::size_t x = t_.x.size() / tokens;
    const std::size_t bc = t_.B.size() / tokens;
    for (std::size_t i = 0; i < tokens; ++i) {
      const auto start = packed.begin() + static_cast<std::ptrdiff_t>(i) * width_;
      const auto take = [&](std::vector<double>& into, std::size_t first, std::size_t count) {
        const auto from = start + static_cast<std::ptrdiff_t>(first);
        into.insert(into.end(), from, from + static_cast<std::ptrdiff_t>(count));
      };
      take(out.dx, 0, x);
      take(out.dB, x, bc);
      take(out.dC, x + bc, bc);
    }
  }

  const Trial& t_;
  Memory& memory_;
  std::int64_t width_ = 0;
  std::vector<In> xbc_, y_, dy_, dxbc_;
  std::vector<Real> dt_, A_, D_, state_, enter_, through_, final_state_;
  std::vector<Real> dfinal_, ddt_, dA_, dD_, dstate_, workspace_;
  std::vector<std::int64_t> segments_;
  Inputs<In, Real> in_{};
  ForwardArgs<In, Real> forward_{};
  BackwardArgs<In, Real> backward_{};
};

/// The trial's tokens as steps, `step(args)` for each; y and the final state. Segments are not for
/// steps.
template <class In, class Real, class Memory, class StepFunction>
Answers run_steps(const Trial& t, Memory& memory, const StepFunction& step) {
  const Shape& s = t.shape;
  TrialRun<In, Real, Memory> run(t, memory);
  const ForwardArgs<In, Real>& f = run.forward();
  std::vector<Real> state(static_cast<std::size_t>(s.batch * s.heads * s.state_size()), Real(0));
  if (!t.state.empty()) state = converted<Real>(t.state);
  std::vector<In> y(static_cast<std::size_t>(s.batch * s.heads * s.headdim),
                    converted<In>(std::numeric_limits<double>::quiet_NaN()));
  Real* state_there = memory.put(state);
  In* y_there = memory.put(y);
  Answers out;
  out.y.resize(t.x.size());
  Shape one = s;
  one.tokens = 1;
  for (std::int64_t i = 0; i < s.tokens; ++i) {
    step(StepArgs<In, Real>{one, f.in.x + i * f.in.token_stride, f.in.B + i * f.in.token_stride,
                            f.in.C + i * f.in.token_stride, f.in.row_stride,
                            f.in.dt + i * f.in.dt_token_stride, f.in.dt_row_stride, f.in.A, f.in.D,
                            state_there, y_there, state_there});
    memory.get(y_there, y);
    const std::size_t size = y.size() / static_cast<std::size_t>(s.batch);
    for (std::size_t e = 0; e < y.size(); ++e) {
      const std::size_t row = e / size;
      out.y[(row * static_cast<std::size_t>(s.tokens) + static_cast<std::size_t>(i)) * size +
            e % size] = static_cast<double>(widen(y[e]));
    }
  }
  memory.get(state_there, state);
  out.final_state = widened(state);
  return out;
}

}  // namespace foxhunt::kernels::cuda
