// Writing the contract changes the contract, the digest and nothing else.
#include "foxhunt/contract/write_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/bundle/digest.h"
#include "foxhunt/contract/preset.h"
#include "foxhunt/engine/plan.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::contract {
namespace {

class WriteContractTest : public testing::Test {
 protected:
  void SetUp() override {
    report_.id = bundle::write_bundle(path_, preset_bundle("default_hft", 1, 1000));
    report_.model = "a.fox";
    report_.forms.push_back({.kernels = "told", .verify_what = {}, .rows = {ContractRow{}}});
    report_.forms[0].rows[0].row.allocations = 0;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// The text of the refusal; the file must stay as it was.
  std::string refusal() const {
    const std::string before = read_file(path_);
    std::string said;
    try {
      write_contract(path_, report_);
    } catch (const DataError& error) {
      said = error.what();
    }
    EXPECT_EQ(read_file(path_), before);
    return said;
  }

  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                ("write_contract_test." + std::to_string(::getpid()) + ".fox");
  Report report_;
};

TEST_F(WriteContractTest, KeepsEveryOtherByteOfTheBundle) {
  const std::string before = read_file(path_);
  const bundle::Bundle old = bundle::read_bundle(path_);
  const std::string id = write_contract(path_, report_);
  bundle::Bundle now = bundle::read_bundle(path_);
  EXPECT_EQ(now.id, id);
  EXPECT_NE(id, old.id);
  const auto json = nlohmann::json::parse(now.latency_json);
  EXPECT_EQ(json["rows"].size(), 1U);
  EXPECT_EQ(json["id"], old.id);
  EXPECT_EQ(engine::Plan::build(now)->model_id(), engine::Plan::build(old)->model_id());
  // With the contract taken out again it is the old file to the last byte.
  now.latency_json.clear();
  EXPECT_EQ(bundle::bundle_bytes(now, "again"), before);
}

TEST_F(WriteContractTest, ReplacesAnEarlierContract) {
  report_.id = write_contract(path_, report_);
  report_.model = "again";
  write_contract(path_, report_);
  const auto json = nlohmann::json::parse(bundle::read_bundle(path_).latency_json);
  EXPECT_EQ(json["model"], "again");
}

TEST_F(WriteContractTest, RefusesABrokenContract) {
  report_.forms[0].rows[0].row.allocations = 1;
  EXPECT_THAT(refusal(), testing::HasSubstr("1 allocations"));
}

TEST_F(WriteContractTest, RefusesAnotherFileThanTheMeasuredOne) {
  report_.id[0] = report_.id[0] == '0' ? '1' : '0';
  EXPECT_THAT(refusal(), testing::HasSubstr("was measured"));
  report_.id.clear();
  EXPECT_THAT(refusal(), testing::HasSubstr("no file was measured"));
}

TEST_F(WriteContractTest, RefusesToLoseWhatOthersPutIntoTheFile) {
  const std::string bytes = read_file(path_);
  const auto file = model::SafetensorsFile::from_bytes(std::as_bytes(std::span(bytes)), "a.fox");
  std::map<std::string, std::string> metadata(file.metadata().begin(), file.metadata().end());
  metadata["somebody.else"] = "a note";
  metadata["foxhunt.sha256"] = std::string(64, '0');
  std::string noted = model::safetensors_bytes(file.tensors(), metadata, "a.fox");
  report_.id = bundle::seal(noted, "a.fox");
  write_file_atomic(path_, noted);
  EXPECT_EQ(bundle::read_bundle(path_).id, report_.id);
  EXPECT_THAT(refusal(), testing::HasSubstr("does not write"));
}

}  // namespace
}  // namespace foxhunt::contract
