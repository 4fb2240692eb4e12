#pragma once
// The fields of an instrument definition, whose offsets move from version to version; see fields.h.

#include "foxhunt/market/dbn/fields.h"

namespace foxhunt::market::dbn {

/// `version` 1, 2 or 3. Lifetime  static.
std::span<const Field> definition_fields(int version);

}  // namespace foxhunt::market::dbn
