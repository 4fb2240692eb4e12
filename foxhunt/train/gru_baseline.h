#pragma once
// A GRU of like size, trained like the model: what a recurrent network without state space makes of
// the same rows.

#include <cstdint>
#include <memory>

#include "foxhunt/model/head_config.h"
#include "foxhunt/train/sequence_model.h"

namespace foxhunt::train {

/// Linear(F -> H), one GRU layer of width H, Linear(H -> K), with H chosen so that the number of
/// parameters comes nearest to `parameters`. Weights U(-1/sqrt(H), 1/sqrt(H)) from `seed`, created
/// on `device`.
std::unique_ptr<SequenceModel> make_gru(const model::HeadConfig& head, std::int64_t parameters,
                                        at::Device device, std::uint64_t seed);

/// Width H for make_gru: parameters(H) = 6 H^2 + (F + K + 7) H + K.
std::int64_t gru_width(std::int64_t n_features, std::int64_t n_outputs, std::int64_t parameters);

}  // namespace foxhunt::train
