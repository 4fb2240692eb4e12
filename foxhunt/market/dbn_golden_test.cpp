// Over budget: one suite over one set of golden files; its cases share the text of every value.
// Every DBN file of the reference data against what Databento's own decoder makes of it.
//
// Two chains. One goes through the records that readers hand out: bars, trades and tops of book are
// written as the golden text and hashed; definitions, of which Definition holds a part, are
// compared field by field. The other, which the first leans on for definitions, decodes the bytes
// by the published layouts.json alone and must meet the golden hash of every file and every record
// type.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using nlohmann::json;
using test::error_of;

struct Field {
  std::string name;
  std::string type;  ///< "i8" … "u1", or "S71"
  std::size_t at;
};
using Layout = std::vector<Field>;

/// layouts.json, by record type and size.
std::map<std::pair<int, std::size_t>, Layout> load_layouts(const std::filesystem::path& path) {
  static const std::map<std::string, std::vector<int>> kTypes = {
      {"BBOMsg", {0xC3, 0xC4}},
      {"CBBOMsg", {0xC0, 0xC1}},
      {"CMBP1Msg", {0xB1, 0xC2}},
      {"ImbalanceMsg", {0x14}},
      {"InstrumentDefMsg", {0x13}},
      {"InstrumentDefMsgV1", {0x13}},
      {"InstrumentDefMsgV2", {0x13}},
      {"MBOMsg", {0xA0}},
      {"MBP10Msg", {0x0A}},
      {"MBP1Msg", {0x01}},
      {"OHLCVMsg", {0x11, 0x20, 0x21, 0x22, 0x23, 0x24}},
      {"StatMsg", {0x18}},
      {"StatMsgV1", {0x18}},
      {"StatusMsg", {0x12}},
      {"SymbolMappingMsg", {0x16}},
      {"TradeMsg", {0x00}}};
  std::map<std::pair<int, std::size_t>, Layout> layouts;
  const json published = json::parse(std::ifstream(path));
  for (const auto& [title, fields] : published.items()) {
    const std::string name = title.substr(0, title.find(' '));
    const std::size_t size = std::stoul(title.substr(title.find('(') + 1));
    Layout layout;
    for (const auto& field : fields) {
      const std::string field_name = field[0];
      if (field_name == "length" || field_name.starts_with("_")) continue;
      layout.push_back({field_name, field[1], field[2]});
    }
    for (const int type : kTypes.at(name)) layouts[{type, size}] = layout;
  }
  return layouts;
}

std::string cell(std::span<const std::byte> record, const Field& field) {
  if (field.type == "i1") return std::to_string(load<std::int8_t>(record, field.at));
  if (field.type == "i2") return std::to_string(load<std::int16_t>(record, field.at));
  if (field.type == "i4") return std::to_string(load<std::int32_t>(record, field.at));
  if (field.type == "i8") return std::to_string(load<std::int64_t>(record, field.at));
  if (field.type == "u2") return std::to_string(load<std::uint16_t>(record, field.at));
  if (field.type == "u4") return std::to_string(load<std::uint32_t>(record, field.at));
  if (field.type == "u8") return std::to_string(load<std::uint64_t>(record, field.at));
  if (field.type == "u1" || field.type == "S1") {
    return std::to_string(load<std::uint8_t>(record, field.at));
  }
  return load_text(record, field.at, std::stoul(field.type.substr(1)));
}

// ---- values of record.h as the cells they were made of

std::string time_cell(UnixNanos t) {
  return is_null(t) ? "18446744073709551615" : std::to_string(count(t));
}
std::string cell_of(Price p) { return std::to_string(p.nano); }
std::string cell_of(char c) { return std::to_string(static_cast<unsigned char>(c)); }
std::string cell_of(Side side) { return cell_of(static_cast<char>(side)); }
template <class T>
std::string cell_of(T number) {
  return std::to_string(number);
}

template <class... Cells>
std::string line(const Cells&... cells) {
  std::string text;
  ((text += (text.empty() ? "" : "\t") + std::string(cells)), ...);
  return text;
}

int rtype_of(const Bar& bar) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(bar.span).count();
  return std::map<std::int64_t, int>{{1, 0x20}, {60, 0x21}, {3600, 0x22}, {86400, 0x23}}.at(
      seconds);
}

