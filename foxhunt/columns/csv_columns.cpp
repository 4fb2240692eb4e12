// Databento's column order: the index time, the header, then by what the record is. Held to the
// official encoder by tests.
#include <algorithm>
#include <array>
#include <string_view>

#include "foxhunt/columns/csv_row.h"

namespace foxhunt::columns {
namespace {

using market::dbn::Field;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kFirst{"ts_recv", "ts_event", "rtype", "publisher_id",
                                                 "instrument_id"};
constexpr std::array<std::string_view, 10> kEvent{"action",      "side",       "depth",    "price",
                                                  "size",        "channel_id", "order_id", "flags",
                                                  "ts_in_delta", "sequence"};
constexpr std::array<std::string_view, 16> kDefinition{
    "raw_symbol",          "security_update_action", "instrument_class",
    "min_price_increment", "display_factor",         "expiration",
    "activation",          "high_limit_price",       "low_limit_price",
    "max_price_variation", "unit_of_measure_qty",    "min_price_increment_amount",
    "price_ratio",         "inst_attrib_value",      "underlying_id",
    "raw_instrument_id"};
constexpr std::array<std::string_view, 26> kDefinitionLast{"strike_price",
                                                           "match_algorithm",
                                                           "main_fraction",
                                                           "price_display_format",
                                                           "sub_fraction",
                                                           "underlying_product",
                                                           "maturity_month",
                                                           "maturity_day",
                                                           "maturity_week",
                                                           "user_defined_instrument",
                                                           "contract_multiplier_unit",
                                                           "flow_schedule_type",
                                                           "tick_rule",
                                                           "leg_count",
                                                           "leg_index",
                                                           "leg_instrument_id",
                                                           "leg_raw_symbol",
                                                           "leg_instrument_class",
                                                           "leg_side",
                                                           "leg_price",
                                                           "leg_delta",
                                                           "leg_ratio_price_numerator",
                                                           "leg_ratio_price_denominator",
                                                           "leg_ratio_qty_numerator",
                                                           "leg_ratio_qty_denominator",
                                                           "leg_underlying_id"};

bool is_event(int rtype) {
  return rtype == 0x00 || rtype == 0x01 || rtype == 0x0A || rtype == 0xA0 || rtype == 0xB1 ||
         (rtype >= 0xC0 && rtype <= 0xC4);
}

bool holds(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void append(std::span<const Field> fields, Names names, std::vector<Field>& out) {
  for (const std::string_view name : names) {
    if (const Field* field = market::dbn::find_field(fields, name)) out.push_back(*field);
  }
}

}  // namespace

std::vector<Field> csv_columns(int rtype) {
  constexpr int kDefinitionType = 0x13;
  const auto fields = market::dbn::fields_of(rtype, 3);
  const Names second = is_event(rtype)            ? Names(kEvent)
                       : rtype == kDefinitionType ? Names(kDefinition)
                                                  : Names();
  const Names last = rtype == kDefinitionType ? Names(kDefinitionLast) : Names();
  std::vector<Field> columns;
  append(fields, kFirst, columns);
  append(fields, second, columns);
  for (const Field& field : fields) {
    if (!holds(kFirst, field.name) && !holds(second, field.name) && !holds(last, field.name)) {
      columns.push_back(field);
    }
  }
  append(fields, last, columns);
  return columns;
}

}  // namespace foxhunt::columns
