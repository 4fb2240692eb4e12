#include "foxhunt/report/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>

#include "foxhunt/base/file.h"
#include "foxhunt/report/crc32c.h"
#include "foxhunt/report/event.h"

namespace foxhunt::report {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Pair;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

// RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
TEST(Crc32c, MeetsThePublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string ascending;
  std::string descending;
  for (char c = 0; c < 32; ++c) {
    ascending += c;
    descending.insert(descending.begin(), c);
  }
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(descending), 0x113FDB5CU);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, MaskRotatesByFifteenAndAdds) {
  const std::uint32_t crc = crc32c("123456789");
  EXPECT_EQ(masked_crc32c("123456789"), std::rotr(crc, 15) + 0xA282EAD8U);
}

// Written by hand from event.proto and the wire format of protobuf.
TEST(Event, HasTheBytesOfTheWireFormat) {
  EXPECT_EQ(hex(version_event(0)),
            "090000000000000000"                // 1: double 0
            "1a0d627261696e2e4576656e743a32");  // 3: "brain.Event:2"
  EXPECT_EQ(hex(scalar_event(1.5, 300, {{"a", 0.5}})),
            "09000000000000f83f"  // 1: double 1.5
            "10ac02"              // 2: varint 300
            "2a0a"                // 5: summary of 10 bytes
            "0a08"
            "0a0161"
            "150000003f");  // 1: value of 8 bytes: 1: "a", 2: float 0.5
}

TEST(Event, ARecordIsLengthBytesAndTheirChecksums) {
  const std::string bytes = record("abc");
  ASSERT_EQ(bytes.size(), 8U + 4 + 3 + 4);
  EXPECT_EQ(hex(bytes.substr(0, 8)), "0300000000000000");
  EXPECT_EQ(bytes.substr(12, 3), "abc");
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + 8, 4);
  EXPECT_EQ(crc, masked_crc32c(bytes.substr(0, 8)));
  std::memcpy(&crc, bytes.data() + 15, 4);
  EXPECT_EQ(crc, masked_crc32c("abc"));
}

constexpr const char* kStep1 = R"({"step":1,"loss":1.5,"grad_norm":null,"lr":0.1})";
constexpr const char* kStep2 = R"({"step":2,"loss":1.4,"grad_norm":2.0,"lr":0.1})";
constexpr const char* kEpoch1 =
    R"({"epoch":1,"step":2,"train_loss":1.45,"valid_loss":null,"resident_bytes":7,"seconds":3})";
constexpr const char* kEpoch2 =
    R"({"epoch":2,"step":4,"train_loss":1.2,"valid_loss":1.3,"seconds":4})";

std::string lines(std::initializer_list<const char*> all) {
  std::string text;
  for (const char* line : all) text += std::string(line) + "\n";
  return text;
}

TEST(MetricsLog, TellsEpochsFromStepsAndReadsOnBehindABadLine) {
  const MetricsLog log =
      parse_metrics(lines({kStep1, "not json", kStep2, kEpoch1, "[1]"}) + R"({"epoch":2,"ste)");
  ASSERT_EQ(log.steps.size(), 2U);
  ASSERT_EQ(log.epochs.size(), 1U);
  EXPECT_EQ(log.unread_lines, 3);
  EXPECT_TRUE(std::isnan(log.steps[0].at("grad_norm")));
  EXPECT_TRUE(log.steps[0].has("grad_norm"));
  EXPECT_FALSE(log.steps[0].has("valid_loss"));
  EXPECT_EQ(log.epochs[0].at("train_loss"), 1.45);
}

/// The records of a file, each with its checksums proven.
std::vector<std::string> records(std::string_view bytes) {
  std::vector<std::string> found;
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    found.emplace_back(bytes.substr(12, length));
    EXPECT_EQ(bytes.substr(0, 16 + length), record(found.back()));
    bytes.remove_prefix(16 + length);
  }
  return found;
}

