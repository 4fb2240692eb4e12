#include "foxhunt/market/dbn_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_bytes.h"

namespace foxhunt::market {
namespace {

// Offsets in the body, that is eight less than in the file.
constexpr std::size_t kFixedSize = 100;
constexpr std::size_t kDatasetSize = 16;
constexpr std::size_t kSchemaAt = 16;
constexpr std::size_t kStartAt = 18;
constexpr std::size_t kEndAt = 26;
constexpr std::size_t kLimitAt = 34;
constexpr std::size_t kTypesAt = 42;  // version 1 has a record count of 8 bytes before them
constexpr std::size_t kDefinitionLengthAt = 100;
constexpr std::size_t kVariableAt = 104;

constexpr std::size_t kSymbolSizeV1 = 22;
constexpr std::size_t kSymbolSize = 71;
constexpr std::size_t kLeastSymbolSize = 8;  // less bounds no count of entries worth the name

constexpr std::array<std::string_view, 20> kSchemas{
    "mbo",      "mbp-1",    "mbp-10",     "tbbo",       "trades", "ohlcv-1s",  "ohlcv-1m",
    "ohlcv-1h", "ohlcv-1d", "definition", "statistics", "status", "imbalance", "ohlcv-eod",
    "cmbp-1",   "cbbo-1s",  "cbbo-1m",    "tcbbo",      "bbo-1s", "bbo-1m"};
constexpr std::array<std::string_view, 13> kStypes{
    "instrument_id",   "raw_symbol", "smart",      "continuous", "parent",
    "nasdaq_symbol",   "cms_symbol", "isin",       "us_code",    "bbg_comp_id",
    "bbg_comp_ticker", "figi",       "figi_ticker"};
constexpr std::uint8_t kInstrumentId = 0;
constexpr std::uint64_t kUndefinedTime = std::numeric_limits<std::uint64_t>::max();

/// Walks through the body and refuses to leave it.
class Cursor {
 public:
  Cursor(std::span<const std::byte> body, std::size_t at, std::string_view file)
      : body_(body), at_(at), file_(file) {}

  std::uint32_t number(std::string_view field) {
    if (left() < sizeof(std::uint32_t)) {
      fail(field, fmt::format("needs 4 bytes, but {} are left", left()));
    }
    const auto value = load<std::uint32_t>(body_, at_);
    at_ += sizeof value;
    return value;
  }
  /// A count of entries that take at least `entry_size` bytes each.
  std::size_t entries(std::string_view field, std::size_t entry_size) {
    const std::uint32_t n = number(field);
    if (n > left() / entry_size) {
      fail(field, fmt::format("counts {} entries of {} bytes or more, but {} bytes are left", n,
                              entry_size, left()));
    }
    return n;
  }
  std::string text(std::string_view field, std::size_t size) {
    if (left() < size) fail(field, fmt::format("needs {} bytes, but {} are left", size, left()));
    at_ += size;
    return load_text(body_, at_ - size, size);
  }
  [[noreturn]] void fail(std::string_view field, std::string_view what) const {
    throw FormatError(fmt::format("{}: byte {}: metadata field {} {}", file_, at_ + kDbnPreludeSize,
                                  field, what));
  }

 private:
  std::size_t left() const { return body_.size() - at_; }

