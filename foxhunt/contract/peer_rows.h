#pragma once
// What a program of another make needs to show that it computes the same step: rows as the model
// takes them, and the answers of this engine.

#include <cstdint>
#include <string>

#include "foxhunt/bundle/bundle.h"

namespace foxhunt::contract {

/// {"features": [[F]…], "answers": [[K]…]}: the first `rows` answered records of the bundle (fewer
/// where it has fewer), scaled, and float32 answers of one session from an empty state, without a
/// restart between.
/// Errors  UsageError: rows < 1; those of rows_of().
std::string peer_rows_json(const bundle::Bundle& bundle, std::int64_t rows);

}  // namespace foxhunt::contract
