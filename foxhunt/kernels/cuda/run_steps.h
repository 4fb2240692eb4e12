#pragma once
// Runs a trial token by token.

#include <limits>
#include <vector>

#include "foxhunt/kernels/cuda/run_trial.h"

namespace foxhunt::kernels::cuda {

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
