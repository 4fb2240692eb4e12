#pragma once
// What a served stream remembers between two processes, in one file.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/engine/session.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/serve/slots.h"

namespace foxhunt::serve {

struct SavedState {
  std::uint64_t records = 0;          ///< of the source, consumed; sources before it not counted
  std::uint64_t digest = 0;           ///< Source::digest() behind them
  std::uint64_t answers = 0;          ///< made so far: the number of the last one
  std::uint64_t ring_id = 0;          ///< of the input ring; 0: none
  std::uint64_t ring_taken = 0;       ///< records taken from it since it was made
  std::int64_t output_bytes = -1;     ///< of the output file; -1: no file
  std::string output_tail{};          ///< its last line
  std::vector<AnswerSlot> pending{};  ///< made, and not taken by the output
};

/// One server a state: holds the file `path`.lock for as long as it lives, and however it dies.
class StateLock {
 public:
  /// Errors  UsageError: another process has it; IoError: the folder cannot be written.
  explicit StateLock(const std::filesystem::path& path);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  int fd_;
};

/// Written atomically and synced. Errors  IoError.
void save_state(const std::filesystem::path& path, const SavedState& state,
                const market::BarSelector& selector, const engine::Session& session);

/// Errors  IoError; FormatError: damaged, another version, another model, form or filter; selector
/// and session are then not to be used.
SavedState load_state(const std::filesystem::path& path, market::BarSelector& selector,
                      engine::Session& session);

/// The file's bytes, and back: `origin` stands for the file in messages. Errors  as load_state().
std::vector<std::byte> state_bytes(const SavedState& state, const market::BarSelector& selector,
                                   const engine::Session& session);
SavedState parse_state(std::span<const std::byte> bytes, const std::string& origin,
                       market::BarSelector& selector, engine::Session& session);

}  // namespace foxhunt::serve
