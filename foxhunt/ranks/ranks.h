#pragma once
// The processes that train one model together, as everybody but this room sees them: numbers,
// exchanges of plain memory, nothing of LibTorch or sockets.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {

/// Another rank died, fell silent or ended with an error: this one cannot go on.
struct LostRankError : Error {
  explicit LostRankError(const std::string& what) : Error(ExitCode::kFailure, what) {}
};

/// Every exchange is collective: all ranks call the same ones in the same order, one thread of a
/// rank at a time. Errors  LostRankError from every exchange, naming the rank where that is known.
class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Piece q of `send` (send_counts[q] elements, one piece behind the other) goes to rank q; what
  /// rank q sent here lies in piece q of `receive`. Counts may be 0.
  virtual void all_to_all(std::span<const float> send, std::span<const std::int64_t> send_counts,
                          std::span<float> receive,
                          std::span<const std::int64_t> receive_counts) = 0;
  /// Every rank's `mine`, all of one length, in the order of the ranks.
  virtual void all_gather(std::span<const float> mine, std::span<float> all) = 0;
  /// Every rank's text, of any length, in the order of the ranks.
  virtual std::vector<std::string> gather(std::string_view mine) = 0;

  /// From now on an error says how to go on with this run ("" before there is one).
  virtual void set_advice(std::string advice) { advice_ = std::move(advice); }

  /// Tells the others why this rank ends before its work is done.
  virtual void ends(const std::string& /*why*/) {}
  /// From now on nobody misses this rank. After the last exchange.
  virtual void done() {}

  /// Rank 0's text, on all.
  std::string from_first(std::string_view mine);
  /// Returns when every rank has called it.
  void wait_for_all() { gather({}); }
  /// Errors  ConfigError on every rank, naming the first one whose `mine` is not rank 0's: "rank 2
  /// has another WHAT than rank 0 (MINE and FIRST); RULE".
  void require_equal(std::string_view what, std::string_view mine, std::string_view rule);

 protected:
  const std::string& advice() const { return advice_; }

 private:
  std::string advice_;
};

}  // namespace foxhunt::ranks