  std::span<const std::byte> body_;
  std::size_t at_;
  std::string_view file_;
};

std::vector<std::string> parse_list(Cursor& cursor, std::string_view field, std::size_t size) {
  std::vector<std::string> list(cursor.entries(field, size));
  for (std::string& text : list) text = cursor.text(field, size);
  return list;
}

std::vector<DbnMetadata::Mapping> parse_mappings(Cursor& cursor, std::size_t size) {
  std::vector<DbnMetadata::Mapping> mappings(
      cursor.entries("mappings", size + sizeof(std::uint32_t)));
  for (DbnMetadata::Mapping& mapping : mappings) {
    mapping.raw_symbol = cursor.text("mappings.raw_symbol", size);
    mapping.intervals.resize(
        cursor.entries("mappings.intervals", size + 2 * sizeof(std::uint32_t)));
    for (DbnMetadata::Interval& interval : mapping.intervals) {
      interval.start = cursor.number("mappings.start_date");
      interval.end = cursor.number("mappings.end_date");
      interval.symbol = cursor.text("mappings.symbol", size);
    }
  }
  return mappings;
}

UnixNanos to_time(std::uint64_t nanos) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return nanos > kMost ? kNullTime : from_nanos(static_cast<std::int64_t>(nanos));
}

std::uint64_t from_time(UnixNanos t, std::string_view field) {
  if (is_null(t)) return kUndefinedTime;
  if (count(t) < 0) {
    throw DataError(fmt::format("[dbn_writer] {} {} lies before 1970, which DBN cannot hold", field,
                                to_string(t)));
  }
  return static_cast<std::uint64_t>(count(t));
}

Date to_date(std::uint32_t yyyymmdd, std::string_view file) {
  const Date date{std::chrono::year{static_cast<int>(yyyymmdd / 10000)},
                  std::chrono::month{yyyymmdd / 100 % 100}, std::chrono::day{yyyymmdd % 100}};
  if (!date.ok() || yyyymmdd > 99991231) {
    throw FormatError(
        fmt::format("{}: metadata: {} is no date of the form YYYYMMDD", file, yyyymmdd));
  }
  return date;
}

std::uint32_t from_date(Date date, std::string_view symbol) {
  const int year = static_cast<int>(date.year());
  if (!date.ok() || year < 1 || year > 9999) {
    throw DataError(fmt::format("[dbn_writer] the mapping of '{}' holds an invalid date", symbol));
  }
  return static_cast<std::uint32_t>(year) * 10000 + static_cast<unsigned>(date.month()) * 100 +
         static_cast<unsigned>(date.day());
}

std::uint32_t to_id(std::string_view text, std::string_view file) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw FormatError(fmt::format("{}: metadata: '{}' is no instrument id", file, text));
  }
  return id;
}

template <std::size_t N>
std::string name_of(const std::array<std::string_view, N>& names, unsigned value,
                    std::string_view kind) {
  return value < N ? std::string(names[value]) : fmt::format("{}-{}", kind, value);
}

/// The number of a name, those made by name_of() included.
template <class Number, std::size_t N>
Number number_of(const std::array<std::string_view, N>& names, std::string_view name,
                 std::string_view kind) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<Number>(at - names.begin());
  const std::string prefix = fmt::format("{}-", kind);
  Number value = 0;
  if (name.starts_with(prefix)) {
    const std::string_view digits = name.substr(prefix.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size()) return value;
  }
  throw DataError(fmt::format("[dbn_writer] {} '{}' is not one that DBN knows", kind, name));
}

/// Builds the body.
class Encoder {
 public:
  void text(std::string_view text, std::size_t size, std::string_view field) {
    if (text.size() >= size) {
      throw DataError(fmt::format("[dbn_writer] {} '{}' is {} bytes long, but DBN holds {}", field,
                                  text, text.size(), size - 1));
    }
    bytes_.append(text);
    bytes_.append(size - text.size(), '\0');
  }
  template <class T>
  void number(T value) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), &value, sizeof value);
    bytes_.append(raw.data(), raw.size());
  }
  void zeros_up_to(std::size_t size) { bytes_.resize(size); }
  void list(const std::vector<std::string>& list, std::string_view field) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const std::string& entry : list) text(entry, kSymbolSize, field);
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

