#pragma once
// SQLite, as much of it as the ledger needs: a connection and prepared statements that close
// themselves and whose errors name the file and what to do.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace foxhunt::ledger {

class Connection {
 public:
  enum class Mode { kRead, kWrite };
  /// kWrite creates the file. Waits for other writers, half a minute at most, wherever it must.
  /// Errors  IoError: no permission, no such folder; FormatError: the file is no database.
  Connection(std::filesystem::path path, Mode mode);
  ~Connection();
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Runs statements that answer nothing. Errors  as fail().
  void run(const std::string& sql);
  /// Errors  throws what SQLite's `code` means for this file: IoError for a disk that is full, a
  /// folder that cannot be written, a writer that never ended; FormatError for damage.
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return handle_; }

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

/// One prepared statement. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  /// True where there is a row. Errors  as Connection::fail().
  bool step();
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  const Connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Takes the writer's lock at once, so that what is read inside is what is written after; rolls
/// back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace foxhunt::ledger
