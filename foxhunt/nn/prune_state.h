#pragma once
// A smaller state cut out of a trained model: exact surgery, nothing is trained.
//
// A column is three numbers a token: what B_n writes, what C_n reads, and what lies between. Both
// come from rows of in_proj through channels of the convolution, which is depthwise; taking those
// rows and channels out therefore takes out exactly the column, and nothing else moves.

#include <cstdint>
#include <memory>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/state_usage.h"

namespace foxhunt::nn {

/// A new model of the same device and dtype with the chosen columns of `model`, in their order, and
/// otherwise its weights. Shares no memory with it.
/// Errors  ShapeError: layers or groups missing, lists of different or no length, a column that is
/// not there, not ascending.
std::shared_ptr<Mamba2SSM> prune_state(const Mamba2SSM& model, const ColumnChoice& columns);

/// The same with the `d_state` most important columns of each layer and group.
std::shared_ptr<Mamba2SSM> prune_state(const Mamba2SSM& model, std::int64_t d_state,
                                       const StateUsage& usage);

}  // namespace foxhunt::nn
