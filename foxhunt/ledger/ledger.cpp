#include "foxhunt/ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"

namespace foxhunt::ledger {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kApplication = 0x4658484C;  // "FXHL"

struct Piece {
  const char* name;
  const char* sql;
};

/// What guards the table. check() compares them with what the file holds.
constexpr std::array kGuards{
    Piece{"entry_is_never_changed",
          "CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry BEGIN "
          "SELECT RAISE(ABORT, 'the ledger is append-only: no row is changed'); END"},
    Piece{"entry_is_never_deleted",
          "CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry BEGIN "
          "SELECT RAISE(ABORT, 'the ledger is append-only: no row is deleted'); END"},
    Piece{"entry_follows_the_last",
          "CREATE TRIGGER entry_follows_the_last BEFORE INSERT ON entry WHEN "
          "NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM entry) OR "
          "NEW.previous IS NOT COALESCE((SELECT hash FROM entry ORDER BY seq DESC LIMIT 1), '') OR "
          "NEW.at <= COALESCE((SELECT at FROM entry ORDER BY seq DESC LIMIT 1), NEW.at - 1) BEGIN "
          "SELECT RAISE(ABORT, 'the ledger is append-only: a row follows the last one'); END"}};

constexpr const char* kTables =
    "CREATE TABLE entry(seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, "
    "kind TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL CHECK(json_valid(body)), "
    "previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);"
    "CREATE INDEX entry_by_subject ON entry(kind, subject, seq);"
    "CREATE VIEW evaluation AS SELECT seq, datetime(at / 1000000000, 'unixepoch') AS time, "
    "subject AS data_set, json_extract(body, '$.verb') AS verb, json_extract(body, '$.run') AS "
    "run, "
    "json_extract(body, '$.part') AS part, json_extract(body, '$.rows') AS rows, "
    "json_extract(body, '$.metric') AS metric, json_extract(body, '$.value') AS value, "
    "json_extract(body, '$.gain') AS gain, json_extract(body, '$.weights_sha256') AS weights, "
    "json_extract(body, '$.config_sha256') AS config FROM entry WHERE kind = 'evaluation';"
    "CREATE VIEW model AS SELECT seq, datetime(at / 1000000000, 'unixepoch') AS time, "
    "subject AS name, json_extract(body, '$.kind') AS kind, json_extract(body, '$.path') AS path, "
    "json_extract(body, '$.id') AS id, json_extract(body, '$.weights_sha256') AS weights "
    "FROM entry WHERE kind = 'model';"
    "CREATE VIEW promotion AS SELECT seq, datetime(at / 1000000000, 'unixepoch') AS time, "
    "subject AS alias, json_extract(body, '$.name') AS name, json_extract(body, '$.model') AS "
    "model, json_extract(body, '$.note') AS note FROM entry WHERE kind = 'promotion';";

std::int64_t number_of(const Connection& connection, const char* sql) {
  Statement statement(connection, sql);
  return statement.step() ? statement.integer(0) : 0;
}

constexpr const char* kColumns = "seq, at, kind, subject, body, previous, hash";

Entry entry_of(const Statement& row) {
  return {.seq = row.integer(0),
          .at = from_nanos(row.integer(1)),
          .kind = row.text(2),
          .subject = row.text(3),
          .body = row.text(4),
          .previous = row.text(5),
          .hash = row.text(6)};
}

Entry last_entry(const Connection& connection) {
  Statement row(connection,
                fmt::format("SELECT {} FROM entry ORDER BY seq DESC LIMIT 1", kColumns));
  return row.step() ? entry_of(row) : Entry{};
}

}  // namespace

