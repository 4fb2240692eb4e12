#pragma once
// The digest that a bundle carries of itself: SHA-256 over all bytes of the file with the 64 digits
// of the digest as '0'. Any flipped, missing or additional byte makes another one.

#include <cstddef>
#include <span>
#include <string>

namespace foxhunt::bundle {

/// The digest that the bytes state, which is the one that they have. Looks at nothing but the
/// length of the header and the one place of the digest in it, so that no parser meets bytes that
/// are not as they were written.
/// Errors  FormatError naming `name`: no digest or two in the header; another than the bytes'.
/// Cost    one pass.
std::string checked_digest(std::span<const std::byte> bytes, const std::string& name);

/// Puts the digest of `bytes` into their one place for it and answers it.
/// Errors  FormatError: there is no such place, or there are two.
std::string seal(std::string& bytes, const std::string& name);

}  // namespace foxhunt::bundle
