#pragma once
// Numbers as text for people and files, exactly.

#include <cstdint>
#include <string>

#include "foxhunt/base/price.h"

namespace foxhunt {

/// 4321.25, without a step through a double; "" without a price. `keeps_point`: 4321.0 instead of
/// 4321.
std::string decimal_text(Price price, bool keeps_point = false);

/// 19083 as 19,083.
std::string grouped(std::int64_t n);

}  // namespace foxhunt
