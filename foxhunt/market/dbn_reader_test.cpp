// Over budget: one suite over one reader; its cases share the byte-built files.
#include "foxhunt/market/dbn_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::bar_record;
using test::dbn_reader;
using test::error_of;
using test::fixture_bytes;
using test::plain_metadata;
using test::record_head;
using test::unpacked;
using test::zstd_frame;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<Record> drain(Reader& reader) {
  std::vector<Record> records;
  while (const Record* record = reader.next()) records.push_back(*record);
  return records;
}

template <class T>
std::vector<T> all(std::string stored, const ReadOptions& options = {}) {
  std::vector<T> values;
  const auto reader = dbn_reader(std::move(stored), options);
  for (const Record& record : drain(*reader)) values.push_back(std::get<T>(record));
  return values;
}

std::string padded(std::string record, std::size_t size) {
  record.resize(size);
  return record;
}

// ---- the official files: values read back with an independent decoder

TEST(DbnReaderTest, BarsOfTheOfficialFilesHaveTheirPublishedValues) {
  const auto seconds = all<Bar>(fixture_bytes("test_data.ohlcv-1s.v3.dbn.zst"));
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_EQ(seconds[0].instrument, (InstrumentKey{1, 5482}));
  EXPECT_EQ(seconds[0].start, from_nanos(1609160400000000000));
  EXPECT_EQ(seconds[0].span, std::chrono::seconds{1});
  EXPECT_EQ(seconds[0].open.nano, 372025000000000);
  EXPECT_EQ(seconds[0].high.nano, 372050000000000);
  EXPECT_EQ(seconds[0].low.nano, 372025000000000);
  EXPECT_EQ(seconds[0].close.nano, 372050000000000);
  EXPECT_EQ(seconds[0].volume, 57U);
  EXPECT_EQ(seconds[1].start, seconds[0].end());
  EXPECT_EQ(seconds[1].close.nano, 372050000000000);
  EXPECT_EQ(seconds[1].volume, 13U);

  for (const char* version : {"v1", "v2", "v3"}) {
    const auto bars =
        all<Bar>(fixture_bytes("test_data.ohlcv-1m." + std::string(version) + ".dbn.zst"));
    ASSERT_EQ(bars.size(), 2U) << version;
    EXPECT_EQ(bars[0].span, std::chrono::minutes{1});
    EXPECT_EQ(bars[0].high.nano, 372150000000000);
    EXPECT_EQ(bars[0].volume, 353U);
    EXPECT_EQ(bars[1].open.nano, 372100000000000);
    EXPECT_EQ(bars[1].volume, 152U);
  }
}

TEST(DbnReaderTest, AFileWithoutRecordsIsAFile) {
  const auto reader = dbn_reader(fixture_bytes("test_data.ohlcv-1d.v3.dbn.zst"));
  EXPECT_EQ(reader->info().schema, "ohlcv-1d");
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->stats().records, 0);
  EXPECT_EQ(reader->stats().bytes, 360) << "8 bytes of prelude and 352 of metadata";
  EXPECT_EQ(reader->stats().frames, 1);
  EXPECT_FALSE(reader->stats().truncated);
}

TEST(DbnReaderTest, TradesOfTheOfficialFileHaveTheirPublishedValues) {
  const auto trades = all<Trade>(fixture_bytes("test_data.trades.v3.dbn.zst"));
  ASSERT_EQ(trades.size(), 2U);
  EXPECT_EQ(trades[0].price.nano, 3720250000000);
  EXPECT_EQ(trades[0].size, 5U);
  EXPECT_EQ(trades[0].action, 'T');
  EXPECT_EQ(trades[0].side, Side::kAsk);
  EXPECT_EQ(trades[0].flags, 129);
  EXPECT_EQ(trades[0].ts_event, from_nanos(1609160400098821953));
  EXPECT_EQ(trades[0].ts_recv, from_nanos(1609160400099150057));
  EXPECT_EQ(trades[0].ts_in_delta, 19251);
  EXPECT_EQ(trades[0].sequence, 1170380U);
  EXPECT_EQ(trades[1].size, 21U);
  EXPECT_EQ(trades[1].sequence, 1170414U);
}

