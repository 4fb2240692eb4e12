#pragma once
// Over budget: one class that holds the layout of every operand.
// Lays a trial out as the kernels want it, in the memory of the host or of a GPU, runs them and
// collects the answers.
//
// Memory has put(vector) -> pointer and get(pointer, vector). Everything that is written starts as
// NaN: what a kernel forgets is seen.

#include <limits>
#include <vector>

#include "foxhunt/kernels/cuda/plan.h"
#include "foxhunt/kernels/cuda/trial.h"
#include "foxhunt/kernels/cuda/trial_memory.h"

namespace foxhunt::kernels::cuda {

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

}  // namespace foxhunt::kernels::cuda
