#include <gtest/gtest.h>

#include <sstream>

#include "foxhunt/latency/latency_row.h"

namespace foxhunt::latency {
namespace {

LatencyRow row_named(const std::string& model) {
  LatencyRow row;
  row.model = model;
  row.weights = "fp32";
  row.kernels = "avx512";
  row.schedule = "20us";
  row.p50.us = 3.25;
  row.p99 = {.us = 80.0, .why_not = "1300 stalls/s, p99 of 38 us needs < 263"};
  row.floor_us = 2.5;
  row.allocations = 0;
  row.syscalls_text = "not proven: forbidden";
  row.cpu = "Some CPU";
  return row;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string line_with(const std::string& text, const std::string& label) {
  for (const std::string& line : lines_of(text)) {
    if (line.substr(0, label.size() + 1) == label + " ") return line;
  }
  return "no line " + label;
}

TEST(LatencyTable, WhatIsNotClaimedIsSaidAndItsNumberIsNotShown) {
  const std::vector<LatencyRow> rows = {row_named("default_hft")};
  const std::string text = table_text(rows);
  EXPECT_NE(line_with(text, "p99").find("n/a (1300 stalls/s, p99 of 38 us needs < 263)"),
            std::string::npos);
  EXPECT_EQ(text.find("80.000"), std::string::npos);
  EXPECT_NE(line_with(text, "p50").find("3.250"), std::string::npos);
  EXPECT_NE(line_with(text, "p50 / floor").find("1.30"), std::string::npos);
  EXPECT_NE(line_with(text, "allocations").find(" 0"), std::string::npos);
  EXPECT_NE(line_with(text, "system calls").find("not known"), std::string::npos);
  EXPECT_NE(text.find("default_hft fp32 avx512 20us: not proven: forbidden\n"), std::string::npos);
}

TEST(LatencyTable, ColumnsThatDoNotFitFollowInABlockOfTheirOwn) {
  const std::vector<LatencyRow> rows = {row_named("one"), row_named("two"), row_named("three")};
  const std::string text = table_text(rows);
  std::size_t blocks = 0;
  for (const std::string& line : lines_of(text)) {
    if (line.find("Some CPU") == std::string::npos) {
      EXPECT_LE(line.size(), 100U) << line;
    }
    if (line.substr(0, 6) == "model ") ++blocks;
  }
  EXPECT_EQ(blocks, 3U);  // each column holds the long refusal
  for (const char* name : {" one", " two", " three"}) {
    EXPECT_NE(text.find(name), std::string::npos);
  }
}

TEST(LatencyTable, TheMachineIsSaidOnceForRowsThatShareIt) {
  std::vector<LatencyRow> rows = {row_named("one"), row_named("two")};
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = text.find("Some CPU"); at != std::string::npos;
         at = text.find("Some CPU", at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count(table_text(rows)), 1U);
  rows[1].page_size = "2 MB";
  EXPECT_EQ(count(table_text(rows)), 2U);
}

}  // namespace
}  // namespace foxhunt::latency
