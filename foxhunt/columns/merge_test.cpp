#include "foxhunt/columns/merge.h"

#include <gtest/gtest.h>

#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/test_support.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/venue_records.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;
using market::dbn::OhlcvMsg;

market::DbnMetadata metadata() {
  market::DbnMetadata m;
  m.dataset = "TEST";
  m.schema = 6;  // ohlcv-1m
  m.stype_in = 1;
  return m;
}

/// Bars at these times; the volume says which file and row they came from.
void write_bars(const fs::path& path, const std::vector<std::uint64_t>& times, std::uint64_t mark,
                const market::DbnMetadata& m = metadata()) {
  const auto sink = open_sink(path, m, {});
  for (std::size_t i = 0; i < times.size(); ++i) {
    OhlcvMsg bar{};
    bar.hd = {sizeof bar / 4, 0x21, 1, 7, times[i]};
    bar.volume = mark + i;
    sink->write({.bytes = std::as_bytes(std::span(&bar, 1)), .rtype = 0x21});
  }
  sink->finish();
}

std::vector<std::uint64_t> volumes(const fs::path& path) {
  std::vector<std::uint64_t> all;
  auto stream = market::dbn::open_stream(path);
  for (market::dbn::RawRecord r; stream.next(r);) all.push_back(r.as<OhlcvMsg>()->volume);
  return all;
}

TEST(Merge, OrdersByTimeAndKeepsTheOrderOfEqualOnes) {
  const test::Folder folder("merge");
  write_bars(folder.path / "a.dbn", {10, 20, 20, 40}, 100);
  write_bars(folder.path / "b.dbn", {5, 20, 30}, 200);
  write_bars(folder.path / "c.dbn", {20}, 300);
  const fs::path out = folder.path / "out.dbn";
  const MergeReport report =
      merge_files({folder.path / "a.dbn", folder.path / "b.dbn", folder.path / "c.dbn"}, out);
  EXPECT_EQ(volumes(out), (std::vector<std::uint64_t>{200, 100, 101, 102, 201, 300, 202, 103}));
  EXPECT_EQ(report.records, 8);
  EXPECT_EQ(report.of_file, (std::vector<std::int64_t>{4, 3, 1}));
  EXPECT_EQ(report.back_steps, 0);
  EXPECT_EQ(report.first, 5U);
  EXPECT_EQ(report.last, 40U);
}

TEST(Merge, RecordsThatStepBackStayBehindTheirNeighbourAndAreCounted) {
  const test::Folder folder("back");
  write_bars(folder.path / "a.dbn", {10, 30, 15, 40}, 100);
  write_bars(folder.path / "b.dbn", {20, 35}, 200);
  const MergeReport report =
      merge_files({folder.path / "a.dbn", folder.path / "b.dbn"}, folder.path / "out.dbn");
  EXPECT_EQ(report.back_steps, 1);
  EXPECT_EQ(volumes(folder.path / "out.dbn"),
            (std::vector<std::uint64_t>{100, 200, 101, 102, 201, 103}));
}

TEST(Merge, OfOneFileIsThatFile) {
  const test::Folder folder("one");
  const fs::path file = "tests/data/dbn/test_data.mbo.v3.dbn";
  merge_files({file}, folder.path / "out.dbn");
  EXPECT_TRUE(read_file(file) == read_file(folder.path / "out.dbn"));
}

TEST(Merge, RefusesWithoutATraceWhatDoesNotBelongTogether) {
  const test::Folder folder("refused");
  write_bars(folder.path / "a.dbn", {10}, 100);
  market::DbnMetadata other = metadata();
  other.dataset = "OTHER";
  write_bars(folder.path / "b.dbn", {20}, 200, other);
  const fs::path out = folder.path / "out.dbn";
  EXPECT_THROW(merge_files({folder.path / "a.dbn", folder.path / "b.dbn"}, out), DataError);
  std::string cut = read_file(folder.path / "a.dbn");
  cut.resize(cut.size() - 3);
  write_file_atomic(folder.path / "cut.dbn", cut);
  EXPECT_THROW(merge_files({folder.path / "a.dbn", folder.path / "cut.dbn"}, out), DataError);
  EXPECT_FALSE(fs::exists(out));
  const MergeReport report =
      merge_files({folder.path / "a.dbn", folder.path / "cut.dbn"}, out, {.allow_truncated = true});
  EXPECT_EQ(report.records, 1);
  EXPECT_TRUE(report.truncated);
  EXPECT_THROW(merge_files({"tests/data/dbn/test_data.ohlcv-1d.v3.dbn.zst"}, folder.path / "x.dbn"),
               DataError);
}

}  // namespace
}  // namespace foxhunt::columns