TEST(DbnReaderTest, TopsOfBookOfTheOfficialFilesHaveTheirPublishedValues) {
  const auto tbbo = all<TopOfBook>(fixture_bytes("test_data.tbbo.v3.dbn.zst"));
  ASSERT_EQ(tbbo.size(), 2U);
  EXPECT_EQ(tbbo[0].action, 'T');
  EXPECT_EQ(tbbo[0].price.nano, 3720250000000);
  EXPECT_EQ(tbbo[0].level.bid.nano, 3720250000000);
  EXPECT_EQ(tbbo[0].level.ask.nano, 3720500000000);
  EXPECT_EQ(tbbo[0].level.bid_size, 26U);
  EXPECT_EQ(tbbo[0].level.ask_size, 7U);
  EXPECT_EQ(tbbo[0].level.bid_count, 16U);
  EXPECT_EQ(tbbo[0].level.ask_count, 6U);

  const auto mbp = all<TopOfBook>(fixture_bytes("test_data.mbp-1.v3.dbn.zst"));
  ASSERT_EQ(mbp.size(), 2U);
  EXPECT_EQ(mbp[0].action, 'A');
  EXPECT_EQ(mbp[0].side, Side::kAsk);
  EXPECT_EQ(mbp[0].price.nano, 3720500000000);
  EXPECT_EQ(mbp[0].size, 1U);
  EXPECT_EQ(mbp[0].flags, 128);
  EXPECT_EQ(mbp[0].sequence, 1170362U);
  EXPECT_EQ(mbp[0].level.bid_size, 24U);
  EXPECT_EQ(mbp[0].level.ask_count, 9U);
}

TEST(DbnReaderTest, DefinitionsReadAlikeInAllThreeVersions) {
  for (const char* name : {"test_data.definition.v1.dbn.zst", "test_data.definition.v2.dbn.zst",
                           "test_data.definition.v3.dbn.zst"}) {
    const auto d = all<Definition>(fixture_bytes(name));
    ASSERT_EQ(d.size(), 2U) << name;
    EXPECT_EQ(d[0].raw_symbol, "MSFT") << name;
    EXPECT_EQ(d[0].instrument.instrument_id, 6819U) << name;
    EXPECT_EQ(d[1].instrument.instrument_id, 6830U) << name;
    EXPECT_EQ(d[0].instrument_class, 'K') << name;
    EXPECT_EQ(d[0].update_action, 'A') << name;
    EXPECT_EQ(d[0].exchange, "XNAS") << name;
    EXPECT_EQ(d[0].ts_recv, from_nanos(1633331241618029519)) << name;
    EXPECT_EQ(d[0].display_factor.nano, 100000000000000) << name;
    EXPECT_TRUE(d[0].min_price_increment.is_null()) << name;
    EXPECT_FALSE(d[0].expiration.has_value()) << "undefined in the file";
  }
}

TEST(DbnReaderTest, FragmentsOfTwoVersionsHoldTheSameOption) {
  for (const int version : {1, 3}) {
    const std::string file =
        fixture_bytes("test_data.definition.v" + std::to_string(version) + ".dbn.frag");
    EXPECT_EQ(dbn_reader(file)->info().version, version);
    const auto d = all<Definition>(file);
    ASSERT_EQ(d.size(), 2U);
    EXPECT_EQ(d[0].instrument, (InstrumentKey{1, 31778}));
    EXPECT_EQ(d[0].raw_symbol, "GEM3 P9812");
    EXPECT_EQ(d[0].instrument_class, 'P');
    EXPECT_EQ(d[0].exchange, "XCME");
    EXPECT_EQ(d[0].asset, "GE");
    EXPECT_EQ(d[0].currency, "USD");
    EXPECT_EQ(d[0].strike_price.nano, 9812500000000) << "it moved from byte 328 to 104";
    EXPECT_TRUE(d[0].expiration.has_value());
    EXPECT_EQ(d[1].instrument.instrument_id, 688141U);
  }
}

TEST(DbnReaderTest, AllEightFramesOfAFragmentAreReadAndItsVersionIsSeen) {
  const auto reader = dbn_reader(fixture_bytes("multi-frame.definition.v1.dbn.frag.zst"));
  EXPECT_EQ(reader->info().format, "dbn");
  EXPECT_EQ(reader->info().version, 1);
  EXPECT_EQ(reader->info().schema, "mixed") << "a fragment says none";
  const auto records = drain(*reader);
  ASSERT_EQ(records.size(), 8U);
  EXPECT_EQ(std::get<Definition>(records[0]).raw_symbol, "GEM3 P9812");
  EXPECT_EQ(std::get<Definition>(records[0]).strike_price.nano, 9812500000000);
  EXPECT_EQ(reader->stats().frames, 8);
  EXPECT_EQ(reader->stats().bytes, 8 * 360);
}

