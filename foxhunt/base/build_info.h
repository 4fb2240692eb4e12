#pragma once
// What this binary is: version, git revision, compiler, flags.

#include <string_view>

namespace foxhunt {

std::string_view version();
std::string_view git_revision();  ///< short hash, "-dirty" behind it when the tree had changes
std::string_view compiler();
std::string_view build_type();

}  // namespace foxhunt
