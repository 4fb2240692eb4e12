// Parquet, where the library is there (scripts/setup --parquet).
#include "foxhunt/columns/parquet.h"

#include <gtest/gtest.h>

#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/test_support.h"
#include "foxhunt/market/dbn/stream.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;

/// Beside the tests of a room the library lies two folders up.
const bool kNamed = [] {
  const fs::path library =
      fs::read_symlink("/proc/self/exe").parent_path() / "../../libfoxhunt_parquet.so";
  return ::setenv("FOXHUNT_PARQUET_LIBRARY", library.c_str(), 0) == 0;
}();

class Parquet : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_parquet(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Parquet, EveryFileAndTypeComesBackByteForByte) {
  const test::Folder folder("parquet");
  const fs::path v3 = folder.path / "v3.dbn";
  const fs::path table = folder.path / "a.parquet";
  const fs::path back = folder.path / "back.dbn";
  for (const fs::path& file : test::dbn_files()) {
    std::set<int> types;
    auto stream = market::dbn::open_stream(file);
    for (market::dbn::RawRecord record; stream.next(record);) types.insert(record.rtype);
    for (const int type : types) {
      SCOPED_TRACE(file.string() + " type " + std::to_string(type));
      test::convert(file, v3, {.dataset = "TEST"}, {}, type);
      const test::Cleaned expected = test::cleaned(v3);
      EXPECT_EQ(test::convert(v3, table).with_lost_bytes, expected.changed);
      test::convert(table, back);
      EXPECT_TRUE(expected.bytes == read_file(back));
    }
  }
}

TEST_F(Parquet, GoesToCsvAndBackToo) {
  const test::Folder folder("parquet-csv");
  const fs::path from = "tests/data/dbn/test_data.definition.v3.dbn.zst";
  test::convert(from, folder.path / "a.csv");
  test::convert(from, folder.path / "a.parquet");
  test::convert(folder.path / "a.parquet", folder.path / "b.csv");
  EXPECT_EQ(read_file(folder.path / "a.csv"), read_file(folder.path / "b.csv"));
  test::convert(folder.path / "b.csv", folder.path / "b.parquet", {.metadata_of = from});
  test::convert(folder.path / "b.parquet", folder.path / "b.dbn");
  test::convert(from, folder.path / "a.dbn");
  EXPECT_TRUE(read_file(folder.path / "a.dbn") == read_file(folder.path / "b.dbn"));
}

TEST_F(Parquet, ThatIsDamagedIsRefused) {
  const test::Folder folder("parquet-cut");
  test::convert("tests/data/dbn/test_data.trades.v3.dbn.zst", folder.path / "a.parquet");
  const std::string whole = read_file(folder.path / "a.parquet");
  write_file_atomic(folder.path / "cut.parquet", whole.substr(0, whole.size() / 2));
  EXPECT_THROW(open_source(folder.path / "cut.parquet", {}), Error);
}

}  // namespace
}  // namespace foxhunt::columns
