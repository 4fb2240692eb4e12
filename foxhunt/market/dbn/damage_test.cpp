// Damaged input: every file cut at every byte, and random mutations. No crash, no hang, no silent
// loss: what was whole before the damage is delivered byte for byte, the rest is counted.
//
// FOXHUNT_DBN_MUTATIONS says how many mutations (20,000 unless it is set).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/dbn/values.h"
#include "foxhunt/market/dbn/writer.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market::dbn {
namespace {

constexpr std::size_t kSmall = std::size_t{64} << 10;

struct File {
  std::string name;
  std::string stored;
  std::string plain;
};

std::vector<std::filesystem::path> paths() {
  std::vector<std::filesystem::path> found;
  for (const char* folder : {"data/dbn", "data/futures/es-mbo"}) {
    const auto root = test::shared_folder() / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".dbn") != std::string::npos) found.push_back(entry.path());
    }
  }
  if (found.empty()) {  // a clone alone
    for (const auto& entry : std::filesystem::directory_iterator("tests/data/dbn")) {
      if (entry.path().filename().string().find(".dbn") != std::string::npos) {
        found.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

const std::vector<File>& files() {
  static const std::vector<File> kFiles = [] {
    std::vector<File> all;
    for (const auto& path : paths()) {
      std::string stored = read_file(path);
      std::string plain = test::unpacked(stored);
      all.push_back({path.filename().string(), std::move(stored), std::move(plain)});
    }
    return all;
  }();
  return kFiles;
}

struct Outcome {
  bool opened = false;
  bool failed = false;  ///< FormatError, at the opening or later
  std::int64_t records = 0;
  std::size_t same = 0;  ///< bytes of `want` that came out before anything differed
  ReadStats stats{};
};

/// Reads to the end and holds the records against the bytes of the undamaged file.
Outcome read(RecordStream& stream, std::string_view want) {
  Outcome out{.opened = true};
  bool same = true;
  try {
    for (RawRecord record; stream.next(record); ++out.records) {
      const auto end = static_cast<std::size_t>(stream.stats().bytes);
      same =
          same && end <= want.size() &&
          std::memcmp(want.data() + record.offset, record.bytes.data(), record.bytes.size()) == 0;
      if (same) out.same = end;
    }
  } catch (const FormatError&) {
    out.failed = true;
  }
  out.stats = stream.stats();
  EXPECT_EQ(out.stats.records, out.records) << "every record that came is counted";
  return out;
}

template <class Open>
Outcome read(std::string_view want, Open open) {
  try {
    RecordStream stream = open();
    return read(stream, want);
  } catch (const FormatError&) {
    return {.failed = true};
  }
}
Outcome read_plain(std::string_view bytes, std::string_view want, int version) {
  return read(want, [&] {
    return RecordStream(std::as_bytes(std::span(bytes)), "damaged", {.version = version});
  });
}
Outcome read_stored(std::string_view bytes, std::string_view want, int version) {
  return read(want, [&] {
    return RecordStream(memory_bytes(std::string(bytes), "damaged"), {.version = version});
  });
}

/// Where the records of a file begin: 0 for a fragment.
std::size_t front_of(const File& file) {
  if (!file.plain.starts_with("DBN")) return 0;
  std::uint32_t length = 0;
  std::memcpy(&length, file.plain.data() + 4, sizeof length);
  return 8 + std::size_t{length};
}

// Two minutes of every sanitized run would go to one file of 44 kB.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kEveryPlace = kSmall / 8;
#else
constexpr std::size_t kEveryPlace = kSmall;
#endif

/// Every place of a small file, 1,000 random ones of a larger; 30 where each costs the parsing of
/// metadata of megabytes.
std::vector<std::size_t> places(const File& file, std::size_t size, Rng& rng) {
  std::vector<std::size_t> all;
  if (size <= kEveryPlace && front_of(file) <= kSmall) {
    for (std::size_t i = 0; i < size; ++i) all.push_back(i);
  } else {
    const int n = front_of(file) <= kSmall ? 1000 : 30;
    for (int i = 0; i < n; ++i) all.push_back(rng.below(size));
  }
  return all;
}

/// Of a fragment, which has to be told it; 0 where metadata says it.
int version_of(const File& file) {
  const RecordStream stream(memory_bytes(file.stored, file.name));
  return stream.has_metadata() ? 0 : stream.version();
}

TEST(DbnDamageTest, EveryCutOfThePlainBytesDeliversEveryWholeRecordAndCountsTheRest) {
  Rng rng(1);
  for (const File& file : files()) {
    SCOPED_TRACE(file.name);
    const int version = version_of(file);
    std::vector<std::size_t> ends;  // of the metadata and of every record
    RecordStream whole(std::as_bytes(std::span(file.plain)), file.name, {.version = version});
    ends.push_back(static_cast<std::size_t>(whole.stats().bytes));
    for (RawRecord record; whole.next(record);) {
      ends.push_back(static_cast<std::size_t>(whole.stats().bytes));
    }
    ASSERT_EQ(ends.back(), file.plain.size());
    for (const std::size_t at : places(file, file.plain.size(), rng)) {
      const std::string_view part = std::string_view(file.plain).substr(0, at);
      const Outcome out = read_plain(part, file.plain, version);
      if (at < ends.front()) {
        ASSERT_FALSE(out.opened) << "cut at " << at << ", inside the metadata";
        continue;
      }
      const auto whole_ones = std::ranges::upper_bound(ends, at) - ends.begin() - 1;
      ASSERT_EQ(out.records, whole_ones) << "cut at " << at;
      ASSERT_FALSE(out.failed);
      ASSERT_EQ(out.same, whole_ones == 0 ? 0 : ends[static_cast<std::size_t>(whole_ones)]);
      ASSERT_EQ(out.stats.bytes + out.stats.rest_bytes, static_cast<std::int64_t>(at));
      ASSERT_EQ(out.stats.truncated, out.stats.rest_bytes != 0);
    }
  }
}

/// A quarter of the files each, since a decoder is made for every cut.
class DbnStoredCuts : public testing::TestWithParam<std::size_t> {};

TEST_P(DbnStoredCuts, DeliverAPrefixAndSayThatItIsOne) {
  Rng rng(2);
  for (std::size_t i = GetParam(); i < files().size(); i += 4) {
    const File& file = files()[i];
    SCOPED_TRACE(file.name);
    const int version = version_of(file);
    for (const std::size_t at : places(file, file.stored.size(), rng)) {
      const Outcome out = read_stored(file.stored.substr(0, at), file.plain, version);
      ASSERT_TRUE(!out.opened || !out.failed) << "cut at " << at << ": a cut is no damage";
      if (!out.opened || out.records == 0) continue;
      ASSERT_EQ(out.same, static_cast<std::size_t>(out.stats.bytes)) << "cut at " << at;
      // Between two frames (of a fragment) or two records nothing tells that more was meant.
      ASSERT_TRUE(out.stats.truncated || out.stats.rest_bytes == 0) << "cut at " << at;
      if (file.stored == file.plain) {
        ASSERT_EQ(out.stats.truncated, static_cast<std::size_t>(out.stats.bytes) != at)
            << "cut at " << at;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Quarters, DbnStoredCuts, testing::Range<std::size_t>(0, 4));

/// A byte changed somewhere: what a cut at that place delivers must come, unchanged.
TEST(DbnDamageTest, WhatLiesBeforeAChangedByteIsDeliveredUnchanged) {
  Rng rng(3);
  for (const File& file : files()) {
    if (file.plain.size() > 16 * kSmall) continue;  // the cost of metadata of megabytes
    SCOPED_TRACE(file.name);
    const int version = version_of(file);
    for (int i = 0; i < 100; ++i) {
      const std::size_t at = rng.below(file.stored.size());
      std::string damaged = file.stored;
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + rng.below(255)));
      const Outcome cut = read_stored(file.stored.substr(0, at), file.plain, version);
      const Outcome out = read_stored(damaged, file.plain, version);
      if (!cut.opened) continue;  // inside the metadata
      ASSERT_GE(out.same, cut.same) << "byte " << at;
      ASSERT_GE(out.records, cut.records) << "byte " << at;
    }
  }
}

void mutate(std::string& bytes, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(4); edits != 0 && !bytes.empty(); --edits) {
    const std::size_t at = rng.below(bytes.size());
    switch (rng.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << rng.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, 1 + rng.below(64));
        break;
      default:
        bytes.insert(at, bytes.substr(rng.below(bytes.size()), rng.below(64)));
    }
  }
}

/// All that is done with a stream; only errors with names may come out.
void read_everything(std::string_view bytes, bool as_source, int version) {
  try {
    RecordStream stream =
        as_source ? RecordStream(memory_bytes(std::string(bytes), "damaged"), {.version = version})
                  : RecordStream(std::as_bytes(std::span(bytes)), "damaged", {.version = version});
    std::string again;
    Upgrader upgrade;
    ValueDecoder values("mixed");
    Record value;
    std::int64_t records = 0;
    std::int64_t end = stream.stats().bytes;
    try {
      RecordWriter writer(memory_output(again), "again", stream.metadata());
      for (RawRecord record; stream.next(record); ++records) {
        ASSERT_EQ(static_cast<std::int64_t>(record.offset), end);
        end = stream.stats().bytes;
        values.decode(record, value);
        const RawRecord newest = upgrade(record);
        if (newest.bytes.size() + (record.ts_out ? 8 : 0) <= 1020) writer.write(newest);
      }
    } catch (const DataError&) {  // metadata with a text that fills its field
    }
    const ReadStats& stats = stream.stats();
    std::int64_t framed = 0;
    for (const auto& [rtype, n] : stats.by_rtype) framed += n;
    ASSERT_EQ(framed, stats.records);
    ASSERT_EQ(stats.bytes, end);
    if (!as_source) {
      ASSERT_LE(stats.bytes + stats.rest_bytes, static_cast<std::int64_t>(bytes.size()));
    }
  } catch (const FormatError&) {
  }
}

TEST(DbnDamageTest, MutationsEndInAnErrorWithANameOrAtTheEnd) {
  std::vector<const File*> small;
  for (const File& file : files()) {
    if (file.plain.size() <= kSmall) small.push_back(&file);
  }
  const char* wanted = std::getenv("FOXHUNT_DBN_MUTATIONS");  // NOLINT(concurrency-mt-unsafe)
  const int mutations = wanted == nullptr ? 20'000 : std::atoi(wanted);
  Rng rng(4);
  for (int i = 0; i < mutations; ++i) {
    const File& file = *small[rng.below(small.size())];
    const bool as_stored = rng.below(4) == 0;
    std::string bytes = as_stored ? file.stored : file.plain;
    mutate(bytes, rng);
    SCOPED_TRACE(file.name + ", mutation " + std::to_string(i));
    read_everything(bytes, as_stored, static_cast<int>(rng.below(4)));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace foxhunt::market::dbn
