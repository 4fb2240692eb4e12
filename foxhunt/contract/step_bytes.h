#pragma once
// What one step moves, counted array by array from the packed network: the working set of its
// streaming floor.
//
// Everything comes and goes in whole cache lines, so each array counts in lines of 64 bytes. Not
// counted, since they stay in the nearest cache from one use to the next: vectors between the
// projections, the row, the answer, code.

#include <cstdint>

#include "foxhunt/engine/plan.h"

namespace foxhunt::contract {

struct StepBytes {
  std::int64_t projections = 0;  ///< packed weights of in_proj and out_proj, zero lanes included
  std::int64_t ends = 0;         ///< packed weights of input and head
  std::int64_t vectors = 0;      ///< biases; int8: scale and sum of each row
  std::int64_t cores = 0;        ///< convolution, its bias, and A, D, dt_bias of the heads
  std::int64_t state = 0;        ///< once: a step reads and writes it
  std::int64_t window = 0;       ///< past inputs of the convolution: read
  std::int64_t window_row = 0;   ///< the one of them that a step replaces: written

  /// What must have been read before the answer is there.
  std::int64_t read() const { return projections + ends + vectors + cores + state + window; }
  /// The state and a row of the window, behind the answer.
  std::int64_t written() const { return state + window_row; }
  std::int64_t total() const { return read() + written(); }
  friend bool operator==(const StepBytes&, const StepBytes&) = default;
};

StepBytes step_bytes(const engine::Plan& plan);

}  // namespace foxhunt::contract
