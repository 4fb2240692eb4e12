#pragma once
// The fields of every DBN record type and version: the one table that decoding, upgrading, text and
// columns go by.
//
// Source  Databento's public description of DBN; tests hold it to the official decoder's layouts
// and values.

#include <cstdint>
#include <span>
#include <string_view>

namespace foxhunt::market::dbn {

enum class FieldType : std::uint8_t { kUnsigned, kSigned, kChar, kText };
enum class FieldMeaning : std::uint8_t {
  kPlain,
  kPrice,  ///< int64, 1e-9 units; 2^63-1 undefined
  kTime,   ///< uint64, ns since 1970 UTC; 2^64-1 undefined
};

struct Field {
  std::string_view name;  ///< as Databento's CSV calls it: "bid_px_00"
  std::uint16_t at;       ///< byte offset in the record
  std::uint16_t size;     ///< bytes
  FieldType type;
  FieldMeaning meaning;
};

/// In the order of the bytes, from rtype on; the length byte and what is reserved are left out.
/// Empty for a type that this code does not know. Lifetime  static.
std::span<const Field> fields_of(int rtype, int version);

/// nullptr where there is no field of that name.
const Field* find_field(std::span<const Field> fields, std::string_view name);

}  // namespace foxhunt::market::dbn
