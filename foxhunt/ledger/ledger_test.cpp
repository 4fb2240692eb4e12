#include "foxhunt/ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <cstdlib>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/ledger/temporary_ledger.h"

namespace foxhunt::ledger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Statements past the ledger's own door; "" or SQLite's error.
std::string behind(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
  std::string text = error == nullptr ? "" : error;
  sqlite3_free(error);
  sqlite3_close(db);
  return text;
}

/// Takes the guards away, runs `sql`, puts them back: what a careless or clever hand would do.
void tamper(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  std::vector<std::string> guards;
  const auto keep = [](void* list, int, char** row, char**) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(row[0]);
    return 0;
  };
  sqlite3_exec(db, "SELECT sql FROM sqlite_master WHERE type = 'trigger'", keep, &guards, nullptr);
  for (const char* name :
       {"entry_is_never_changed", "entry_is_never_deleted", "entry_follows_the_last"})
    sqlite3_exec(db, ("DROP TRIGGER " + std::string(name)).c_str(), nullptr, nullptr, nullptr);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  for (const std::string& guard : guards)
    sqlite3_exec(db, guard.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(db);
}

Ledger of_five(const std::filesystem::path& path) {
  Ledger ledger = Ledger::open_to_write(path);
  for (int i = 1; i <= 5; ++i)
    ledger.append("model", "m" + std::to_string(i), R"({"n":)" + std::to_string(i) + "}");
  return ledger;
}

TEST(Ledger, RowsComeBackInOrderAndTheirChainHolds) {
  const test::Folder folder;
  const Ledger ledger = of_five(folder / "a/b/ledger.db");
  const std::vector<Entry> rows = ledger.entries("model");
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].seq, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(rows[i].previous, i == 0 ? "" : rows[i - 1].hash);
    EXPECT_EQ(rows[i].hash, chained_hash(rows[i]));
    if (i > 0) {
      EXPECT_GT(rows[i].at, rows[i - 1].at);
    }
  }
  EXPECT_EQ(ledger.entries("model", "m3").size(), 1U);
  EXPECT_THAT(ledger.entries("promotion"), IsEmpty());
  const CheckReport report = Ledger::open(ledger.path()).check();
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.entries, 5);
  EXPECT_EQ(report.last_hash, rows.back().hash);
}

TEST(Ledger, RefusesToChangeDeleteReplaceOrInsertOutOfOrder) {
  const test::Folder folder;
  const auto path = folder / "ledger.db";
  const Entry last = of_five(path).entries("model").back();
  EXPECT_THAT(behind(path, "UPDATE entry SET body = '{}' WHERE seq = 2"), HasSubstr("append-only"));
  EXPECT_THAT(behind(path, "DELETE FROM entry WHERE seq = 5"), HasSubstr("append-only"));
  EXPECT_THAT(behind(path, "DELETE FROM entry"), HasSubstr("append-only"));
  const std::string values = ", 9223372036854775807, 'model', 'x', '{}', '" + last.hash + "', 'h')";
  EXPECT_THAT(behind(path, "INSERT OR REPLACE INTO entry VALUES(5" + values), HasSubstr("follows"));
  EXPECT_THAT(behind(path, "INSERT INTO entry VALUES(7" + values), HasSubstr("follows"));
  EXPECT_THAT(
      behind(path, "INSERT INTO entry VALUES(6, 1, 'model', 'x', '{}', '" + last.hash + "', 'h')"),
      HasSubstr("follows"))
      << "earlier than the last row";
  EXPECT_THAT(behind(path,
                     "INSERT INTO entry VALUES(6, 9223372036854775807, 'model', 'x', '{}', "
                     "'other', 'h')"),
              HasSubstr("follows"))
      << "not chained to the last row";
  const Ledger ledger = Ledger::open(path);
  EXPECT_EQ(ledger.entries("model").size(), 5U);
  EXPECT_THAT(ledger.check().problems, IsEmpty());
}

TEST(Ledger, EveryChangedFieldShowsWhere) {
  const test::Folder folder;
  for (const char* field : {"body = '{\"n\":9}'", "at = at + 1", "kind = 'promotion'",
                            "subject = 'm9'", "hash = 'abc'", "previous = 'abc'"}) {
    const auto path = folder / "changed.db";
    std::filesystem::remove(path);
    of_five(path);
    tamper(path, std::string("UPDATE entry SET ") + field + " WHERE seq = 3");
    const CheckReport report = Ledger::open(path).check();
    ASSERT_FALSE(report.problems.empty()) << field;
    EXPECT_THAT(report.problems.front(), HasSubstr("entry 3")) << field;
  }
}

TEST(Ledger, ARowRewrittenWithAHashThatFitsItShowsInTheOneBehindIt) {
  const test::Folder folder;
  const auto path = folder / "ledger.db";
  Entry third = of_five(path).entries("model")[2];
  third.body = R"({"n":9})";
  tamper(path, "UPDATE entry SET body = '" + third.body + "', hash = '" + chained_hash(third) +
                   "' WHERE seq = 3");
  EXPECT_THAT(Ledger::open(path).check().problems, ElementsAre(HasSubstr("entry 4")));
}

TEST(Ledger, ARowTakenOutShowsAtBothEndsAndInTheMiddle) {
  const test::Folder folder;
  const auto path = folder / "short.db";
  for (const int gone : {1, 3, 5}) {
    std::filesystem::remove(path);
    of_five(path);
    tamper(path, "DELETE FROM entry WHERE seq = " + std::to_string(gone));
    EXPECT_THAT(Ledger::open(path).check().problems, Not(IsEmpty())) << gone;
  }
}