TEST(Events, AreWhatTheLogSaysInTheOrderOfSteps) {
  const auto got =
      records(events_of(parse_metrics(lines({kStep1, kStep2, kEpoch1, kEpoch2})), 100));
  EXPECT_THAT(
      got,
      ElementsAre(
          version_event(100), scalar_event(100, 1, {{"step/loss", 1.5}, {"step/lr", 0.1}}),
          scalar_event(100, 2, {{"step/grad_norm", 2.0}, {"step/loss", 1.4}, {"step/lr", 0.1}}),
          scalar_event(103, 2,
                       {{"other/epoch", 1.0},
                        {"memory/resident_bytes", 7},
                        {"speed/seconds", 3},
                        {"loss/train", 1.45}}),
          scalar_event(107, 4,
                       {{"other/epoch", 2.0},
                        {"speed/seconds", 4},
                        {"loss/train", 1.2},
                        {"loss/valid", 1.3}})));
}

class EventFiles : public testing::Test {
 protected:
  void SetUp() override {
    run_ =
        fs::temp_directory_path() / ("foxhunt_events_" + std::to_string(::getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(run_);
    write_file_atomic(run_ / "env.json", R"({"started":"1970-01-01T00:01:40Z"})");
  }
  void TearDown() override { fs::remove_all(run_); }

  void update(std::initializer_list<const char*> all) {
    write_file_atomic(run_ / "metrics.jsonl", lines(all));
    update_events(run_);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(run_ / "tb"))
      found.push_back(entry.path().filename().string());
    return found;
  }
  std::string bytes() const { return read_file(run_ / "tb" / names().at(0)); }

  fs::path run_;
};

TEST_F(EventFiles, GrowWhileTheRunTrains) {
  update({kEpoch1});
  EXPECT_THAT(names(), ElementsAre("events.out.tfevents.0000000100.foxhunt.0000"));
  const std::string before = bytes();
  update({kEpoch1, kEpoch2});
  EXPECT_THAT(names(), ElementsAre("events.out.tfevents.0000000100.foxhunt.0000"));
  EXPECT_TRUE(bytes().starts_with(before));
  EXPECT_EQ(bytes(), events_of(parse_metrics(lines({kEpoch1, kEpoch2})), 100));
}

TEST_F(EventFiles, OfALogThatWasCutBackAreReplacedUnderALaterName) {
  update({kEpoch1, kEpoch2});
  update({kEpoch1});
  EXPECT_THAT(names(), ElementsAre("events.out.tfevents.0000000100.foxhunt.0001"));
  EXPECT_EQ(bytes(), events_of(parse_metrics(lines({kEpoch1})), 100));
  update({kEpoch1, kEpoch2});
  EXPECT_THAT(names(), ElementsAre("events.out.tfevents.0000000100.foxhunt.0001"));
  EXPECT_EQ(bytes(), events_of(parse_metrics(lines({kEpoch1, kEpoch2})), 100));
}

TEST_F(EventFiles, OfALogThatTookAnotherWayHoldNothingOfTheOldOne) {
  update({kEpoch1});
  update({kEpoch2, kEpoch2});
  EXPECT_THAT(names(), ElementsAre("events.out.tfevents.0000000100.foxhunt.0001"));
  EXPECT_EQ(bytes(), events_of(parse_metrics(lines({kEpoch2, kEpoch2})), 100));
}

TEST_F(EventFiles, TornByAFullDiskAreMadeWhole) {
  update({kEpoch1, kEpoch2});
  const std::string whole = bytes();
  fs::resize_file(run_ / "tb" / names().at(0), whole.size() - 5);
  update_events(run_);
  EXPECT_EQ(bytes(), whole);
}

TEST_F(EventFiles, OfARunWithoutAnyFileHoldTheVersionAlone) {
  fs::remove(run_ / "env.json");
  update_events(run_);
  EXPECT_EQ(bytes(), record(version_event(0)));
}

}  // namespace
}  // namespace foxhunt::report