DbnPrelude parse_dbn_prelude(std::span<const std::byte> bytes, std::string_view file) {
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "DBN", 3) != 0) {
    throw FormatError(fmt::format("{}: does not begin with DBN", file));
  }
  const int version = load<std::uint8_t>(bytes, 3);
  if (version < 1 || version > kNewestDbnVersion) {
    throw FormatError(fmt::format(
        "{}: DBN version {} is not supported (1 to {} are){}", file, version, kNewestDbnVersion,
        version > kNewestDbnVersion ? ": ask for version 3, or convert it with the dbn tool" : ""));
  }
  if (bytes.size() < kDbnPreludeSize) {
    throw FormatError(fmt::format("{}: ends inside its metadata, at byte {}", file, bytes.size()));
  }
  const auto length = load<std::uint32_t>(bytes, 4);
  if (length < kFixedSize + sizeof(std::uint32_t) || length > kMaxDbnMetadata) {
    throw FormatError(fmt::format("{}: byte 4: metadata of {} bytes; {} to {} are possible", file,
                                  length, kFixedSize + sizeof(std::uint32_t), kMaxDbnMetadata));
  }
  return {version, length};
}

DbnMetadata parse_dbn_metadata(const DbnPrelude& prelude, std::span<const std::byte> body,
                               std::string_view file) {
  assert(body.size() == prelude.length);
  DbnMetadata metadata;
  metadata.version = prelude.version;
  metadata.dataset = load_text(body, 0, kDatasetSize);
  metadata.schema = load<std::uint16_t>(body, kSchemaAt);
  metadata.start = load<std::uint64_t>(body, kStartAt);
  metadata.end = load<std::uint64_t>(body, kEndAt);
  metadata.limit = load<std::uint64_t>(body, kLimitAt);
  const std::size_t types_at = kTypesAt + (prelude.version == 1 ? sizeof(std::uint64_t) : 0);
  metadata.stype_in = load<std::uint8_t>(body, types_at);
  metadata.stype_out = load<std::uint8_t>(body, types_at + 1);
  metadata.ts_out = load<std::uint8_t>(body, types_at + 2) != 0;

  std::size_t symbol_size = kSymbolSizeV1;
  if (prelude.version > 1) symbol_size = load<std::uint16_t>(body, types_at + 3);
  if (symbol_size < kLeastSymbolSize) {
    throw FormatError(fmt::format("{}: byte {}: symbols of {} bytes; {} or more are possible", file,
                                  kDbnPreludeSize + types_at + 3, symbol_size, kLeastSymbolSize));
  }
  if (const auto length = load<std::uint32_t>(body, kDefinitionLengthAt); length != 0) {
    throw FormatError(fmt::format("{}: byte {}: a schema definition of {} bytes; must be 0", file,
                                  kDbnPreludeSize + kDefinitionLengthAt, length));
  }
  Cursor cursor(body, kVariableAt, file);
  metadata.symbols = parse_list(cursor, "symbols", symbol_size);
  metadata.partial = parse_list(cursor, "partial", symbol_size);
  metadata.not_found = parse_list(cursor, "not_found", symbol_size);
  metadata.mappings = parse_mappings(cursor, symbol_size);
  return metadata;
}

std::string encode_dbn_metadata(const DbnMetadata& metadata) {
  Encoder out;
  out.text(metadata.dataset, kDatasetSize, "dataset");
  out.number(metadata.schema);
  out.number(metadata.start);
  out.number(metadata.end);
  out.number(metadata.limit);
  out.number(metadata.stype_in);
  out.number(metadata.stype_out);
  out.number(static_cast<std::uint8_t>(metadata.ts_out));
  out.number(static_cast<std::uint16_t>(kSymbolSize));
  out.zeros_up_to(kVariableAt);
  out.list(metadata.symbols, "symbols");
  out.list(metadata.partial, "partial");
  out.list(metadata.not_found, "not_found");
  out.number(static_cast<std::uint32_t>(metadata.mappings.size()));
  for (const DbnMetadata::Mapping& mapping : metadata.mappings) {
    out.text(mapping.raw_symbol, kSymbolSize, "mappings.raw_symbol");
    out.number(static_cast<std::uint32_t>(mapping.intervals.size()));
    for (const DbnMetadata::Interval& interval : mapping.intervals) {
      out.number(interval.start);
      out.number(interval.end);
      out.text(interval.symbol, kSymbolSize, "mappings.symbol");
    }
  }
  out.zeros_up_to((out.bytes().size() + 7) / 8 * 8);

  Encoder file;
  file.text("DBN", 4, "magic");
  file.bytes()[3] = static_cast<char>(kNewestDbnVersion);
  file.number(static_cast<std::uint32_t>(out.bytes().size()));
  return file.bytes() + out.bytes();
}

