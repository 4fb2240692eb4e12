#pragma once
// What a broken exchange says, for people.

#include <string>
#include <string_view>

namespace foxhunt::ranks {

/// First line of a message of Gloo without the place in its source, as a plain sentence where it is
/// one of those that a lost connection gives: "the connection to 10.0.0.2 was closed". Another one
/// stays as it is but for the place.
std::string plain_reason(std::string_view message);

}  // namespace foxhunt::ranks
