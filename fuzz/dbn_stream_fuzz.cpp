// Any bytes through the raw stream, the upgrade and the writer: every record lies behind the one
// before; bytes in memory and through a source give the same records; what the writer wrote reads
// back as the same records of version 3, and once more as the same bytes.
#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/dbn/values.h"
#include "foxhunt/market/dbn/writer.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace market = foxhunt::market;
namespace dbn = foxhunt::market::dbn;

namespace {

dbn::RecordStream in_memory(const std::string& bytes, int version) {
  return dbn::RecordStream(std::as_bytes(std::span(bytes)), "fuzz", {.version = version});
}

/// The records written again as version 3; "" where they cannot be.
std::string written(dbn::RecordStream& stream) {
  std::string bytes;
  dbn::Upgrader upgrade;
  dbn::ValueDecoder values(market::schema_name(stream.metadata().schema));
  market::Record value;
  std::uint64_t end = static_cast<std::uint64_t>(stream.stats().bytes);
  bool whole = true;
  try {
    dbn::RecordWriter writer(market::memory_output(bytes), "fuzz", stream.metadata());
    for (dbn::RawRecord record; stream.next(record);) {
      fuzz::require(record.offset == end, "every record lies behind the one before");
      end = static_cast<std::uint64_t>(stream.stats().bytes);
      values.decode(record, value);
      const dbn::RawRecord newest = upgrade(record);
      if (newest.bytes.size() + (newest.ts_out ? 8 : 0) <= 1020) {
        writer.write(newest);
      } else {
        whole = false;
      }
    }
    writer.finish();
  } catch (const foxhunt::FormatError&) {
    return "";
  } catch (const foxhunt::DataError&) {  // a text that fills its field without a NUL
    return "";
  }
  return whole ? bytes : "";
}

void behind_the_writer(const std::string& bytes, int version) {
  dbn::RecordStream first = in_memory(bytes, version);
  const std::string again = written(first);
  if (again.empty()) return;
  dbn::RecordStream second = in_memory(again, 0);
  const std::string third = written(second);
  fuzz::require(third == again, "what was written is the same when written again");
  fuzz::require(second.stats().by_rtype == first.stats().by_rtype,
                "no record is lost behind the writer");
  fuzz::require(!second.stats().truncated, "what was written is whole");
}

void memory_and_source_agree(const std::string& bytes, int version) {
  dbn::RecordStream mapped = in_memory(bytes, version);
  dbn::RecordStream read(market::memory_bytes(bytes, "fuzz"), {.version = version});
  for (dbn::RawRecord a, b;;) {
    bool more = false;
    bool refused = false;
    try {
      more = mapped.next(a);
    } catch (const foxhunt::FormatError&) {
      refused = true;
    }
    try {
      fuzz::require(read.next(b) == more && !refused, "memory and source end alike");
    } catch (const foxhunt::FormatError&) {
      fuzz::require(refused, "memory and source refuse alike");
      return;
    }
    if (!more) return;
    fuzz::require(a.rtype == b.rtype && a.version == b.version && a.offset == b.offset &&
                      a.ts_out == b.ts_out && std::ranges::equal(a.bytes, b.bytes),
                  "memory and source give the same records");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  const fuzz::AllocationLimit limit((std::size_t{4} << 20) + 64 * size);
  const int version = bytes.empty() || bytes.starts_with("DBN") ? 0 : data[size - 1] % 4;
  try {
    behind_the_writer(bytes, version);
    // A zstd frame is one only through a source.
    const bool packed = bytes.starts_with("\x28\xB5\x2F\xFD") ||
                        (bytes.size() >= 4 && bytes.substr(1, 3) == "\x2A\x4D\x18");
    if (!packed) memory_and_source_agree(bytes, version);
  } catch (const foxhunt::FormatError&) {
  }
  return 0;
}