TEST(Ledger, TimeGoesOnThoughTheClockWentBack) {
  const test::Folder folder;
  const auto path = folder / "ledger.db";
  Ledger ledger = of_five(path);
  Entry future = ledger.entries("model").back();
  future = {.seq = 6,
            .at = parse_time("2200-01-01"),
            .kind = "model",
            .subject = "m6",
            .body = "{}",
            .previous = future.hash};
  future.hash = chained_hash(future);
  ASSERT_EQ(
      behind(path, "INSERT INTO entry VALUES(6, " + std::to_string(count(future.at)) +
                       ", 'model', 'm6', '{}', '" + future.previous + "', '" + future.hash + "')"),
      "");
  EXPECT_EQ(ledger.append("model", "m7", "{}").at, future.at + std::chrono::nanoseconds{1});
  EXPECT_THAT(ledger.check().problems, IsEmpty());
}

TEST(Ledger, AMissingGuardShows) {
  const test::Folder folder;
  const auto path = folder / "ledger.db";
  of_five(path);
  EXPECT_EQ(behind(path, "DROP TRIGGER entry_is_never_deleted"), "");
  EXPECT_THAT(Ledger::open(path).check().problems,
              ElementsAre(HasSubstr("entry_is_never_deleted")));
}

TEST(Ledger, ManyProcessesLoseNoRow) {
  const test::Folder folder;
  const auto path = folder / "ledger.db";
  constexpr int kProcesses = 8, kRows = 12;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      try {  // all of them race to create the file, too
        for (int i = 0; i < kRows; ++i)
          Ledger::open_to_write(path).append("model", std::to_string(p),
                                             R"({"n":)" + std::to_string(i) + "}");
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        failed = 1;
      }
      ::_exit(failed);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Ledger ledger = Ledger::open(path);
  EXPECT_EQ(ledger.entries("model").size(), static_cast<std::size_t>(kProcesses * kRows));
  for (int p = 0; p < kProcesses; ++p) {
    const auto own = ledger.entries("model", std::to_string(p));
    ASSERT_EQ(own.size(), static_cast<std::size_t>(kRows));
    for (int i = 0; i < kRows; ++i)
      EXPECT_EQ(own[static_cast<std::size_t>(i)].body, R"({"n":)" + std::to_string(i) + "}");
  }
  EXPECT_THAT(ledger.check().problems, IsEmpty());
}

// Else two of them read the same last row, and one of them fails.
TEST(Ledger, AWriterHasTheLockBeforeItReads) {
  const test::Folder folder;
  Connection connection(folder / "ledger.db", Connection::Mode::kWrite);
  const Transaction transaction(connection);
  EXPECT_EQ(sqlite3_txn_state(connection.handle(), nullptr), SQLITE_TXN_WRITE);
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Ledger, RefusesByNameWhatIsNoLedgerOrOfANewerVersion) {
  const test::Folder folder;
  const auto open = [](const std::filesystem::path& path) {
    return error_of([&] { Ledger::open_to_write(path); });
  };
  of_five(folder / "new.db");
  behind(folder / "new.db", "PRAGMA user_version = 7");
  EXPECT_THAT(open(folder / "new.db"), HasSubstr("version 7"));
  EXPECT_THAT(error_of([&] { Ledger::open(folder / "new.db"); }), HasSubstr("new.db"));

  behind(folder / "foreign.db", "CREATE TABLE cats(name TEXT)");
  EXPECT_THAT(open(folder / "foreign.db"), HasSubstr("no ledger of foxhunt"));
  EXPECT_EQ(behind(folder / "foreign.db", "INSERT INTO cats VALUES('Tom')"), "");

  write_file_atomic(folder / "text.db", std::string(5000, 'x'));
  EXPECT_THAT(open(folder / "text.db"), HasSubstr("text.db"));
  EXPECT_THAT(error_of([&] { Ledger::open(folder / "absent.db"); }), HasSubstr("no ledger yet"));
  EXPECT_FALSE(std::filesystem::exists(folder / "absent.db")) << "reading creates nothing";
}

TEST(Ledger, TheEnvironmentAndAProjectFolderSayWhereItLies) {
  const test::Folder folder;
  const auto before = std::filesystem::current_path();
  const char* named = std::getenv("FOXHUNT_LEDGER");
  const std::string kept = named == nullptr ? "" : named;
  std::filesystem::create_directories(folder / "project/.foxhunt");
  std::filesystem::create_directories(folder / "project/deep/down");
  std::filesystem::current_path(folder / "project/deep/down");
  const auto project = std::filesystem::current_path().parent_path().parent_path();

  ::setenv("FOXHUNT_LEDGER", "/from/environment.db", 1);
  EXPECT_EQ(find_ledger("here.db"), std::filesystem::current_path() / "here.db");
  EXPECT_EQ(find_ledger(""), "/from/environment.db");
  EXPECT_EQ(find_ledger("none"), "");
  ::setenv("FOXHUNT_LEDGER", "none", 1);
  EXPECT_EQ(find_ledger(""), "");
  ::unsetenv("FOXHUNT_LEDGER");
  EXPECT_EQ(find_ledger(""), project / ".foxhunt/ledger.db");
  std::filesystem::current_path(folder / "");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(find_ledger(""), "/data/foxhunt/ledger.db");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "/fox", 1);
  EXPECT_EQ(find_ledger(""), "/fox/.local/share/foxhunt/ledger.db");

  std::filesystem::current_path(before);
  ::setenv("FOXHUNT_LEDGER", kept.c_str(), 1);
}

}  // namespace
}  // namespace foxhunt::ledger
