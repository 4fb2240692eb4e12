#pragma once
// A benchmark's report as titled tables of words: what Markdown, page and terminal share.
// Torch-free.

#include <cstddef>
#include <string>
#include <vector>

#include "foxhunt/train/bench_train/bench_report.h"

namespace foxhunt::train {

struct WordTable {
  std::string title;
  std::string about{};                           ///< a sentence above it; empty: none
  std::vector<std::vector<std::string>> rows{};  ///< the first is the header
  std::size_t text_columns = 1;                  ///< so many from the left are no numbers
};

/// What was measured, where, and what to know before believing it; a paragraph each.
std::vector<std::string> opening_lines(const BenchReport& report);
std::vector<WordTable> tables_of(const BenchReport& report);

}  // namespace foxhunt::train
