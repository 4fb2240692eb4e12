#pragma once
// Models in the ledger: run -> bundle -> promotion, and who was promoted when.
//
// A promotion is a fact about one alias ("prod") from its instant on, until the next promotion of
// the same alias: half-open, [its time, the next one's time). To roll back is to promote the
// earlier model again. Nothing is ever taken back.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/ledger/ledger.h"

namespace foxhunt::ledger {

/// A run folder or a bundle, as it was when it was registered.
struct Model {
  std::string name{};
  std::string kind{};            ///< "run" or "bundle"
  std::filesystem::path path{};  ///< absolute
  std::string id{};              ///< of a bundle: its own digest; of a run: that of its weights
  std::string file_sha256{};     ///< of the bundle's bytes; "" for a run
  std::string weights_sha256{};  ///< of the trained weights
  std::string config_sha256{};   ///< of the resolved configuration
  std::string data_sha256{};     ///< of the run's data.lock; "" where it is not known
  std::string run{};             ///< the run's folder; "" where it is not known
  std::string git_revision{};
  std::string certificate{};  ///< JSON; "" without one
  std::int64_t seq = 0;       ///< of its entry
  UnixNanos at = kNullTime;   ///< when it was registered
};

struct Promotion {
  std::string alias{};
  std::string name{};      ///< of the model
  std::string model{};     ///< its id
  std::int64_t entry = 0;  ///< of the model in the ledger
  std::string note{};
  std::string forced{};  ///< what was wrong and overruled; "" when nothing was
  std::int64_t seq = 0;
  UnixNanos at = kNullTime;
};

/// Letters, digits, '.', '_', '-': what a name or an alias may hold, 1 to 100 of them.
/// Errors  UsageError naming `what` and the rule.
void require_name(const std::string& name, const std::string& what);

/// Appends it, unless the newest model of that name is the same in all but its time.
Model register_model(Ledger& ledger, Model model);
/// In the order of registration.
std::vector<Model> models(const Ledger& ledger);
/// The newest model of that name, or the one whose id, weights or file begin with these (at least
/// 6) digits; the newest entry of several that are the same. Errors  DataError: none, or several
/// different ones: it lists them; near names are named.
Model find_model(const Ledger& ledger, const std::string& name_or_hash);

/// What speaks against serving `model` now: no bundle, no certificate, its file gone or changed.
/// Empty: nothing.
std::vector<std::string> objections(const Model& model);
/// Appends the fact. Errors  DataError with the objections, unless `force`; then they are recorded.
Promotion promote(Ledger& ledger, const Model& model, const std::string& alias,
                  const std::string& note, bool force);

/// Of one alias, or of all (empty), in order.
std::vector<Promotion> promotions(const Ledger& ledger, const std::string& alias = {});
/// Which one an alias named at `t`: the last with at <= t. `history` of one alias, in order.
std::optional<Promotion> promoted_at(const std::vector<Promotion>& history, UnixNanos t);

}  // namespace foxhunt::ledger
