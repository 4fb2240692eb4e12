#include "foxhunt/doctor/data_lock.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/doctor/planted_bars.h"

namespace foxhunt::doctor {
namespace {

std::vector<DataFile> sample_lock() {
  return lock_of({check_file("data/es-sample/es-ohlcv-1m.dbn.zst")});
}

/// The message of the DataError that require_locked() throws, or "".
std::string refusal(const std::vector<DataFile>& files, const std::vector<DataFile>& lock,
                    bool accept_errors = false) {
  try {
    require_locked(files, lock, "es.lock", accept_errors);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(DataLock, HoldsWhatWasRead) {
  const std::vector<DataFile> lock = sample_lock();
  ASSERT_EQ(lock.size(), 1U);
  EXPECT_TRUE(lock[0].path.is_absolute());
  EXPECT_EQ(lock[0].sha256, "2381ee029e0b02bf82360f48e4bbac19f28e1f9b982ff39f34554e580308f9df");
  EXPECT_EQ(lock[0].bars, 19'083);
  EXPECT_EQ(to_string(lock[0].first), "2013-10-06T22:00:00Z");
  EXPECT_EQ(to_string(lock[0].last), "2020-01-06T23:59:00Z");
  ASSERT_TRUE(lock[0].checked);
  EXPECT_EQ(lock[0].checked->errors, 0);
  EXPECT_EQ(lock[0].checked->schema, "ohlcv-1m");
  EXPECT_EQ(lock[0].checked->symbols, (std::vector<std::string>{"ESZ13", "ESH14", "ESH20"}));
}

TEST(DataLock, ComesBackFromItsText) {
  std::vector<DataFile> lock = sample_lock();
  lock.push_back({.path = "/data/nobody.dbn", .sha256 = "00", .bytes = 1, .bars = 0});
  const std::vector<DataFile> again = parse_data_lock(data_lock_json(lock));
  EXPECT_EQ(data_lock_json(again), data_lock_json(lock));
  EXPECT_EQ(again[0].checked, lock[0].checked);
  EXPECT_FALSE(again[1].checked);
  EXPECT_THROW(parse_data_lock("[{\"path\": 3}]"), FormatError);
  EXPECT_THROW(parse_data_lock("[{"), FormatError);
}

TEST(DataLock, LetsThroughWhatItListsAlsoFromAnotherFolder) {
  const std::vector<DataFile> lock = sample_lock();
  std::vector<DataFile> files = lock;
  files[0].checked.reset();
  EXPECT_TRUE(require_locked(files, lock, "es.lock", false)[0].checked);
  files[0].path = "/elsewhere/es-ohlcv-1m.dbn.zst";
  EXPECT_EQ(refusal(files, lock), "");
}

TEST(DataLock, RefusesByNameWhatDiffers) {
  const std::vector<DataFile> lock = sample_lock();
  std::vector<DataFile> files = lock;
  files[0].path = "/data/other.dbn";
  EXPECT_NE(refusal(files, lock).find("/data/other.dbn: not in es.lock"), std::string::npos);
  files = lock;
  files[0].sha256[0] = '3';
  EXPECT_NE(refusal(files, lock).find("SHA-256"), std::string::npos);
  files = lock;
  files[0].first += std::chrono::minutes{1};
  EXPECT_NE(refusal(files, lock).find("other settings"), std::string::npos);
  files = lock;
  --files[0].bars;
  EXPECT_NE(refusal(files, lock).find("19082 bars"), std::string::npos);
  std::vector<DataFile> unchecked = lock;
  unchecked[0].checked.reset();
  EXPECT_NE(refusal(lock, unchecked).find("nobody checked it"), std::string::npos);
}

TEST(DataLock, RefusesErrorsUnlessToldOtherwise) {
  std::vector<DataFile> lock = sample_lock();
  lock[0].checked->errors = 1;
  lock[0].checked->findings["ohlc"] = 12;
  EXPECT_NE(refusal(lock, lock).find("error: ohlc (12)"), std::string::npos) << refusal(lock, lock);
  EXPECT_EQ(refusal(lock, lock, true), "");
}

}  // namespace
}  // namespace foxhunt::doctor