std::string line_of(const Bar& b) {
  return line(cell_of(rtype_of(b)), cell_of(b.instrument.publisher_id),
              cell_of(b.instrument.instrument_id), time_cell(b.start), cell_of(b.open),
              cell_of(b.high), cell_of(b.low), cell_of(b.close), cell_of(b.volume));
}

template <class T>
std::string head_of(const T& t, int rtype) {
  return line(cell_of(rtype), cell_of(t.instrument.publisher_id),
              cell_of(t.instrument.instrument_id), time_cell(t.ts_event), cell_of(t.price),
              cell_of(t.size), cell_of(t.action), cell_of(t.side), cell_of(t.flags),
              cell_of(t.depth), time_cell(t.ts_recv), cell_of(t.ts_in_delta), cell_of(t.sequence));
}
std::string line_of(const Trade& t) { return head_of(t, 0x00); }
std::string line_of(const TopOfBook& t) {
  return line(head_of(t, 0x01), cell_of(t.level.bid), cell_of(t.level.ask),
              cell_of(t.level.bid_size), cell_of(t.level.ask_size), cell_of(t.level.bid_count),
              cell_of(t.level.ask_count));
}

std::string line_of(const OrderEvent& e) {
  return line(cell_of(0xA0), cell_of(e.instrument.publisher_id),
              cell_of(e.instrument.instrument_id), time_cell(e.ts_event), cell_of(e.order_id),
              cell_of(e.price), cell_of(e.size), cell_of(e.flags), cell_of(e.channel_id),
              cell_of(e.action), cell_of(e.side), time_cell(e.ts_recv), cell_of(e.ts_in_delta),
              cell_of(e.sequence));
}

std::string level_of(const BookLevel& l) {
  return line(cell_of(l.bid), cell_of(l.ask), cell_of(l.bid_size), cell_of(l.ask_size),
              cell_of(l.bid_count), cell_of(l.ask_count));
}
std::string line_of(const DepthOfBook& d) {
  std::string text = head_of(d, 0x0A);
  for (const BookLevel& level : d.levels) text += "\t" + level_of(level);
  return text;
}
std::string line_of(const Quote& q) {
  return line(cell_of(q.span == std::chrono::seconds{1} ? 0xC3 : 0xC4),
              cell_of(q.instrument.publisher_id), cell_of(q.instrument.instrument_id),
              time_cell(q.ts_event), cell_of(q.price), cell_of(q.size), cell_of(q.side),
              cell_of(q.flags), time_cell(q.ts_recv), cell_of(q.sequence), level_of(q.level));
}
/// The value does not tell cmbp-1 from tcbbo.
std::string line_of(const ConsolidatedQuote& q, int rtype) {
  const bool event = q.span.count() == 0;
  std::string text =
      line(cell_of(rtype), cell_of(q.instrument.publisher_id), cell_of(q.instrument.instrument_id),
           time_cell(q.ts_event), cell_of(q.price), cell_of(q.size));
  if (event) text += "\t" + cell_of(q.action);
  text += "\t" + line(cell_of(q.side), cell_of(q.flags), time_cell(q.ts_recv));
  if (event) text += "\t" + cell_of(q.ts_in_delta);
  const ConsolidatedLevel& l = q.level;
  return text + "\t" +
         line(cell_of(l.bid), cell_of(l.ask), cell_of(l.bid_size), cell_of(l.ask_size),
              cell_of(l.bid_publisher), cell_of(l.ask_publisher));
}
std::string line_of(const Statistic& s) {
  return line(cell_of(0x18), cell_of(s.instrument.publisher_id),
              cell_of(s.instrument.instrument_id), time_cell(s.ts_event), time_cell(s.ts_recv),
              time_cell(s.ts_ref), cell_of(s.price),
              cell_of(s.quantity.value_or(std::numeric_limits<std::int64_t>::max())),
              cell_of(s.sequence), cell_of(s.ts_in_delta), cell_of(s.type), cell_of(s.channel_id),
              cell_of(s.update_action), cell_of(s.flags));
}
std::string line_of(const Status& s) {
  const auto flag = [](std::optional<bool> b) { return cell_of(b ? (*b ? 'Y' : 'N') : '~'); };
  return line(cell_of(0x12), cell_of(s.instrument.publisher_id),
              cell_of(s.instrument.instrument_id), time_cell(s.ts_event), time_cell(s.ts_recv),
              cell_of(s.action), cell_of(s.reason), cell_of(s.trading_event), flag(s.is_trading),
              flag(s.is_quoting), flag(s.is_short_sell_restricted));
}