TEST(DbnReaderTest, TheSymbolOfAnIdIsThatOfItsUtcDay) {
  // MSFT's id changes every day; the end of an interval is exclusive.
  const auto reader = dbn_reader(fixture_bytes("test_data.definition.v3.dbn.zst"));
  ASSERT_EQ(reader->info().mappings.size(), 62U);
  EXPECT_EQ(reader->symbol_of({2, 6819}, parse_time("2021-10-04T00:00")), "MSFT");
  EXPECT_EQ(reader->symbol_of({2, 6819}, parse_time("2021-10-04T23:59:59.999999999")), "MSFT");
  EXPECT_EQ(reader->symbol_of({2, 6819}, parse_time("2021-10-05T00:00")), "");
  EXPECT_EQ(reader->symbol_of({2, 6819}, parse_time("2021-10-03T23:59:59.999999999")), "");
  EXPECT_EQ(reader->symbol_of({2, 6820}, parse_time("2021-10-04T12:00")), "");
  EXPECT_EQ(reader->symbol_of({2, 6819}, kNullTime), "");
}

TEST(DbnReaderTest, OrderEventsAreHandedOut) {
  const auto mbo = dbn_reader(fixture_bytes("test_data.mbo.v3.dbn"));
  const Record* record = mbo->next();
  ASSERT_NE(record, nullptr);
  const auto& event = std::get<OrderEvent>(*record);
  EXPECT_EQ(event.order_id, 647784973705U);
  EXPECT_EQ(event.price.nano, 3722750000000);
  EXPECT_EQ(event.size, 1U);
  EXPECT_EQ(event.action, 'C');
  EXPECT_EQ(event.side, Side::kAsk);
  EXPECT_EQ(event.channel_id, 0);
  EXPECT_EQ(event.sequence, 1170352U);
  EXPECT_EQ(index_time(*record), event.ts_recv);
}

TEST(DbnReaderTest, OtherTypesArePassedOverAndCounted) {
  // A type and a size of record that nobody knows yet.
  const auto mixed =
      dbn_reader(plain_metadata() + padded(record_head(0x77, 1020, 1).str(), 1020) +
                 bar_record(0x21, 60'000'000'000, 10, 3) + record_head(0x77, 16, 1).str());
  EXPECT_EQ(drain(*mixed).size(), 1U);
  EXPECT_THAT(mixed->stats().by_rtype, ElementsAre(Pair(0x21, 1), Pair(0x77, 2)));
  EXPECT_THAT(mixed->stats().skipped_by_rtype, ElementsAre(Pair(0x77, 2)));
  EXPECT_EQ(mixed->stats().records, 1);
  EXPECT_EQ(mixed->stats().bytes, 128 + 1020 + 56 + 16);
}

// ---- framing

TEST(DbnReaderTest, ALengthThatCannotBeIsAnErrorWithItsPlaceAndNoLoop) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{12}}) {
    const auto reader = dbn_reader(plain_metadata() + bar_record(0x21, 1, 10, 3) +
                                   padded(record_head(0x21, size, 2).str(), 56));
    EXPECT_NE(reader->next(), nullptr);
    EXPECT_THAT(error_of<FormatError>([&] { reader->next(); }),
                AllOf(HasSubstr("memory: byte 184"), HasSubstr(std::to_string(size) + " bytes"),
                      HasSubstr("16 or more"), HasSubstr("after 1 records")));
  }
}

TEST(DbnReaderTest, ARecordShorterThanItsTypeIsAnErrorALongerOneIsNot) {
  const auto longer = all<Bar>(plain_metadata() + bar_record(0x21, 1, 10, 3, "appended") +
                               bar_record(0x21, 2, 20, 4));
  ASSERT_EQ(longer.size(), 2U);
  EXPECT_EQ(longer[0].volume, 3U);
  EXPECT_EQ(longer[1].open.nano, 20);

  struct Case {
    std::uint8_t rtype;
    std::size_t size;
    const char* name;
  };
  for (const Case& c :
       {Case{0x00, 44, "trades"}, Case{0x01, 48, "mbp-1"}, Case{0x21, 52, "ohlcv-1m"},
        Case{0x13, 516, "definition"}, Case{0x13, 404, "definition"}}) {
    const auto reader =
        dbn_reader(plain_metadata() + padded(record_head(c.rtype, c.size, 1).str(), c.size));
    EXPECT_THAT(error_of<FormatError>([&] { reader->next(); }),
                AllOf(HasSubstr("byte 128"), HasSubstr(c.name), HasSubstr(std::to_string(c.size))));
  }
}

