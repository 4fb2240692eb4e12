#include "foxhunt/columns/record_io.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/columns/unnamed_bytes.h"
#include "foxhunt/market/dbn/fields.h"

namespace foxhunt::columns {
namespace {

using market::dbn::RawRecord;

constexpr std::size_t kTsEventAt = 8;
constexpr std::int64_t kTellEvery = std::int64_t{1} << 16U;

/// Where the index time of each type stands.
std::array<std::uint16_t, 256> index_offsets() {
  std::array<std::uint16_t, 256> at{};
  for (int rtype = 0; rtype < 256; ++rtype) {
    const auto* field = market::dbn::find_field(market::dbn::fields_of(rtype, 3), "ts_recv");
    at[static_cast<std::size_t>(rtype)] = field != nullptr ? field->at : kTsEventAt;
  }
  return at;
}

}  // namespace

std::uint64_t index_time(const RawRecord& record) {
  static const auto offsets = index_offsets();
  std::uint64_t time = 0;
  std::memcpy(&time, record.bytes.data() + offsets[static_cast<std::size_t>(record.rtype)],
              sizeof time);
  return time;
}

ConvertReport convert_records(RecordSource& source, RecordSink& sink, std::optional<int> only,
                              bool allow_truncated,
                              const std::function<void(std::int64_t)>& progress) {
  ConvertReport report;
  UnnamedBytes unnamed;
  std::array<std::int64_t, 256> counts{};
  std::array<std::int64_t, 256> left_out{};
  const bool drops = !sink.keeps_all_bytes();
  for (RawRecord record; source.next(record);) {
    const auto type = static_cast<std::size_t>(record.rtype);
    if (only && record.rtype != *only) {
      ++left_out[type];
      continue;
    }
    if (drops && unnamed.has_any(record)) ++report.with_lost_bytes;
    sink.write(record);
    ++counts[type];
    report.last = index_time(record);
    if (report.records == 0) report.first = report.last;
    ++report.records;
    if (report.records % kTellEvery == 0) {
      if (progress) progress(report.records);
      if (interrupted()) throw InterruptedError("[convert] stopped; nothing was written");
    }
  }
  for (int rtype = 0; rtype < 256; ++rtype) {
    const auto type = static_cast<std::size_t>(rtype);
    if (counts[type] != 0) report.by_rtype[rtype] = counts[type];
    if (left_out[type] != 0) report.left_out_by_rtype[rtype] = left_out[type];
  }
  report.truncated = source.truncated();
  report.ignored = source.ignored();
  if (report.truncated && !allow_truncated) {
    throw DataError(
        fmt::format("[convert] the input is cut short after {} records (--allow-truncated "
                    "converts what is whole)",
                    report.records));
  }
  if (report.records == 0) {
    throw DataError(report.left_out_by_rtype.empty()
                        ? std::string("[convert] the input holds no records")
                        : fmt::format("[convert] no record of the type that was asked for"));
  }
  sink.finish();
  return report;
}

}  // namespace foxhunt::columns
