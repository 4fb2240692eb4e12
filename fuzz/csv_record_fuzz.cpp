// Any text as CSV of records: it is read into records or refused with line and column; what was
// read is written as a table, in every style, that reads back as the same records and the same
// table.
//
// Bit 0 of the first byte: decimal prices; bit 1: times as dates. The second byte names the record
// type where no column says it: '0' none, from '1' on those below.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/columns/csv_record.h"
#include "foxhunt/columns/csv_row.h"

#include "fuzz/fuzz.h"

namespace columns = foxhunt::columns;
namespace fuzz = foxhunt::fuzz;
namespace market = foxhunt::market;

namespace {

constexpr std::string_view kName = "fuzz.csv";
constexpr std::array kTypes{0x00, 0x01, 0x0A, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
                            0x20, 0x21, 0xA0, 0xB1, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4};

/// The text alone, whatever container its first bytes look like.
class Text final : public market::ByteSource {
 public:
  explicit Text(std::string_view text) : left_(text) {}
  std::size_t read(std::span<std::byte> out) override {
    const std::size_t n = std::min(out.size(), left_.size());
    if (n != 0) std::memcpy(out.data(), left_.data(), n);
    left_.remove_prefix(n);
    return n;
  }
  bool truncated() const override { return false; }
  std::int64_t frames() const override { return 0; }
  const std::string& name() const override { return name_; }

 private:
  std::string_view left_;
  std::string name_{kName};
};

struct Table {
  std::vector<std::string> records;
  std::vector<std::string> symbols;
  int rtype = -1;
  bool has_symbol = false;
  bool has_ts_out = false;
  bool refused = false;
  friend bool operator==(const Table&, const Table&) = default;
};

/// "fuzz.csv:3:", a line and perhaps a column.
bool names_a_line(std::string_view message) {
  const std::size_t colon = kName.size();
  return message.size() > colon + 1 && message.starts_with(kName) && message[colon] == ':' &&
         std::isdigit(static_cast<unsigned char>(message[colon + 1])) != 0;
}

Table read(std::string_view text, std::optional<int> rtype) {
  Table table;
  try {
    market::CsvRows rows(std::make_unique<Text>(text), ',');
    if (!rows.next()) return table;
    columns::CsvRecord records(rows, rtype);
    table.rtype = records.rtype();
    table.has_symbol = records.has_symbol();
    table.has_ts_out = records.has_ts_out();
    for (auto bytes = records.next(); !bytes.empty(); bytes = records.next()) {
      fuzz::require(std::to_integer<std::size_t>(bytes[0]) * 4 == bytes.size(),
                    "a record's length byte is its length");
      table.records.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (table.has_symbol) table.symbols.emplace_back(records.symbol());
    }
  } catch (const foxhunt::FormatError& error) {
    fuzz::require(names_a_line(error.what()), "a refusal names its line");
    table.refused = true;
  } catch (const foxhunt::DataError&) {  // a record type without columns
    table.refused = true;
  }
  return table;
}

std::string write(const Table& table, columns::CsvStyle style) {
  style.with_symbol = table.has_symbol;
  style.with_ts_out = table.has_ts_out;
  columns::CsvRow row(table.rtype, style);
  std::string text = row.header();
  std::vector<char> room;
  for (std::size_t i = 0; i < table.records.size(); ++i) {
    const std::string& record = table.records[i];
    const std::string_view symbol = table.has_symbol ? table.symbols[i] : std::string_view();
    std::uint64_t ts_out = 0;
    if (table.has_ts_out) {
      std::memcpy(&ts_out, record.data() + record.size() - sizeof ts_out, sizeof ts_out);
    }
    const std::size_t most = row.most() + 2 * symbol.size();
    room.assign(most, '\0');
    const char* end =
        row.write(reinterpret_cast<const std::byte*>(record.data()), ts_out, symbol, room.data());
    fuzz::require(static_cast<std::size_t>(end - room.data()) <= most,
                  "a row is no longer than it says");
    text.append(room.data(), static_cast<std::size_t>(end - room.data()));
  }
  return text;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string text = fuzz::text_of(data + 2, size - 2);
  const columns::CsvStyle style{.decimal_prices = (data[0] & 1U) != 0,
                                .iso_times = (data[0] & 2U) != 0};
  std::optional<int> rtype;
  if (data[1] != '0') rtype = kTypes[(data[1] - std::size_t{'1'}) % kTypes.size()];
  const fuzz::AllocationLimit limit((std::size_t{8} << 20) + 256 * size);

  Table first = read(text, rtype);
  first.refused = false;  // the rows in front of a bad one are a table too
  if (first.rtype < 0) return 0;
  const std::string written = write(first, style);
  const Table second = read(written, first.rtype);
  fuzz::require(second == first, "what was read is written as what reads the same");
  fuzz::require(write(second, style) == written, "and is written the same again");
  return 0;
}