TEST(DbnReaderTest, ASendTimeAtTheEndOfEveryRecordIsLeftOut) {
  const std::string sent(8, '\x55');
  const std::string with = plain_metadata(6, 3, /*ts_out=*/true) +
                           bar_record(0x21, 1, 10, 3, sent) + bar_record(0x21, 2, 20, 4, sent);
  const auto reader = dbn_reader(with);
  EXPECT_TRUE(reader->info().has_ts_out);
  const auto bars = drain(*reader);
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(std::get<Bar>(bars[1]).open.nano, 20);
  EXPECT_EQ(std::get<Bar>(bars[1]).volume, 4U);

  // 56 bytes are then no bar: eight of them are the send time.
  const auto without = dbn_reader(plain_metadata(6, 3, true) + bar_record(0x21, 1, 10, 3));
  EXPECT_THAT(error_of<FormatError>([&] { without->next(); }),
              AllOf(HasSubstr("56 bytes"), HasSubstr("64 or more")));

  // A definition of version 2 with a send time is 408 bytes long, less than one of version 3.
  std::string definition = unpacked(fixture_bytes("test_data.definition.v2.dbn.zst"));
  definition = definition.substr(definition.size() - 400) + sent;
  definition[0] = 102;
  const auto d = all<Definition>(plain_metadata(9, 2, true) + definition);
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d[0].raw_symbol, "MSFT");
}

TEST(DbnReaderTest, BarsOfTheOldTypeGetTheirSpanFromTheSchemaOrAreLeftOut) {
  const auto hours = all<Bar>(plain_metadata(7) + bar_record(0x11, 1, 10, 3));
  ASSERT_EQ(hours.size(), 1U);
  EXPECT_EQ(hours[0].span, std::chrono::hours{1});

  const auto mixed = dbn_reader(plain_metadata() + bar_record(0x11, 1, 10, 3));
  EXPECT_EQ(mixed->next(), nullptr) << "a bar whose end nobody knows";
  EXPECT_THAT(mixed->stats().skipped_by_rtype, ElementsAre(Pair(0x11, 1)));
}

TEST(DbnReaderTest, MetadataIsLeftBehindByItsLengthWhateverWasParsed) {
  std::string file = plain_metadata(6);
  const std::uint32_t longer = 120 + 24;
  std::memcpy(file.data() + 4, &longer, sizeof longer);
  const auto bars = all<Bar>(file + std::string(24, '\x7F') + bar_record(0x21, 1, 10, 3));
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].volume, 3U);
}

TEST(DbnReaderTest, RecordsCrossTheReadersBufferUnharmed) {
  std::string file = plain_metadata(6);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    // Sizes that are no divisor of the buffer.
    file += bar_record(0x21, i, static_cast<std::int64_t>(i), i, std::string(i % 7 * 4, 'x'));
  }
  for (const std::string& stored : {file, zstd_frame(file)}) {
    const auto bars = all<Bar>(stored);
    ASSERT_EQ(bars.size(), 5000U);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      ASSERT_EQ(bars[i].volume, i);
      ASSERT_EQ(bars[i].start, from_nanos(static_cast<std::int64_t>(i)));
    }
  }
}

// ---- versions and fragments

TEST(DbnReaderTest, VersionFourIsRefusedByName) {
  EXPECT_THAT(error_of<FormatError>([] { dbn_reader(plain_metadata(6, 4)); }),
              AllOf(HasSubstr("memory"), HasSubstr("DBN version 4 is not supported")));
}

TEST(DbnReaderTest, TheVersionOfAFragmentIsGivenOrSeenBehindOtherRecords) {
  const std::string old = fixture_bytes("test_data.definition.v1.dbn.frag");
  EXPECT_EQ(dbn_reader(old)->info().version, 1);
  EXPECT_EQ(dbn_reader(bar_record(0x21, 1, 2, 3) + old)->info().version, 1);
  EXPECT_EQ(dbn_reader(bar_record(0x21, 1, 2, 3))->info().version, 3) << "the same in all";
  EXPECT_EQ(dbn_reader(old, {.dbn_version = 2})->info().version, 2);
  EXPECT_THAT(error_of<ConfigError>([&] { dbn_reader(old, {.dbn_version = 4}); }),
              HasSubstr("dbn_version = 4"));
}