/// The fields that Definition holds, by their names in the layout.
std::map<std::string, std::string> cells_of(const Definition& d) {
  const auto letter = [](char c) { return c == '?' ? "0" : cell_of(c); };
  return {{"publisher_id", cell_of(d.instrument.publisher_id)},
          {"instrument_id", cell_of(d.instrument.instrument_id)},
          {"ts_event", time_cell(d.ts_event)},
          {"ts_recv", time_cell(d.ts_recv)},
          {"raw_symbol", d.raw_symbol},
          {"asset", d.asset},
          {"exchange", d.exchange},
          {"currency", d.currency},
          {"instrument_class", letter(d.instrument_class)},
          {"security_update_action", letter(d.update_action)},
          {"min_price_increment", cell_of(d.min_price_increment)},
          {"display_factor", cell_of(d.display_factor)},
          {"unit_of_measure_qty", cell_of(d.unit_of_measure_qty)},
          {"strike_price", cell_of(d.strike_price)},
          {"expiration", time_cell(d.expiration.value_or(kNullTime))},
          {"activation", time_cell(d.activation.value_or(kNullTime))}};
}

class DbnGoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    shared_ = test::shared_folder();
    if (!std::filesystem::exists(shared_ / "golden/dbn/expected.jsonl")) {
      GTEST_SKIP() << "FOXHUNT_SHARED does not name the reference data";
    }
    layouts_ = load_layouts(shared_ / "golden/dbn/layouts.json");
    std::ifstream lines(shared_ / "golden/dbn/expected.jsonl");
    for (std::string text; std::getline(lines, text);) expected_.push_back(json::parse(text));
  }

  std::filesystem::path path_of(const json& want) const {
    return shared_ / "data" / std::string(want.at("file"));
  }
  template <class Check>
  int for_each_readable(Check check) const {
    int files = 0;
    for (const json& want : expected_) {
      if (!want.at("ok")) continue;
      SCOPED_TRACE(want.at("file").get<std::string>());
      check(want);
      ++files;
    }
    return files;
  }
  const Layout& layout_of(int rtype, std::size_t size) const { return layouts_.at({rtype, size}); }

  std::filesystem::path shared_;
  std::map<std::pair<int, std::size_t>, Layout> layouts_;
  std::vector<json> expected_;
};

/// The bytes of a file from its first record on.
std::string record_bytes(const std::filesystem::path& path) {
  std::string file = test::read_all(*open_bytes(path), 1 << 16);
  if (!file.starts_with("DBN")) return file;
  const auto prelude = parse_dbn_prelude(std::as_bytes(std::span(file)), path.string());
  return file.substr(kDbnPreludeSize + prelude.length);
}

TEST_F(DbnGoldenTest, EveryByteAndEveryFieldIsThatOfTheOfficialDecoder) {
  const int files = for_each_readable([&](const json& want) {
    const auto source = open_bytes(path_of(want));
    test::read_all(*source);
    EXPECT_EQ(source->frames(), want.at("zstd_frames"));
    EXPECT_FALSE(source->truncated());

    const std::string bytes = record_bytes(path_of(want));
    EXPECT_EQ(bytes.size(), want.at("record_bytes"));
    EXPECT_EQ(sha256_of(bytes), want.at("sha256_record_bytes"));

    Sha256 hash;
    auto rest = std::as_bytes(std::span(bytes));
    while (!rest.empty()) {
      const std::size_t size = load<std::uint8_t>(rest, 0) * kDbnLengthUnit;
      const auto record = rest.first(size);
      std::string text;
      for (const Field& field : layout_of(load<std::uint8_t>(rest, 1), size)) {
        text += (text.empty() ? "" : "\t") + cell(record, field);
      }
      hash.update(text + "\n");
      rest = rest.subspan(size);
    }
    EXPECT_EQ(hash.finish(), want.at("sha256_as_is"));
  });
  EXPECT_EQ(files, 196);
}