StreamInfo to_stream_info(const DbnMetadata& metadata, std::string_view file) {
  StreamInfo info;
  info.format = "dbn";
  info.version = metadata.version;
  info.dataset = metadata.dataset;
  info.schema = schema_name(metadata.schema);
  info.stype_in = stype_name(metadata.stype_in);
  info.stype_out = stype_name(metadata.stype_out);
  info.start = to_time(metadata.start);
  info.end = metadata.end == 0 ? kNullTime : to_time(metadata.end);
  info.limit = metadata.limit;
  info.has_ts_out = metadata.ts_out;
  info.symbols = metadata.symbols;
  info.partial = metadata.partial;
  info.not_found = metadata.not_found;

  const bool gives_ids = metadata.stype_out == kInstrumentId;
  if (!gives_ids && metadata.stype_in != kInstrumentId) return info;
  for (const DbnMetadata::Mapping& mapping : metadata.mappings) {
    for (const DbnMetadata::Interval& interval : mapping.intervals) {
      if (interval.symbol.empty()) continue;
      const std::string& id = gives_ids ? interval.symbol : mapping.raw_symbol;
      const std::string& symbol = gives_ids ? mapping.raw_symbol : interval.symbol;
      info.mappings.push_back({.raw_symbol = symbol,
                               .start = to_date(interval.start, file),
                               .end = to_date(interval.end, file),
                               .instrument_id = to_id(id, file)});
    }
  }
  return info;
}

DbnMetadata from_stream_info(const StreamInfo& info) {
  DbnMetadata metadata;
  metadata.dataset = info.dataset;
  metadata.schema = info.schema == "mixed"
                        ? std::uint16_t{0xFFFF}
                        : number_of<std::uint16_t>(kSchemas, info.schema, "schema");
  const auto stype = [](const std::string& name) {
    return name.empty() ? std::uint8_t{0xFF} : number_of<std::uint8_t>(kStypes, name, "stype");
  };
  metadata.stype_in = stype(info.stype_in);
  metadata.stype_out = stype(info.stype_out);
  metadata.start = from_time(info.start, "start");
  metadata.end = from_time(info.end, "end");
  metadata.limit = info.limit;
  metadata.symbols = info.symbols;
  metadata.partial = info.partial;
  metadata.not_found = info.not_found;

  const bool inverse = metadata.stype_in == kInstrumentId && metadata.stype_out != kInstrumentId;
  if (!info.mappings.empty() && !inverse && metadata.stype_out != kInstrumentId) {
    throw DataError("[dbn_writer] mappings need stype_in or stype_out to be 'instrument_id'");
  }
  std::unordered_map<std::string, std::size_t> place;
  for (const SymbolInterval& interval : info.mappings) {
    const std::string id = fmt::format("{}", interval.instrument_id);
    const std::string& key = inverse ? id : interval.raw_symbol;
    const auto [at, is_new] = place.try_emplace(key, metadata.mappings.size());
    if (is_new) metadata.mappings.push_back({key, {}});
    const std::uint32_t start = from_date(interval.start, interval.raw_symbol);
    const std::uint32_t end = from_date(interval.end, interval.raw_symbol);
    if (end < start) {
      throw DataError(
          fmt::format("[dbn_writer] the mapping of '{}' ends ({}) before it starts ({})",
                      interval.raw_symbol, end, start));
    }
    metadata.mappings[at->second].intervals.push_back(
        {start, end, inverse ? interval.raw_symbol : id});
  }
  return metadata;
}

std::string schema_name(std::uint16_t schema) {
  return schema == 0xFFFF ? "mixed" : name_of(kSchemas, schema, "schema");
}

std::string stype_name(std::uint8_t stype) {
  return stype == 0xFF ? "" : name_of(kStypes, stype, "stype");
}

}  // namespace foxhunt::market
