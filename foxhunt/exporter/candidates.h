#pragma once
// Forms of the weights, tried on this machine: how near they come and how fast they are.
// Torch-free.

#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/bundle/bundle.h"
#include "foxhunt/exporter/exporter.h"
#include "foxhunt/market/record.h"

namespace foxhunt::exporter {

/// Records and the trained model's answers to them.
struct Rows {
  std::span<const market::Bar> bars;
  std::span<const std::uint8_t> ready;
  std::span<const float> outputs;  ///< [sum of ready, K]
};

/// The engine record by record against `rows`. `refused` says where the bound is passed, or where
/// a record was answered by one alone.
Candidate compare(const bundle::Bundle& model, bundle::WeightForm form, const Rows& rows);

/// Sets step_us of every candidate that can serve: median of many steps, the forms in turn.
void time_steps(const bundle::Bundle& model, std::vector<Candidate>& candidates);

}  // namespace foxhunt::exporter
