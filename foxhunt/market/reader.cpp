// Which reader a file needs, and what every reader shares.
#include "foxhunt/market/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/csv_reader.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn_reader.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

/// Enough for two records of any type and for a few lines of text.
constexpr std::size_t kFront = 4096;

bool starts_with(std::span<const std::byte> front, std::string_view magic) {
  return front.size() >= magic.size() && std::memcmp(front.data(), magic.data(), magic.size()) == 0;
}

/// Any byte that no text in ASCII or UTF-8 holds?
bool is_text(std::span<const std::byte> front) {
  return std::none_of(front.begin(), front.end(), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  });
}

/// Files that people hold in their hands and that are not read here, by name.
void refuse_known_others(std::span<const std::byte> front, const std::string& name) {
  struct Other {
    std::string_view magic, what;
  };
  using namespace std::string_view_literals;
  static constexpr Other kOthers[] = {
      {"DBZ"sv, "legacy DBZ, which is not read: convert it with the dbn tool first"sv},
      {"PK\x03\x04"sv, "a zip file: unpack it first"sv},
      {"PAR1"sv, "a Parquet file, which is not read: write it as CSV or DBN"sv},
  };
  for (const Other& other : kOthers) {
    if (starts_with(front, other.magic)) throw FormatError(fmt::format("{}: {}", name, other.what));
  }
}

/// Whether `front` is enough to know what it is the front of.
bool tells(std::span<const std::byte> front) {
  if (front.size() >= kFront || starts_with(front, "DBN") || starts_with(front, "\x1F\x8B")) {
    return true;
  }
  if (is_text(front)) {
    return std::ranges::find(front, std::byte{'\n'}) != front.end();
  }
  // Perhaps records: the first one whole.
  return front.size() >= kDbnHeaderSize &&
         front.size() >= std::to_integer<std::size_t>(front[0]) * kDbnLengthUnit;
}

std::span<const std::byte> look_at_front(PeekSource& source) {
  auto front = source.peek_more(kFront);
  while (!tells(front)) {
    const std::size_t had = front.size();
    front = source.peek_more(kFront);
    if (front.size() == had) break;
  }
  return front;
}

/// open_reader() of bytes, wherever they come from.
std::unique_ptr<Reader> open_source(std::unique_ptr<ByteSource> bytes, const ReadOptions& options) {
  auto source = std::make_unique<PeekSource>(std::move(bytes));
  const auto front = look_at_front(*source);
  if (front.empty()) {
    throw FormatError(
        fmt::format("{}: {}", source->name(),
                    source->truncated() ? "cut short before its first byte" : "an empty file"));
  }
  if (starts_with(front, "DBN") || options.dbn_version != 0 || dbn::looks_like_fragment(front)) {
    return make_dbn_reader(std::move(source), options);
  }
  refuse_known_others(front, source->name());
  // The CSV reader unpacks gzip: data of others often comes as .csv.gz. DBN does not.
  if (starts_with(front, "\x1F\x8B")) return make_csv_reader(std::move(source), options);
  if (!is_text(front)) {
    throw FormatError(fmt::format("{}: neither DBN nor text", source->name()));
  }
  return make_csv_reader(std::move(source), options);
}

}  // namespace

std::unique_ptr<Reader> open_reader(const std::filesystem::path& path, const ReadOptions& options) {
  return open_source(open_bytes(path), options);
}

std::unique_ptr<Reader> open_reader(std::unique_ptr<ByteInput> input, std::string name,
                                    const ReadOptions& options) {
  return open_source(open_bytes(std::move(input), std::move(name)), options);
}

std::string Reader::symbol_of(const InstrumentKey& key, UnixNanos at) const {
  if (is_null(at)) return "";
  const Date date = utc_date(at);
  for (const SymbolInterval& interval : info().mappings) {
    if (interval.instrument_id == key.instrument_id && interval.start <= date &&
        date < interval.end) {
      return interval.raw_symbol;
    }
  }
  return "";
}

std::string_view rtype_name(int rtype) {
  const DbnRecordKind* kind = find_dbn_record_kind(rtype);
  return kind == nullptr ? "unknown" : kind->name;
}

UnixNanos index_time(const Record& record) {
  return std::visit(
      [](const auto& value) {
        if constexpr (
            requires { value.start; } && !requires { value.ts_event; }) {
          return value.start;  // a bar
        } else if constexpr (requires { value.ts_recv; }) {
          return is_null(value.ts_recv) ? value.ts_event : value.ts_recv;
        } else {
          return value.ts_event;
        }
      },
      record);
}

InstrumentKey instrument_of(const Record& record) {
  return std::visit([](const auto& value) { return value.instrument; }, record);
}

std::string_view kind_of(const Record& record) {
  static constexpr std::string_view kNames[] = {
      "bar",         "trade",         "top of book", "definition",
      "order event", "depth of book", "quote",       "consolidated quote",
      "statistic",   "status",        "imbalance",   "symbol mapping",
      "message"};
  static_assert(std::size(kNames) == std::variant_size_v<Record>);
  return kNames[record.index()];
}

}  // namespace foxhunt::market
