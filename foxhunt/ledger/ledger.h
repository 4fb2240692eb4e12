#pragma once
// One file that only grows: every evaluation, every registered model, every promotion, in the order
// in which they happened.
//
// An SQLite database (application id "FXHL"). Table `entry`: one row a fact, seq from 1 without a
// gap, `at` in nanoseconds UTC, strictly increasing, `kind`, `subject` (what it is about), `body`
// (JSON), `previous` (hash of the row before, "" for the first) and
//
//   hash = SHA-256 of the JSON array [previous, seq, at, kind, subject, body]   (no spaces, UTF-8)
//
// Triggers refuse UPDATE, DELETE and a row out of order; check() finds what was changed around
// them. Whoever recomputes the whole chain is not found: keep the last hash elsewhere for that.
// Views `evaluation`, `model` and `promotion` show the bodies as columns. The rollback journal is
// used, not WAL: it works in folders shared over a network and leaves one file. Writers wait for
// each other.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/ledger/sqlite.h"

namespace foxhunt::ledger {

struct Entry {
  std::int64_t seq = 0;
  UnixNanos at = kNullTime;
  std::string kind{};     ///< "evaluation", "model", "promotion"
  std::string subject{};  ///< data set, model name, alias
  std::string body{};     ///< JSON
  std::string previous{};
  std::string hash{};
};

/// What check() found.
struct CheckReport {
  std::int64_t entries = 0;
  std::string last_hash{};              ///< of the last row
  std::vector<std::string> problems{};  ///< each names the row and the rule; empty: all well
};

class Ledger {
 public:
  /// Opens to read; changes nothing. Errors  DataError: there is none at `path`; FormatError: not a
  /// ledger, or of a newer version; IoError.
  static Ledger open(const std::filesystem::path& path);
  /// Opens to append; creates folder and file where there are none. Errors  IoError, FormatError.
  static Ledger open_to_write(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return connection_.path(); }
  /// Appends one row, durably. The clock may have gone back: `at` is then one nanosecond after the
  /// row before. Errors  IoError: nothing was written.
  Entry append(const std::string& kind, const std::string& subject, const std::string& body);
  /// In order. `subject` empty: all of the kind.
  std::vector<Entry> entries(const std::string& kind, const std::string& subject = {}) const;
  /// Walks every row and the triggers.
  CheckReport check() const;

 private:
  explicit Ledger(Connection connection) : connection_(std::move(connection)) {}
  void require_version() const;
  void create_tables();

  Connection connection_;
};

/// What the chain says a row's hash is.
std::string chained_hash(const Entry& entry);

/// `named` where not empty; else $FOXHUNT_LEDGER; else .foxhunt/ledger.db of the nearest folder
/// upwards of the working directory that has .foxhunt; else $XDG_DATA_HOME/foxhunt/ledger.db, by
/// default below ~/.local/share. Empty for "none": nothing is to be recorded.
/// Errors  ConfigError: none of them can be known (no HOME).
std::filesystem::path find_ledger(const std::string& named);

}  // namespace foxhunt::ledger
