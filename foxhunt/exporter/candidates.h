#pragma once
// Forms of the weights, tried on this machine: how near they come and how fast they are.
// Torch-free.

#include <vector>

#include "foxhunt/bundle/bundle.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/exporter/exporter.h"

namespace foxhunt::exporter {

/// The engine record by record against `rows`. `refused` says where the bound is passed, or where
/// a record was answered by one alone.
Candidate compare(const bundle::Bundle& model, bundle::WeightForm form, const engine::Rows& rows);

/// Sets step_us of every candidate that can serve: median of many steps, the forms in turn.
void time_steps(const bundle::Bundle& model, std::vector<Candidate>& candidates);

}  // namespace foxhunt::exporter
