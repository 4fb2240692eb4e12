#include "foxhunt/base/build_info.h"

#include "foxhunt_revision.h"

namespace foxhunt {

std::string_view version() { return FOXHUNT_VERSION; }
std::string_view git_revision() { return FOXHUNT_REVISION; }
std::string_view compiler() { return FOXHUNT_COMPILER; }
std::string_view build_type() { return FOXHUNT_BUILD_TYPE; }

}  // namespace foxhunt
