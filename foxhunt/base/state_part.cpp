#include "foxhunt/base/state_part.h"

#include <fmt/format.h>

#include <string>

#include "foxhunt/base/hash.h"

namespace foxhunt {
namespace {

std::string sum_of(std::string_view name, std::uint32_t version,
                   std::span<const std::byte> payload) {
  ByteWriter head;  // with its lengths, so that no shift of a byte between fields gives the same
  head.text(name);
  head.value(version);
  head.value(static_cast<std::uint64_t>(payload.size()));
  Sha256 sum;
  sum.update(head.bytes());
  sum.update(payload);
  return sum.finish();
}

}  // namespace

void write_part(ByteWriter& to, std::string_view name, std::uint32_t version,
                std::span<const std::byte> payload) {
  to.text(name);
  to.value(version);
  to.value(static_cast<std::uint64_t>(payload.size()));
  to.raw(payload);
  to.text(sum_of(name, version, payload));
}

ByteReader read_part(ByteReader& from, std::string_view name, std::uint32_t version) {
  const std::string found = from.text();
  if (found != name) from.fail(fmt::format("the part '{}', expected '{}'", found, name));
  const auto found_version = from.value<std::uint32_t>();
  const auto payload = from.raw(from.count(1));
  if (from.text() != sum_of(name, found_version, payload)) {
    from.fail(fmt::format("the part '{}' is damaged: its SHA-256 differs", name));
  }
  if (found_version != version) {
    from.fail(fmt::format("the part '{}' is of version {}, but this program reads version {}", name,
                          found_version, version));
  }
  return {payload, fmt::format("{}: {}", from.origin(), name)};
}

}  // namespace foxhunt
