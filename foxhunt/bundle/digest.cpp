#include "foxhunt/bundle/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/bundle/bundle_layout.h"

namespace foxhunt::bundle {
namespace {

constexpr std::size_t kLengthBytes = 8;  // of the header's length, little endian

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Where the digits begin.
std::size_t place_of_digest(std::string_view bytes, const std::string& name) {
  // Quotes inside of JSON's strings are escaped, so this text is a key and its value.
  const std::string before = fmt::format("\"{}\":\"", kDigestKey);
  std::uint64_t length = 0;
  if (bytes.size() > kLengthBytes) std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::string_view header = bytes.substr(0, kLengthBytes).size() < kLengthBytes
                                      ? std::string_view()
                                      : bytes.substr(kLengthBytes, length);
  const std::size_t found = header.find(before);
  if (found == std::string_view::npos)
    throw FormatError(fmt::format("{}: is no bundle: its header has no '{}'", name, kDigestKey));
  if (header.find(before, found + 1) != std::string_view::npos)
    throw FormatError(fmt::format("{}: the header has '{}' twice", name, kDigestKey));
  const std::size_t digits = found + before.size();
  if (!is_digest(header.substr(digits, kDigestDigits)))
    throw FormatError(fmt::format("{}: '{}' is not 64 hexadecimal digits", name, kDigestKey));
  return kLengthBytes + digits;
}

std::string digest_without(std::string_view bytes, std::size_t place) {
  Sha256 hash;
  hash.update(bytes.substr(0, place));
  hash.update(std::string(kDigestDigits, '0'));
  hash.update(bytes.substr(place + kDigestDigits));
  return hash.finish();
}

}  // namespace

std::string checked_digest(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text = text_of(bytes);
  const std::size_t place = place_of_digest(text, name);
  const std::string_view stated = text.substr(place, kDigestDigits);
  std::string digest = digest_without(text, place);
  if (stated != digest) {
    throw FormatError(
        fmt::format("{}: the file is damaged: its bytes have the digest {}, but it "
                    "states {}",
                    name, digest, stated));
  }
  return digest;
}

std::string seal(std::string& bytes, const std::string& name) {
  const std::size_t place = place_of_digest(bytes, name);
  std::string digest = digest_without(bytes, place);
  bytes.replace(place, kDigestDigits, digest);
  return digest;
}

}  // namespace foxhunt::bundle