TEST_F(DbnGoldenTest, TheTableOfFieldsIsThePublishedLayout) {
  int checked = 0;
  for (const auto& [key, layout] : layouts_) {
    const auto [rtype, size] = key;
    const DbnRecordKind& kind = *find_dbn_record_kind(rtype);
    for (int version = 1; version <= 3; ++version) {
      if (kind.sizes[static_cast<std::size_t>(version - 1)] != size) continue;
      std::vector<std::string> want;
      for (const Field& f : layout) want.push_back(fmt::format("{} {} {}", f.name, f.at, f.type));
      std::vector<std::string> got;
      for (const dbn::Field& f : dbn::fields_of(rtype, version)) {
        const bool text = f.type == dbn::FieldType::kText || f.type == dbn::FieldType::kChar;
        const char letter = text ? 'S' : f.type == dbn::FieldType::kSigned ? 'i' : 'u';
        got.push_back(fmt::format("{} {} {}{}", f.name, f.at, letter, f.size));
      }
      EXPECT_EQ(got, want) << kind.name << " v" << version;
      ++checked;
    }
  }
  EXPECT_GE(checked, 55);
}

TEST_F(DbnGoldenTest, ReadersCountTheRecordsOfEveryTypeAndLeaveNoByte) {
  const int files = for_each_readable([&](const json& want) {
    const auto reader = open_reader(path_of(want));
    while (reader->next() != nullptr) {
    }
    const ReadStats& stats = reader->stats();
    std::map<int, std::int64_t> by_rtype;
    for (const auto& [type, n] : want.at("by_rtype").items()) by_rtype[std::stoi(type)] = n;
    EXPECT_EQ(stats.by_rtype, by_rtype);
    EXPECT_TRUE(stats.skipped_by_rtype.empty());
    EXPECT_EQ(stats.records, want.at("records"));
    EXPECT_FALSE(stats.truncated);
    EXPECT_EQ(stats.rest_bytes, 0);
    EXPECT_EQ(stats.frames, want.at("zstd_frames"));
    const bool compressed = want.at("zstd_frames") != 0;
    if (!compressed) {
      EXPECT_EQ(stats.bytes, want.at("bytes"));
    }
  });
  EXPECT_EQ(files, 196);
}

/// A value as its golden line; "" for those that hold a part of their record.
std::string golden_line(const Record& record, int rtype) {
  if (const auto* quote = std::get_if<ConsolidatedQuote>(&record)) return line_of(*quote, rtype);
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { line_of(value); }) {
          return line_of(value);
        } else {
          return "";
        }
      },
      record);
}

