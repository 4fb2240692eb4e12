#pragma once
// What recorded crypto feeds share: lines of `local_ns {json}`, decimals as text. Inside of the
// room only. Each function gives what is wrong, or "".

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"

namespace foxhunt::book {

/// The time in nanoseconds in front of the first space, and what is behind it.
std::string split_line(std::string_view line, UnixNanos& local, std::string_view& body);

/// A decimal written as JSON text, of at most nine places.
std::string read_price(const nlohmann::json& value, Price& out);
/// A size in whole units of 1e-8.
std::string read_size(const nlohmann::json& value, std::int64_t& out);

/// A time in milliseconds since 1970 as nanoseconds.
std::string read_millis(std::int64_t millis, UnixNanos& out);

}  // namespace foxhunt::book
