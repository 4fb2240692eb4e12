// libFuzzer target: whatever the bytes are, the CSV reader ends in records or in a foxhunt::Error,
// and an inspection of them ends too.
//
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. fuzz/csv_reader_fuzz.cpp
//     foxhunt/market/{byte_source,calendar,contract,csv_reader,csv_record,csv_rows,csv_symbols,csv_time}.cpp
//     foxhunt/market/{csv_values,dbn_metadata,dbn_reader,dbn_records,gzip_source,inspect,product_table,reader}.cpp
//     foxhunt/base/{nearest,time}.cpp -lfmt -lzstd -lz -ldate-tz -o csv_reader_fuzz
#include <cstdint>
#include <cstdlib>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_reader.h"
#include "foxhunt/market/inspect.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foxhunt::market;
  if (size == 0) return 0;
  ReadOptions options;
  options.strict = (data[0] & 1U) != 0;
  if ((data[0] & 2U) != 0) options.csv.time_zone = "America/Chicago";
  if ((data[0] & 4U) != 0) options.csv.time_format = "%Y-%m-%d %H:%M:%S";
  if ((data[0] & 8U) != 0) options.csv.delimiter = "tab";
  if ((data[0] & 16U) != 0) options.csv.bar_stamp = "end";
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const auto reader = make_csv_reader(memory_bytes(std::move(bytes), "fuzz"), options);
    const Inspection inspection = inspect(*reader);
    if (inspection.records != reader->stats().records) std::abort();
  } catch (const foxhunt::Error&) {
    return 0;
  }
  return 0;
}
