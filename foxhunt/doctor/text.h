#pragma once
// Values as examples and reports show them.

#include <cstdint>
#include <string>

#include "foxhunt/base/number_text.h"
#include "foxhunt/base/price.h"
#include "foxhunt/market/record.h"

namespace foxhunt::doctor {

/// 4321.25, exactly; "null" without a price.
std::string text_of(Price price);
/// "O 1800.25 H 1801 L 1800 C 1800.5 V 12"
std::string text_of(const market::Bar& bar);
/// "bid 1800.25 x 12 ask 1800.5 x 7"
std::string text_of(const market::BookLevel& level);
/// "2013-10-07" of days since 1970
std::string day_text(std::int32_t day);

}  // namespace foxhunt::doctor
