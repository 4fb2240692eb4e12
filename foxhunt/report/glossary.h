#pragma once
// What the numbers of a page mean: one definition each, with its formula.

#include <span>
#include <string>
#include <string_view>

namespace foxhunt::report {

struct Definition {
  std::string_view id;       ///< as in evaluation-*.json and metrics.jsonl
  std::string_view formula;  ///< plain text; empty where words are enough
  std::string_view meaning;  ///< a sentence or two
};

std::span<const Definition> definitions();
/// nullptr without one. "f1_up" finds "f1", "pinball_0.9" finds "pinball".
const Definition* definition_of(std::string_view id);

/// The section at the end of a page.
std::string glossary_html();

}  // namespace foxhunt::report
