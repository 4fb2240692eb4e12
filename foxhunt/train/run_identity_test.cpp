// What a resume compares, what it says about it, and that it is remembered.
#include "foxhunt/train/run_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "foxhunt/train/resume_log.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunIdentity some_identity() {
  return {.config_sha256 = std::string(64, 'a'),
          .data = {{"/x/es.dbn", std::string(64, 'b')}, {"/x/nq.dbn", std::string(64, 'c')}},
          .binary_sha256 = std::string(64, 'd'),
          .libtorch = "2.11.0",
          .instruction_set = "avx2"};
}

TEST(RunIdentity, NamesEachThingThatChanged) {
  const RunIdentity was = some_identity();
  EXPECT_THAT(changes({was}, was), IsEmpty());
  RunIdentity now = was;
  now.config_sha256[0] = 'f';
  now.data[1].second[0] = 'f';
  now.binary_sha256[0] = 'f';
  now.libtorch = "2.12.0";
  now.instruction_set = "avx512";
  EXPECT_THAT(changes({was}, now),
              ElementsAre(HasSubstr("configuration: SHA-256 faaaaaaaaaaa, was aaaaaaaaaaaa"),
                          HasSubstr("data: /x/nq.dbn has SHA-256 fccccccccccc, was cccccccccccc"),
                          HasSubstr("binary: SHA-256 f"), "LibTorch: 2.12.0, was 2.11.0",
                          "instruction set: avx512, was avx2"));
  now = was;
  now.data.pop_back();
  EXPECT_THAT(changes({was}, now), ElementsAre("data: 1 files, were 2"));
}

TEST(RunIdentity, FilesMayMoveButNotChangePlaces) {
  const RunIdentity was = some_identity();
  RunIdentity now = was;
  now.data[0].first = "/elsewhere/es.dbn";
  EXPECT_THAT(changes({was}, now), IsEmpty());
  std::swap(now.data[0].second, now.data[1].second);
  EXPECT_THAT(changes({was}, now), testing::SizeIs(2));
}

TEST(RunIdentity, WhatWasAcceptedOnceIsKnown) {
  const RunIdentity was = some_identity();
  RunIdentity accepted = was;
  accepted.binary_sha256[0] = 'f';
  EXPECT_THAT(changes({accepted, was}, accepted), IsEmpty());
  EXPECT_THAT(changes({accepted, was}, was), IsEmpty());
  RunIdentity third = was;
  third.binary_sha256[0] = 'e';
  EXPECT_THAT(changes({accepted, was}, third), testing::SizeIs(1));
}

TEST(RunIdentity, ChangedKeysAreNamedWithBothValues) {
  ExperimentConfig was;
  ExperimentConfig is = was;
  EXPECT_THAT(changed_keys(was, is), IsEmpty());
  is.hyper.train.schedule.lr = 0.5;
  is.data.files = {"a.dbn"};
  EXPECT_THAT(changed_keys(was, is), ElementsAre("data.files is [\"a.dbn\"], was []",
                                                 "train.schedule.lr is 0.5, was 0.002"));
}

TEST(ResumeLog, KeepsEveryResumeAndGivesTheLast) {
  const fs::path run = fs::path(testing::TempDir()) / ("resume_log." + std::to_string(::getpid()));
  fs::remove_all(run);
  fs::create_directories(run);
  EXPECT_FALSE(last_accepted(run));
  ResumeRecord record{.identity = some_identity(),
                      .step = 7,
                      .skipped = {{9, run / "checkpoints/step-00000009", "DONE is damaged"}},
                      .accepted = {"binary: \"new\""}};
  append_resume(run, record);
  record.identity.binary_sha256[0] = 'f';
  append_resume(run, record);
  EXPECT_EQ(last_accepted(run)->binary_sha256, record.identity.binary_sha256);
  std::ofstream(run / "resumes.jsonl", std::ios::app) << "{\"torn";
  ASSERT_TRUE(last_accepted(run));
  EXPECT_EQ(last_accepted(run)->binary_sha256, record.identity.binary_sha256);
  append_resume(run, record);
  std::ifstream in(run / "resumes.jsonl");
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    ++lines;
    EXPECT_THAT(line, HasSubstr("DONE is damaged"));
    EXPECT_THAT(line, HasSubstr("step-00000009"));
  }
  EXPECT_EQ(lines, 3);
  fs::remove_all(run);
}

}  // namespace
}  // namespace foxhunt::train
