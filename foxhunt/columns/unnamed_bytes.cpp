#include "foxhunt/columns/unnamed_bytes.h"

#include <algorithm>
#include <span>

#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::columns {
namespace {

bool any(std::span<const std::byte> bytes) {
  return std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; });
}

}  // namespace

const UnnamedBytes::Kind& UnnamedBytes::kind_of(int rtype) {
  auto& kind = kinds_[static_cast<std::size_t>(rtype)];
  if (kind) return *kind;
  kind.emplace();
  const market::DbnRecordKind* known = market::find_dbn_record_kind(rtype);
  kind->size = known != nullptr ? known->sizes.back() : market::kDbnHeaderSize;
  std::vector<bool> named(kind->size, false);
  named[0] = true;  // the length
  for (const market::dbn::Field& field : market::dbn::fields_of(rtype, 3)) {
    for (std::size_t i = 0; i < field.size; ++i) named[field.at + i] = true;
    if (field.type == market::dbn::FieldType::kText) kind->texts.push_back({field.at, field.size});
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!named[i]) kind->reserved.push_back({static_cast<std::uint16_t>(i), 1});
  }
  return *kind;
}

bool UnnamedBytes::has_any(const market::dbn::RawRecord& record) {
  const Kind& kind = kind_of(record.rtype);
  for (const Range& range : kind.reserved) {
    if (record.bytes[range.at] != std::byte{0}) return true;
  }
  for (const Range& range : kind.texts) {
    const auto text = record.bytes.subspan(range.at, range.size);
    const auto end = std::ranges::find(text, std::byte{0});
    if (any({end, text.end()})) return true;
  }
  return any(record.bytes.subspan(kind.size));
}

}  // namespace foxhunt::columns
