#pragma once
// The contract into the bundle: it travels with the model and says on which machine it held.

#include <filesystem>
#include <string>

#include "foxhunt/contract/report.h"

namespace foxhunt::contract {

/// Replaces the file by one that differs in "foxhunt.latency" and its digest alone, and answers the
/// new id; weights, proof and what serves stay bit for bit (engine::Plan::model_id() too).
/// Errors  DataError: the contract is broken, is not of this file (report.id), or the file holds
/// what would be lost; those of reading and writing.
std::string write_contract(const std::filesystem::path& path, const Report& report);

}  // namespace foxhunt::contract