TEST(DbnReaderTest, BytesThatAreNoDbnAreRefused) {
  for (const char* text : {"", "D", "DBM", "ts_event,open,high,low,close,volume\n1,2,3,4,5,6\n"}) {
    EXPECT_THAT(error_of<FormatError>([&] { dbn_reader(text); }), HasSubstr("neither")) << text;
  }
  // The first looks like a bar, what follows like nothing.
  EXPECT_THROW(dbn_reader(bar_record(0x21, 1, 2, 3) + std::string(56, 'x')), FormatError);
}

// ---- broken input

TEST(DbnReaderTest, EveryCutDeliversTheWholeRecordsAndSaysWhatIsLeft) {
  struct Case {
    const char* name;
    std::size_t first;  ///< byte of the first record
    std::size_t size;   ///< of a record
  };
  for (const Case& c :
       {Case{"test_data.ohlcv-1m.v1.dbn.zst", 206, 56}, Case{"test_data.tbbo.v3.dbn.zst", 360, 80},
        Case{"test_data.definition.v2.dbn.zst", 5172, 400},
        Case{"test_data.definition.v3.dbn.frag", 0, 520}}) {
    const std::string file = unpacked(fixture_bytes(c.name));
    ASSERT_EQ(file.size(), c.first + 2 * c.size) << c.name;
    for (std::size_t cut = 0; cut <= file.size(); ++cut) {
      const std::string part = file.substr(0, cut);
      const bool in_front = c.first == 0 ? cut < 16 : cut < c.first;
      if (in_front) {
        ASSERT_THROW(dbn_reader(part), FormatError) << c.name << " cut at " << cut;
        continue;
      }
      const auto reader = dbn_reader(part);
      const std::size_t whole = (cut - c.first) / c.size;
      const std::size_t rest = (cut - c.first) % c.size;
      ASSERT_EQ(drain(*reader).size(), whole) << c.name << " cut at " << cut;
      ASSERT_EQ(reader->stats().truncated, rest != 0) << c.name << " cut at " << cut;
      ASSERT_EQ(reader->stats().rest_bytes, static_cast<std::int64_t>(rest));
      ASSERT_EQ(reader->stats().bytes, static_cast<std::int64_t>(cut - rest));
    }
  }
}

TEST(DbnReaderTest, EveryCutOfACompressedFileEndsTruncatedOrInATypedError) {
  for (const char* name : {"test_data.trades.v3.dbn.zst", "test_data.definition.v1.dbn.zst",
                           "multi-frame.definition.v1.dbn.frag.zst"}) {
    const std::string stored = fixture_bytes(name);
    const std::size_t records = drain(*dbn_reader(stored)).size();
    int readable = 0;
    for (std::size_t cut = 0; cut < stored.size(); ++cut) {
      try {
        const auto reader = dbn_reader(stored.substr(0, cut));
        ++readable;
        const std::size_t got = drain(*reader).size();
        // Between two frames nothing is missing but frames.
        const bool between = reader->stats().frames > 0 && reader->stats().rest_bytes == 0;
        ASSERT_TRUE(reader->stats().truncated || between) << name << " cut at " << cut;
        ASSERT_TRUE(got < records || reader->stats().truncated) << name << " cut at " << cut;
      } catch (const FormatError&) {  // in the metadata, or before it
      }
    }
    EXPECT_GT(readable, 0) << name;
  }
}

TEST(DbnReaderTest, StrictReadingRefusesATruncatedFile) {
  const std::string file = plain_metadata(6) + bar_record(0x21, 1, 10, 3) + std::string(20, '\x0E');
  const auto reader = dbn_reader(file, {.strict = true});
  EXPECT_NE(reader->next(), nullptr);
  EXPECT_THAT(error_of<DataError>([&] { reader->next(); }),
              AllOf(HasSubstr("memory"), HasSubstr("byte 184"), HasSubstr("after 1 records"),
                    HasSubstr("20 bytes")));
  EXPECT_NO_THROW(all<Bar>(plain_metadata(6) + bar_record(0x21, 1, 10, 3), {.strict = true}));

  // Whole records, but a frame that is not.
  std::string stored = zstd_frame(plain_metadata(6) + bar_record(0x21, 1, 10, 3));
  stored.pop_back();
  const auto frame = dbn_reader(stored, {.strict = true});
  EXPECT_NE(frame->next(), nullptr);
  EXPECT_THROW(frame->next(), DataError);
}

