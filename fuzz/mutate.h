#pragma once
// A small mutator for the builds without libFuzzer: blind, but the same on every machine.

#include <string>
#include <vector>

#include "foxhunt/base/rng.h"

namespace foxhunt::fuzz {

/// One to four edits of `input`: bits and bytes changed, pieces cut, doubled, moved in from
/// `others`, numbers replaced by those at the edges of their type, pieces of JSON, TOML and CSV put
/// in. At most `limit` bytes. The same Rng state gives the same text.
std::string mutate(std::string input, const std::vector<std::string>& others, std::size_t limit,
                   Rng& rng);

}  // namespace foxhunt::fuzz
