#include "foxhunt/columns/csv_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/value_text.h"

namespace foxhunt::columns {
namespace {

using market::dbn::Field;
using market::dbn::FieldMeaning;
using market::dbn::FieldType;

constexpr std::int64_t kNoPrice = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kNoTime = std::numeric_limits<std::uint64_t>::max();

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

char* write_quoted_letter(char* out, unsigned char letter) {
  if (letter != ',' && letter != '"') return write_letter(out, letter);
  return write_csv_text(out, {reinterpret_cast<const char*>(&letter), 1});
}

std::size_t text_size(const std::byte* at, std::size_t size) {
  const void* end = std::memchr(at, 0, size);
  return end == nullptr ? size : static_cast<std::size_t>(static_cast<const std::byte*>(end) - at);
}

}  // namespace

char* write_csv_text(char* out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    return out + text.size();
  }
  *out++ = '"';
  for (const char c : text) {
    if (c == '"') *out++ = '"';
    *out++ = c;
  }
  *out++ = '"';
  return out;
}

CsvRow::CsvRow(int rtype, const CsvStyle& style) : style_(style), columns_(csv_columns(rtype)) {
  if (columns_.empty()) {
    throw DataError(
        fmt::format("[csv] record type 0x{:02X} is not known, so it has no columns", rtype));
  }
  const auto op_of = [&](const Field& field) {
    if (field.type == FieldType::kText) return Op::kText;
    if (field.type == FieldType::kChar) return Op::kChar;
    if (field.meaning == FieldMeaning::kTime) return style.iso_times ? Op::kIso : Op::kTime;
    if (field.meaning == FieldMeaning::kPrice && style.decimal_prices) return Op::kPrice;
    const int log2 = field.size == 1 ? 0 : field.size == 2 ? 1 : field.size == 4 ? 2 : 3;
    const int first = static_cast<int>(field.type == FieldType::kSigned ? Op::kI8 : Op::kU8);
    return static_cast<Op>(first + log2);
  };
  constexpr std::size_t kMostNumber = kMostIso + 1;
  for (const Field& field : columns_) {
    steps_.push_back({op_of(field), field.at, field.size});
    most_ += field.type == FieldType::kText ? std::size_t{2} * field.size + 3 : kMostNumber;
  }
  most_ += kMostNumber + 3;  // ts_out; the symbol's quotes and the newline
}

std::string CsvRow::header() const {
  std::string line;
  for (const Field& field : columns_) line.append(field.name).push_back(',');
  if (style_.with_ts_out) line += "ts_out,";
  if (style_.with_symbol) line += "symbol,";
  line.back() = '\n';
  return line;
}

char* CsvRow::write(const std::byte* record, std::uint64_t ts_out, std::string_view symbol,
                    char* out) {
  TimeText* times = &index_time_;
  for (const Step& step : steps_) {
    const std::byte* at = record + step.at;
    switch (step.op) {
      case Op::kU8:
        out = write_unsigned(out, load<std::uint8_t>(at));
        break;
      case Op::kU16:
        out = write_unsigned(out, load<std::uint16_t>(at));
        break;
      case Op::kU32:
        out = write_unsigned(out, load<std::uint32_t>(at));
        break;
      case Op::kU64:
        out = write_unsigned(out, load<std::uint64_t>(at));
        break;
      case Op::kI8:
        out = write_signed(out, load<std::int8_t>(at));
        break;
      case Op::kI16:
        out = write_signed(out, load<std::int16_t>(at));
        break;
      case Op::kI32:
        out = write_signed(out, load<std::int32_t>(at));
        break;
      case Op::kI64:
        out = write_signed(out, load<std::int64_t>(at));
        break;
      case Op::kPrice: {
        const auto price = load<std::int64_t>(at);
        if (price != kNoPrice) out = write_price(out, price);
        break;
      }
      case Op::kTime:
        out = times->write_nanos(out, load<std::uint64_t>(at));
        times = &other_time_;
        break;
      case Op::kIso: {
        const auto time = load<std::uint64_t>(at);
        if (time != kNoTime) out = times->write_iso(out, time);
        times = &other_time_;
        break;
      }
      case Op::kChar:
        out = write_quoted_letter(out, load<unsigned char>(at));
        break;
      case Op::kText:
        out = write_csv_text(out, {reinterpret_cast<const char*>(at), text_size(at, step.size)});
        break;
    }
    *out++ = ',';
  }
  if (style_.with_ts_out) {
    if (!style_.iso_times) {
      out = write_unsigned(out, ts_out);
    } else if (ts_out != kNoTime) {
      out = other_time_.write_iso(out, ts_out);
    }
    *out++ = ',';
  }
  if (style_.with_symbol) {
    out = write_csv_text(out, symbol);
    *out++ = ',';
  }
  out[-1] = '\n';
  return out;
}

}  // namespace foxhunt::columns
