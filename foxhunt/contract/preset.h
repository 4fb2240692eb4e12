#pragma once
// Models that nobody has to train: real features over a made-up market, random weights. What they
// answer means nothing; how long they take does.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/bundle/bundle.h"

namespace foxhunt::contract {

/// "default_hft": model::Mamba2Config::default_hft(), 112,755 parameters with the default features.
/// "lstm_a_size": of the two-layer models with its headdim and d_state the one nearest to the
/// 160,901 parameters of STAC-ML's LSTM_A (two layers of 100): d_model 112, 164,669 parameters.
std::vector<std::string> preset_names();

/// `records` of the planted market, with what markets hold: sessions, a hole, a bad record. The
/// golden answers are this engine's own in float32, so verify() says how far a narrow form is off.
/// Errors  UsageError naming the choices; records < 1000.
bundle::Bundle preset_bundle(std::string_view name, std::uint64_t seed = 1,
                             std::int64_t records = 2000);

}  // namespace foxhunt::contract
