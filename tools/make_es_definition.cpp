// Writes the instrument definitions of data/es-sample as DBN version 3.
//
//   make_es_definition es-contracts.csv es-definition.dbn.zst
//
// The first is what tools/make_es_sample.py wrote: raw_symbol,instrument_id,first_date,last_date.
// Tick and multiplier are those of the product table; an ES contract stops trading at 08:30 Chicago
// on its last day.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/csv_rows.h"
#include "foxhunt/market/csv_time.h"
#include "foxhunt/market/csv_values.h"
#include "foxhunt/market/dbn_writer.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kColumns = 4;

/// The definition of one contract, valid from the first date on which the sample has its bars.
Definition definition_of(const CsvRows& rows, Date& last_date) {
  const auto fields = rows.fields();
  if (fields.size() != kColumns) rows.fail(1, fmt::format("the row must have {} fields", kColumns));
  const std::string symbol(fields[0].text);
  const std::string product = product_of_symbol(symbol);
  const Contract& contract = contract_for_product(product);
  std::uint64_t id = 0;
  if (const std::string rule = parse_unsigned(fields[1].text, 0xFFFF'FFFF, id); !rule.empty()) {
    rows.fail(fields[1].column, fmt::format("instrument_id = '{}' {}", fields[1].text, rule));
  }
  last_date = parse_date(fields[3].text);
  UnixNanos expiration{};
  const CsvTimeParser chicago("iso", "America/Chicago");
  const std::string rule = chicago.parse(fmt::format("{}T08:30", fields[3].text), expiration);
  if (!rule.empty()) rows.fail(fields[3].column, fmt::format("'{}' {}", fields[3].text, rule));
  const UnixNanos first = std::chrono::sys_days{parse_date(fields[2].text)};
  return {.instrument = {.publisher_id = 0, .instrument_id = static_cast<std::uint32_t>(id)},
          .ts_event = first,
          .ts_recv = first,
          .raw_symbol = symbol,
          .asset = product,
          .exchange = "XCME",
          .currency = contract.currency,
          .instrument_class = 'F',
          .update_action = 'A',
          .min_price_increment = contract.tick,
          .unit_of_measure_qty =
              Price{static_cast<std::int64_t>(contract.multiplier) * Price::kUnitsPerOne},
          .expiration = expiration};
}

void run(const char* in, const char* out) {
  CsvRows rows(open_bytes(in), ',');
  rows.next();  // the header
  StreamInfo info;
  info.dataset = "LEAN.ES";
  info.schema = "definition";
  info.stype_in = "raw_symbol";
  info.stype_out = "instrument_id";
  std::vector<Definition> definitions;
  while (rows.next()) {
    Date last_date{};
    const Definition& d = definitions.emplace_back(definition_of(rows, last_date));
    info.symbols.push_back(d.raw_symbol);
    info.mappings.push_back({.raw_symbol = d.raw_symbol,
                             .start = utc_date(d.ts_recv),
                             .end = Date{std::chrono::sys_days{last_date} + std::chrono::days{1}},
                             .instrument_id = d.instrument.instrument_id});
    info.end = std::chrono::sys_days{info.mappings.back().end};
  }
  if (definitions.empty()) throw DataError(fmt::format("{}: holds no contract", in));
  info.start = definitions.front().ts_recv;
  DbnWriter writer(out, info);
  for (const Definition& definition : definitions) writer.write(definition);
  writer.finish();
  fmt::print("{}: {} definitions\n", out, writer.records());
}

}  // namespace
}  // namespace foxhunt::market

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: make_es_definition es-contracts.csv es-definition.dbn.zst\n");
    return 2;
  }
  try {
    foxhunt::market::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
