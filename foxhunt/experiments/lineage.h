#pragma once
// What the registry is told about a run folder or a bundle. Torch-free.

#include <filesystem>
#include <string>

#include "foxhunt/ledger/registry.h"

namespace foxhunt::experiments {

/// Reads a run folder: configuration, data lock, weights of the best model.
/// `name` empty: the folder's name. Errors  DataError, FormatError: no run, or one without a model.
ledger::Model model_of_run(const std::filesystem::path& run, const std::string& name = {});

/// Reads and checks a bundle. `run`: where it was exported from; empty: unknown. `name` empty: the
/// file's name without its ending. Errors  as bundle::read_bundle().
ledger::Model model_of_bundle(const std::filesystem::path& file,
                              const std::filesystem::path& run = {}, const std::string& name = {});

/// Registers what train or export left. A ledger that cannot be written: a warning that says how to
/// register it later, and no error: the run or the bundle is there. `path` empty: does nothing.
void register_quietly(const std::filesystem::path& path, const std::filesystem::path& run_or_bundle,
                      const std::filesystem::path& run = {});

}  // namespace foxhunt::experiments
