#include "foxhunt/ledger/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "foxhunt/base/error.h"

namespace foxhunt::ledger {
namespace {

constexpr int kWaitMs = 30'000;

std::string explained(const std::filesystem::path& path, const char* what, const char* advice) {
  return fmt::format("[ledger] {}: {}; {}", path.string(), what, advice);
}

}  // namespace

Connection::Connection(std::filesystem::path path, Mode mode) : path_(std::move(path)) {
  const int flags =
      mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    sqlite3_close(std::exchange(handle_, nullptr));
    fail(code);
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, kWaitMs);
}

Connection::~Connection() {
  if (handle_ != nullptr) sqlite3_close(handle_);
}

Connection::Connection(Connection&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}

void Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Connection::fail(int code) const {
  const char* what = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw IoError(explained(path_, what,
                              "the file and its folder must be writable; name another ledger with "
                              "--ledger or FOXHUNT_LEDGER"));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw IoError(explained(path_, what, "nothing of this entry was written; make room"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw IoError(explained(path_, what, "another process has held it for half a minute"));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw FormatError(
          explained(path_, what, "it is no ledger, or damaged: restore it from a copy"));
    default:
      throw IoError(explained(path_, what, "nothing of this entry was written"));
  }
}

Statement::Statement(const Connection& connection, std::string_view sql) : connection_(connection) {
  const int code = sqlite3_prepare_v2(connection.handle(), sql.data(), static_cast<int>(sql.size()),
                                      &statement_, nullptr);
  if (code != SQLITE_OK) connection.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, parameter, value);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_, parameter, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) connection_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail(code);
  return false;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.run("COMMIT");
  open_ = false;
}

}  // namespace foxhunt::ledger
