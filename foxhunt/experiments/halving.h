#pragma once
// Successive halving, the bookkeeping (Jamieson & Talwalkar 2016): who trains how far.
//
// Synchronous: a rung is full before anyone is chosen from it, so that the choice depends on the
// losses alone and not on which process was faster.

#include <cstdint>
#include <optional>
#include <vector>

namespace foxhunt::experiments {

/// Epochs at the end of each rung: min_epochs, eta times that, …, and max_epochs as the last.
/// A single rung where min_epochs is not below max_epochs.
std::vector<std::int64_t> rungs(std::int64_t min_epochs, std::int64_t eta, std::int64_t max_epochs);

/// Of the trials in a rung, those that go on: the best one in eta by loss, at least one, the
/// earlier of equals; ascending. `losses` [entered], none for one that failed: it never goes on,
/// but counts among those that entered.
std::vector<std::size_t> survivors(const std::vector<std::size_t>& entered,
                                   const std::vector<std::optional<double>>& losses,
                                   std::int64_t eta);

}  // namespace foxhunt::experiments
