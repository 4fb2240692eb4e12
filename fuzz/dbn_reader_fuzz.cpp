// Any bytes through the DBN reader: it ends in a typed error or at the end, and its counts add up.
//
// Built with clang, outside of CMake:
//   clang++ -std=c++20 -O1 -g -I. -fsanitize=fuzzer,address,undefined fuzz/dbn_reader_fuzz.cpp \
//     foxhunt/market/{byte_source,dbn_metadata,dbn_reader,dbn_records}.cpp foxhunt/base/time.cpp \
//     -lfmt -lzstd -o build/dbn_reader_fuzz
//   build/dbn_reader_fuzz -max_total_time=60 build/corpus tests/data/dbn
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_reader.h"

namespace market = foxhunt::market;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto reader = market::make_dbn_reader(market::memory_bytes(std::move(bytes), "fuzz"));
    std::int64_t handed_out = 0;
    while (reader->next() != nullptr) ++handed_out;
    const market::ReadStats& stats = reader->stats();
    std::int64_t framed = 0;
    std::int64_t skipped = 0;
    for (const auto& [rtype, n] : stats.by_rtype) framed += n;
    for (const auto& [rtype, n] : stats.skipped_by_rtype) skipped += n;
    if (handed_out != stats.records || framed != handed_out + skipped) std::abort();
    if (!stats.truncated && stats.rest_bytes != 0) std::abort();
  } catch (const foxhunt::FormatError&) {
  }
  return 0;
}
