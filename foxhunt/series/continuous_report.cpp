// What continuous.h says of a series that was made, and the tables that it reads.
#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/series/continuous.h"
#include "foxhunt/series/rows_file.h"

namespace foxhunt::series {
namespace {

namespace fs = std::filesystem;

const char* name_of(RollRule rule) {
  switch (rule) {
    case RollRule::kCalendar:
      return "calendar";
    case RollRule::kVolume:
      return "volume";
    case RollRule::kOpenInterest:
      return "open_interest";
    case RollRule::kMap:
      return "map";
  }
  return "";
}

const char* name_of(Adjust adjust) {
  switch (adjust) {
    case Adjust::kNone:
      return "none";
    case Adjust::kDifference:
      return "difference";
    case Adjust::kRatio:
      return "ratio";
  }
  return "";
}

std::string difference_of(const Roll& roll) {
  return roll.from_price.is_null() ? ""
                                   : decimal_text(Price{roll.to_price.nano - roll.from_price.nano});
}

std::string ratio_of(const Roll& roll) {
  if (roll.from_price.is_null() || roll.from_price.nano <= 0 || roll.to_price.nano <= 0) return "";
  return fmt::format("{:.12f}", static_cast<double>(roll.to_price.nano) /
                                    static_cast<double>(roll.from_price.nano));
}

/// The fields of every line behind the header, which must be `header`.
std::vector<std::vector<std::string>> read_table(const fs::path& path, std::string_view header) {
  std::ifstream in(path);
  if (!in) throw IoError(fmt::format("{}: cannot be read", path.string()));
  std::vector<std::vector<std::string>> rows;
  const auto fields_of = [](std::string line) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ',')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    return fields;
  };
  const std::vector<std::string> names = fields_of(std::string(header));
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::vector<std::string> fields = fields_of(line);
    if (number == 1 ? fields != names : fields.size() != names.size()) {
      throw DataError(fmt::format("{}:{}: '{}' is not {}{}", path.string(), number, line,
                                  number == 1 ? "the header " : "a line of ", header));
    }
    if (number > 1) rows.push_back(std::move(fields));
  }
  return rows;
}

template <class Action>
void at_line(const fs::path& path, std::size_t row, Action action) {
  try {
    action();
  } catch (const Error& error) {
    throw DataError(fmt::format("{}:{}: {}", path.string(), row + 2, error.what()));
  }
}

}  // namespace

std::string ContinuousReport::rolls_csv() const {
  std::string text =
      "rule,decided,first_session,at,from,to,from_price,to_price,priced,difference,ratio\n";
  for (const Roll& roll : plan.rolls) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", roll.rule, to_string(roll.decided),
                        to_string(roll.first), to_string(roll.at), roll.from, roll.to,
                        decimal_text(roll.from_price), decimal_text(roll.to_price),
                        roll.from_price.is_null() ? "" : to_string(roll.priced),
                        difference_of(roll), ratio_of(roll));
  }
  return text;
}

std::string ContinuousReport::to_json() const {
  using Json = nlohmann::ordered_json;
  const auto files_json = [](const ContinuousFile& file) {
    return Json{{"file", file.path.string()}, {"sha256", file.sha256}};
  };
  Json json{{"product", config.product},
            {"rule", name_of(config.rule)},
            {"adjust", name_of(config.adjust)},
            {"anchor", config.anchor == Anchor::kLast ? "last" : "first"},
            {"months", config.months},
            {"days_before", config.days_before},
            {"bars", bars},
            {"first", to_string(first)},
            {"last", to_string(last)},
            {"other_contracts", other_contracts},
            {"outside_session", outside_session},
            {"not_found", plan.not_found},
            {"records", input.records},
            {"not_bars", input.not_bars},
            {"other_product", input.other_product},
            {"unmapped", input.unmapped},
            {"duplicates", input.duplicates},
            {"truncated_files", input.truncated_files},
            {"output", files_json(output)}};
  for (const ContinuousFile& file : inputs) json["inputs"].push_back(files_json(file));
  json["rolls"] = Json::array();
  for (std::size_t i = 0; i < plan.rolls.size(); ++i) {
    const Roll& roll = plan.rolls[i];
    json["rolls"].push_back({{"rule", roll.rule},
                             {"decided", to_string(roll.decided)},
                             {"first_session", to_string(roll.first)},
                             {"at", to_string(roll.at)},
                             {"from", roll.from},
                             {"to", roll.to},
                             {"from_price", decimal_text(roll.from_price)},
                             {"to_price", decimal_text(roll.to_price)},
                             {"difference", difference_of(roll)},
                             {"ratio", ratio_of(roll)},
                             {"factor_before", plan.stretches[i].factor},
                             {"offset_before", decimal_text(Price{plan.stretches[i].offset})}});
  }
  return json.dump(2);
}

std::string ContinuousReport::to_text() const {
  std::string text = fmt::format("{}: {} bars of {} contracts, {} to {}\n", output.path.string(),
                                 bars, plan.stretches.size(), to_string(first), to_string(last));
  for (const Roll& roll : plan.rolls) {
    text +=
        fmt::format("  {} {} {} -> {} {} by {}\n", to_string(roll.first), roll.from,
                    decimal_text(roll.from_price), roll.to, decimal_text(roll.to_price), roll.rule);
  }
  for (const std::string& symbol : plan.not_found)
    text += fmt::format("  {}: wanted, but no file has a bar of it\n", symbol);
  const auto add = [&text](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format("  {} {}\n", count, what);
  };
  add(other_contracts, "bars of contracts that did not hold the series");
  add(outside_session, "bars outside every session");
  add(input.not_bars, "records that are no bars");
  add(input.other_product, "bars of other products and spreads");
  add(input.unmapped, "bars without a known symbol");
  add(input.duplicates, "bars that were there already");
  add(input.truncated_files, "files that are cut short");
  return text;
}

std::map<Date, std::string> read_roll_map(const fs::path& path) {
  std::map<Date, std::string> map;
  const auto rows = read_table(path, "first_session,symbol");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    at_line(path, i, [&] {
      if (!map.emplace(parse_date(rows[i][0]), rows[i][1]).second)
        throw DataError(fmt::format("{} is there twice", rows[i][0]));
    });
  }
  return map;
}

std::map<std::string, std::map<Date, std::int64_t>> read_open_interest(const fs::path& path) {
  std::map<std::string, std::map<Date, std::int64_t>> table;
  const auto rows = read_table(path, "date,symbol,open_interest");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    at_line(path, i, [&] {
      const std::string& text = rows[i][2];
      std::int64_t value = -1;
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (failed != std::errc{} || end != text.data() + text.size() || value < 0)
        throw DataError(fmt::format("'{}' is no number of contracts", text));
      if (!table[rows[i][1]].emplace(parse_date(rows[i][0]), value).second)
        throw DataError(fmt::format("{} of {} is there twice", rows[i][0], rows[i][1]));
    });
  }
  return table;
}

}  // namespace foxhunt::series