TEST(DbnReaderTest, ACorruptFrameIsNamedWithTheRecordsThatCameBefore) {
  std::string records;
  for (std::uint64_t i = 0; i < 5000; ++i) records += bar_record(0x21, i, 7, i * i * 0x9E3779B9U);
  const std::string first = zstd_frame(plain_metadata(6) + records);
  std::string stored = first + zstd_frame(records);
  stored[first.size() + 900] = static_cast<char>(stored[first.size() + 900] ^ 1);
  const auto reader = dbn_reader(stored);
  const std::string text = error_of<FormatError>([&] { drain(*reader); });
  EXPECT_THAT(text,
              AllOf(HasSubstr("zstd frame 2"), HasSubstr("compressed offset"),
                    HasSubstr("(after " + std::to_string(reader->stats().records) + " records)")));
  EXPECT_GT(reader->stats().records, 3000) << "all but what lies in the reader's buffer";
}

TEST(DbnReaderTest, FlippedBytesNeverCrashOrHang) {
  Rng rng(20);
  int ends = 0;
  int errors = 0;
  for (const char* name :
       {"test_data.ohlcv-1m.v1.dbn.zst", "test_data.definition.v1.dbn.zst", "test_data.mbo.v3.dbn",
        "test_data.tbbo.v3.dbn.zst", "test_data.definition.v3.dbn.frag"}) {
    // Below zstd, so that no checksum stands between the bytes and the reader.
    const std::string file = unpacked(fixture_bytes(name));
    for (int i = 0; i < 400; ++i) {
      std::string broken = file;
      for (auto n = rng.below(6) + 1; n > 0; --n) {
        broken[rng.below(broken.size())] = static_cast<char>(rng.next());
      }
      try {
        const auto reader = dbn_reader(broken);
        std::size_t records = 0;
        while (reader->next() != nullptr) ++records;
        EXPECT_LE(records, broken.size() / 16);
        ++ends;
      } catch (const FormatError&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(ends, 100);
  EXPECT_GT(errors, 100);
}

// ---- memory

/// A stream of `left` bars that is made while it is read.
class EndlessBars final : public ByteSource {
 public:
  explicit EndlessBars(std::uint64_t bars) : pending_(plain_metadata(6)), left_(bars) {}

  std::size_t read(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      if (at_ == pending_.size()) {
        if (left_ == 0) break;
        --left_;
        // In place: what the test itself frees, a sanitizer would keep.
        pending_.assign(bar_);
        std::memcpy(pending_.data() + 48, &left_, sizeof left_);
        at_ = 0;
      }
      const std::size_t n = std::min(out.size() - done, pending_.size() - at_);
      std::memcpy(out.data() + done, pending_.data() + at_, n);
      done += n;
      at_ += n;
    }
    return done;
  }
  bool truncated() const override { return false; }
  std::int64_t frames() const override { return 0; }
  const std::string& name() const override { return name_; }

 private:
  std::string name_ = "endless";
  std::string bar_ = bar_record(0x21, 1, 10, 0);
  std::string pending_;
  std::size_t at_ = 0;
  std::uint64_t left_;
};

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(DbnReaderTest, AMillionRecordsAreReadInFlatMemory) {
  const long before = peak_kib();
  const auto reader = make_dbn_reader(std::make_unique<EndlessBars>(1'000'000));
  std::uint64_t volume = 0;
  while (const Record* record = reader->next()) volume += std::get<Bar>(*record).volume;
  EXPECT_EQ(volume, 999'999ULL * 1'000'000 / 2);
  // The stream is 56 MB long. 8 MiB leave room for the allocator and a sanitizer's shadow
  // memory; each test runs in a process of its own, or else only the first peak would count.
  EXPECT_LT(peak_kib() - before, 8 << 10);
}

TEST(DbnReaderTest, AMetadataLengthThatLiesCostsNoMemory) {
  std::string file = plain_metadata(6);
  const std::uint32_t gigabyte = 1U << 30;
  std::memcpy(file.data() + 4, &gigabyte, sizeof gigabyte);
  const long before = peak_kib();
  EXPECT_THAT(error_of<FormatError>([&] { dbn_reader(file); }),
              HasSubstr("ends inside its metadata, at byte 128"));
  EXPECT_LT(peak_kib() - before, 8 << 10);
}

}  // namespace
}  // namespace foxhunt::market
