#include "foxhunt/columns/csv_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_row.h"
#include "foxhunt/columns/value_text.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::columns {
namespace {

using market::CsvField;
using market::dbn::Field;
using market::dbn::FieldMeaning;
using market::dbn::FieldType;

constexpr std::size_t kLengthUnit = 4;

std::vector<std::string> header_of(const market::CsvRows& rows) {
  std::vector<std::string> names;
  for (const CsvField& field : rows.fields()) names.emplace_back(field.text);
  return names;
}

void store(std::byte* at, std::size_t size, std::uint64_t value) { std::memcpy(at, &value, size); }

}  // namespace

CsvRecord::CsvRecord(market::CsvRows& rows, std::optional<int> rtype) : rows_(rows) {
  const std::vector<std::string> header = header_of(rows);
  const auto column = std::ranges::find(header, "rtype");
  if (column == header.end()) {
    if (!rtype) {
      rows.fail(1, "no column rtype, which says what the rows are: name the schema");
    }
    rtype_ = *rtype;
  } else {
    const auto at = static_cast<std::size_t>(column - header.begin());
    first_pending_ = rows.next();
    if (first_pending_ && at < rows.fields().size()) {
      const CsvField& field = rows.fields()[at];
      std::uint64_t value = 0;
      if (const auto rule = parse_whole(field.text, 0xFF, value); !rule.empty()) {
        rows.fail(field.column, fmt::format("rtype '{}' {}", field.text, rule));
      }
      rtype_ = static_cast<int>(value);
    } else if (rtype) {
      rtype_ = *rtype;  // no rows
    } else {
      rows.fail(1, "no rows, so nothing says what they would be: name the schema");
    }
  }
  find_columns(header);
}

void CsvRecord::find_columns(const std::vector<std::string>& header) {
  const std::vector<Field> fields = csv_columns(rtype_);
  if (fields.empty()) {
    throw DataError(
        fmt::format("[csv] record type 0x{:02X} is not known, so it has no columns", rtype_));
  }
  width_ = header.size();
  std::vector<std::string> missing;
  for (const Field& field : fields) {
    const auto at = std::ranges::find(header, field.name);
    if (at == header.end()) {
      // Without the column the type is the one that was named.
      if (field.name == "rtype") continue;
      missing.emplace_back(field.name);
    }
    columns_.push_back({.field = field, .index = static_cast<std::size_t>(at - header.begin())});
  }
  if (!missing.empty()) {
    throw FormatError(fmt::format("{}:1: records of type 0x{:02X} ({}) also need the columns {}",
                                  rows_.source().name(), rtype_, market::rtype_name(rtype_),
                                  fmt::join(missing, ", ")));
  }
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    if (std::ranges::count(header, name) > 1) {
      throw FormatError(
          fmt::format("{}:1: the column '{}' stands twice", rows_.source().name(), name));
    }
    if (name == "symbol") {
      symbol_ = i;
    } else if (name == "ts_out") {
      ts_out_ = {
          .field = {"ts_out", 0, sizeof(std::uint64_t), FieldType::kUnsigned, FieldMeaning::kTime},
          .index = i};
    } else if (market::dbn::find_field(fields, name) == nullptr) {
      ignored_.push_back(name);
    }
  }
  const std::size_t plain = market::find_dbn_record_kind(rtype_)->sizes[2];
  ts_out_.field.at = static_cast<std::uint16_t>(plain);
  size_ = plain + (has_ts_out() ? sizeof(std::uint64_t) : 0);
  record_[0] = static_cast<std::byte>(size_ / kLengthUnit);
  record_[1] = static_cast<std::byte>(rtype_);
}

std::span<const std::byte> CsvRecord::next() {
  if (!first_pending_ && !rows_.next()) return {};
  first_pending_ = false;
  if (rows_.fields().size() != width_) {
    rows_.fail(1, fmt::format("{} fields, but the header has {}", rows_.fields().size(), width_));
  }
  for (Column& column : columns_) read(column);
  if (has_ts_out()) read(ts_out_);
  return std::span(record_).first(size_);
}

std::string_view CsvRecord::symbol() const { return rows_.fields()[symbol_].text; }

void CsvRecord::settle(Column& column, Style style, const CsvField& from) {
  if (column.style != Style::kUnknown && column.style != style) {
    refuse(column, from,
           style == Style::kInteger ? "is an integer, but rows before had decimals or dates"
                                    : "is no integer, but rows before had integers");
  }
  column.style = style;
}

void CsvRecord::read(Column& column) {
  const Field& field = column.field;
  const CsvField& from = rows_.fields()[column.index];
  std::byte* at = record_.data() + field.at;
  std::string rule;
  std::uint64_t bits = 0;
  if (field.type == FieldType::kText) {
    if (from.text.size() > field.size || from.text.find('\0') != std::string_view::npos) {
      refuse(column, from, fmt::format("does not fit into {} bytes without NUL", field.size));
    }
    std::memset(at, 0, field.size);
    std::memcpy(at, from.text.data(), from.text.size());
    return;
  }
  if (field.type == FieldType::kChar) {
    rule = parse_letter(from.text, bits);
  } else if (field.meaning == FieldMeaning::kPrice) {
    if (from.text.empty()) {
      bits = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    } else if (from.text.find('.') != std::string_view::npos) {
      settle(column, Style::kText, from);
      rule = parse_price(from.text, bits);
    } else {
      settle(column, Style::kInteger, from);
      bits = integer(column, from);
    }
  } else if (field.meaning == FieldMeaning::kTime) {
    if (from.text.empty()) {
      bits = std::numeric_limits<std::uint64_t>::max();
    } else if (from.text.find('-') != std::string_view::npos) {
      settle(column, Style::kText, from);
      rule = parse_iso(from.text, bits);
    } else {
      settle(column, Style::kInteger, from);
      bits = integer(column, from);
    }
  } else {
    bits = integer(column, from);
    if (field.name == "rtype" && bits != static_cast<std::uint64_t>(rtype_)) {
      const auto other = market::dbn::fields_of(static_cast<int>(bits), 3);
      if (other.data() != market::dbn::fields_of(rtype_, 3).data()) {
        refuse(column, from, fmt::format("is a record of another layout than type {}", rtype_));
      }
    }
  }
  if (!rule.empty()) refuse(column, from, rule);
  store(at, field.size, bits);
}

std::uint64_t CsvRecord::integer(const Column& column, const CsvField& from) const {
  const unsigned bits = column.field.size * 8U;
  std::uint64_t value = 0;
  std::string rule;
  if (column.field.type == FieldType::kSigned) {
    rule = parse_whole_signed(from.text, bits, value);
  } else {
    rule = parse_whole(from.text, ~std::uint64_t{0} >> (64U - bits), value);
  }
  if (!rule.empty()) refuse(column, from, rule);
  return value;
}

void CsvRecord::refuse(const Column& column, const CsvField& from, const std::string& rule) const {
  rows_.fail(from.column, fmt::format("{} '{}' {}", column.field.name, from.text, rule));
}

}  // namespace foxhunt::columns
