#pragma once
// Aligned columns for a terminal.

#include <cstddef>
#include <string>
#include <vector>

namespace foxhunt::evaluation {

inline constexpr std::size_t kTextWidth = 100;

/// Rows of cells, all of the length of the first row (the header): the first column flush left, the
/// others flush right, two spaces between. Where the columns do not fit into `width`, those left
/// over follow in a further block that repeats the first column. Every line ends with a newline,
/// none with a space.
std::string text_table(const std::vector<std::vector<std::string>>& rows,
                       std::size_t width = kTextWidth);

/// `text` broken at spaces into lines of at most `width`, the second and later ones indented by
/// `indent`.
std::string wrap(const std::string& text, std::size_t indent, std::size_t width = kTextWidth);

}  // namespace foxhunt::evaluation