TEST_F(DbnGoldenTest, ValuesThatHoldAWholeRecordHashToTheGoldenText) {
  int files = 0;
  std::int64_t records = 0;
  std::set<std::size_t> kinds;
  for_each_readable([&](const json& want) {
    if (want.at("by_rtype").size() > 1) return;
    const auto reader = open_reader(path_of(want));
    Sha256 hash;
    while (const Record* record = reader->next()) {
      const std::string text = golden_line(*record, reader->stats().by_rtype.begin()->first);
      if (text.empty()) return;
      kinds.insert(record->index());
      hash.update(text + "\n");
    }
    ASSERT_EQ(hash.finish(), want.at("sha256_v3")) << want.at("first");
    ++files;
    records += want.at("records").get<std::int64_t>();
  });
  EXPECT_EQ(kinds.size(), 9U) << "all but definitions, imbalances, mappings and messages";
  EXPECT_EQ(files, 156) << "files that hold nothing else, empty ones included";
  EXPECT_EQ(records, 94'288);
}

TEST_F(DbnGoldenTest, DefinitionsAgreeFieldByField) {
  std::int64_t compared = 0;
  for_each_readable([&](const json& want) {
    if (!want.at("by_rtype").contains("19")) return;
    const std::string bytes = record_bytes(path_of(want));
    auto rest = std::as_bytes(std::span(bytes));
    const auto reader = open_reader(path_of(want));
    while (const Record* record = reader->next()) {
      const auto* definition = std::get_if<Definition>(record);
      if (definition == nullptr) continue;
      while (load<std::uint8_t>(rest, 1) != 0x13) {
        rest = rest.subspan(load<std::uint8_t>(rest, 0) * kDbnLengthUnit);
      }
      const std::size_t size = load<std::uint8_t>(rest, 0) * kDbnLengthUnit;
      auto cells = cells_of(*definition);
      for (const Field& field : layout_of(0x13, size)) {
        const auto at = cells.find(field.name);
        if (at == cells.end()) continue;
        ASSERT_EQ(at->second, cell(rest.first(size), field)) << field.name;
        cells.erase(at);
        ++compared;
      }
      ASSERT_TRUE(cells.empty()) << cells.begin()->first;
      rest = rest.subspan(size);
    }
  });
  EXPECT_EQ(compared, 16 * 63) << "fields of Definition, definitions in the files";
}

TEST_F(DbnGoldenTest, MetadataIsThatOfTheOfficialDecoder) {
  for_each_readable([&](const json& want) {
    const StreamInfo info = open_reader(path_of(want))->info();
    EXPECT_EQ(info.format, "dbn");
    if (want.contains("fragment_version_given")) {
      EXPECT_EQ(info.version, want.at("fragment_version_given"));
      return;
    }
    const json& meta = want.at("metadata");
    EXPECT_EQ(info.version, meta.at("version"));
    EXPECT_EQ(info.dataset, meta.at("dataset"));
    EXPECT_EQ(info.schema, meta.at("schema").is_null() ? json("mixed") : meta.at("schema"));
    EXPECT_EQ(info.stype_in, meta.at("stype_in").is_null() ? json("") : meta.at("stype_in"));
    EXPECT_EQ(info.stype_out, meta.at("stype_out"));
    EXPECT_EQ(count(info.start), meta.at("start"));
    EXPECT_EQ(is_null(info.end) ? json() : json(count(info.end)), meta.at("end"));
    EXPECT_EQ(info.limit == 0 ? json() : json(info.limit), meta.at("limit"));
    EXPECT_EQ(info.has_ts_out, meta.at("ts_out"));
    EXPECT_EQ(info.symbols.size(), meta.at("symbols"));
    EXPECT_EQ(info.partial.size(), meta.at("partial"));
    EXPECT_EQ(info.not_found.size(), meta.at("not_found"));
    for (std::size_t i = 0; i < meta.at("first_symbols").size(); ++i) {
      EXPECT_EQ(info.symbols.at(i), meta.at("first_symbols")[i]);
    }
    EXPECT_EQ(info.mappings.size(), meta.at("intervals"));

    const auto date = [](Date d) {
      std::string text = to_string(d);
      std::erase(text, '-');
      return text;
    };
    const bool inverse = info.stype_in == "instrument_id" && info.stype_out != "instrument_id";
    std::vector<std::string> lines;
    for (const SymbolInterval& m : info.mappings) {
      const std::string id = std::to_string(m.instrument_id);
      lines.push_back(line(inverse ? id : m.raw_symbol, date(m.start), date(m.end),
                           inverse ? m.raw_symbol : id) +
                      "\n");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& l : lines) text += l;
    EXPECT_EQ(sha256_of(text), meta.at("mappings_sha256"));
  });
}

TEST_F(DbnGoldenTest, FilesThatTheOfficialDecoderRefusesAreRefusedByName) {
  int refused = 0;
  for (const json& want : expected_) {
    if (want.at("ok")) continue;
    const std::string text = error_of<FormatError>([&] { open_reader(path_of(want)); });
    EXPECT_THAT(text, testing::HasSubstr("DBZ")) << want.at("file");
    ++refused;
  }
  EXPECT_EQ(refused, 10);
}

TEST_F(DbnGoldenTest, TheMinutesOfTwoFuturesHaveTheirSymbols) {
  const auto reader = open_reader(shared_ /
                                  "data/dbn/nautilus/historical_bars_catalog/"
                                  "futures_ohlcv-1m_2024-07-01T23-40_2024-07-02T00-10.dbn.zst");
  std::map<std::string, int> bars;
  while (const Record* record = reader->next()) {
    ++bars[reader->symbol_of(instrument_of(*record), index_time(*record))];
  }
  EXPECT_EQ(bars, (std::map<std::string, int>{{"ESU4", 30}, {"NQU4", 30}}));
}

}  // namespace
}  // namespace foxhunt::market
