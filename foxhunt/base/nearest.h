#pragma once
// The valid name nearest to a misspelt one, for error messages.

#include <span>
#include <string>
#include <string_view>

namespace foxhunt {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours), or
/// "" when none is within a third of the name's length (at least 2).
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace foxhunt