std::string chained_hash(const Entry& e) {
  const nlohmann::json parts = {e.previous, e.seq, count(e.at), e.kind, e.subject, e.body};
  return sha256_of(parts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Ledger Ledger::open(const fs::path& path) {
  if (!fs::exists(path)) {
    throw DataError(
        fmt::format("[ledger] {}: there is no ledger yet; train, evaluate and export write into it",
                    path.string()));
  }
  Ledger ledger{Connection(path, Connection::Mode::kRead)};
  ledger.require_version();
  return ledger;
}

Ledger Ledger::open_to_write(const fs::path& path) {
  make_folder(path.parent_path());
  Ledger ledger{Connection(path, Connection::Mode::kWrite)};
  ledger.connection_.run("PRAGMA synchronous = FULL");
  if (number_of(ledger.connection_, "PRAGMA user_version") == 0) ledger.create_tables();
  ledger.require_version();
  return ledger;
}

void Ledger::require_version() const {
  const std::int64_t version = number_of(connection_, "PRAGMA user_version");
  const std::int64_t application = number_of(connection_, "PRAGMA application_id");
  if (application != kApplication) {
    throw FormatError(
        fmt::format("[ledger] {}: is a database, but no ledger of foxhunt", path().string()));
  }
  if (version > kVersion) {
    throw FormatError(fmt::format(
        "[ledger] {}: has version {}, this program knows versions up to {}: use a newer foxhunt",
        path().string(), version, kVersion));
  }
}

void Ledger::create_tables() {
  Transaction transaction(connection_);
  // Another process may have been first; a foreign database is left as it is.
  if (number_of(connection_, "PRAGMA user_version") != 0) return;
  if (number_of(connection_, "SELECT COUNT(*) FROM sqlite_master") != 0) return;
  connection_.run(kTables);
  for (const Piece& guard : kGuards) connection_.run(guard.sql);
  connection_.run(fmt::format("PRAGMA application_id = {}", kApplication));
  connection_.run(fmt::format("PRAGMA user_version = {}", kVersion));
  transaction.commit();
}

Entry Ledger::append(const std::string& kind, const std::string& subject, const std::string& body) {
  Transaction transaction(connection_);
  const Entry last = last_entry(connection_);
  Entry entry{.seq = last.seq + 1,
              .at = now(),
              .kind = kind,
              .subject = subject,
              .body = body,
              .previous = last.hash,
              .hash = {}};
  if (last.seq > 0) entry.at = std::max(entry.at, last.at + std::chrono::nanoseconds{1});
  entry.hash = chained_hash(entry);
  Statement(connection_, fmt::format("INSERT INTO entry({}) VALUES(?, ?, ?, ?, ?, ?, ?)", kColumns))
      .bind(1, entry.seq)
      .bind(2, count(entry.at))
      .bind(3, entry.kind)
      .bind(4, entry.subject)
      .bind(5, entry.body)
      .bind(6, entry.previous)
      .bind(7, entry.hash)
      .step();
  transaction.commit();
  return entry;
}

std::vector<Entry> Ledger::entries(const std::string& kind, const std::string& subject) const {
  Statement row(connection_,
                fmt::format("SELECT {} FROM entry WHERE kind = ?1 AND (?2 = '' OR subject = ?2) "
                            "ORDER BY seq",
                            kColumns));
  row.bind(1, kind).bind(2, subject);
  std::vector<Entry> all;
  while (row.step()) all.push_back(entry_of(row));
  return all;
}

CheckReport Ledger::check() const {
  CheckReport report;
  const auto bad = [&](std::int64_t seq, const std::string& what) {
    report.problems.push_back(fmt::format("entry {}: {}", seq, what));
  };
  Statement row(connection_, fmt::format("SELECT {} FROM entry ORDER BY seq", kColumns));
  Entry last;
  while (row.step()) {
    Entry entry = entry_of(row);
    if (entry.seq != last.seq + 1)
      bad(entry.seq, fmt::format("comes after entry {}: rows were taken out", last.seq));
    if (entry.previous != last.hash) bad(entry.seq, "does not name the hash of the row before it");
    if (last.seq > 0 && entry.at <= last.at) bad(entry.seq, "is not later than the row before it");
    if (chained_hash(entry) != entry.hash)
      bad(entry.seq,
          fmt::format("the {} '{}' was changed: its hash is another", entry.kind, entry.subject));
    ++report.entries;
    last = std::move(entry);
  }
  report.last_hash = last.hash;
  const std::int64_t given =
      number_of(connection_, "SELECT seq FROM sqlite_sequence WHERE name = 'entry'");
  if (given > last.seq)
    report.problems.push_back(fmt::format("entries {} to {} are gone: the last rows were taken out",
                                          last.seq + 1, given));
  for (const Piece& guard : kGuards) {
    Statement found(connection_,
                    "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?1");
    found.bind(1, std::string_view(guard.name));
    if (!found.step() || found.text(0) != guard.sql)
      report.problems.push_back(fmt::format("the guard {} is gone or another", guard.name));
  }
  return report;
}

}  // namespace foxhunt::ledger
