#pragma once
// Ranks that are threads of one process: for tests and for reading how an exchange is meant.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "foxhunt/ranks/ranks.h"

namespace foxhunt::ranks {

/// `size` ranks, each to be used by a thread of its own. When one is destroyed before the others
/// have done the exchanges they began, those get a LostRankError.
std::vector<std::unique_ptr<Ranks>> local_ranks(int size);

}  // namespace foxhunt::ranks
