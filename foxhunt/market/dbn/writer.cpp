#include "foxhunt/market/dbn/writer.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market::dbn {
namespace {

constexpr std::size_t kBufferSize = std::size_t{128} << 10;

}  // namespace

RecordWriter::RecordWriter(std::unique_ptr<ByteOutput> out, std::string name,
                           const DbnMetadata& metadata)
    : out_(std::move(out)), name_(std::move(name)), ts_out_(metadata.ts_out) {
  const std::string encoded = encode_dbn_metadata(metadata);
  buffer_.reserve(kBufferSize);
  append(std::as_bytes(std::span(encoded)));
}

RecordWriter::~RecordWriter() = default;

void RecordWriter::require_open() const {
  if (!out_) throw DataError(fmt::format("{}: is finished, or failed before", name_));
}

void RecordWriter::refuse(std::string_view why) const {
  throw DataError(fmt::format("{}: record {}: {}", name_, records_, why));
}

void RecordWriter::write(const RawRecord& record) {
  require_open();
  const std::size_t size = record.bytes.size() + (ts_out_ ? kDbnTsOutSize : 0);
  const DbnRecordKind* kind = find_dbn_record_kind(record.rtype);
  const std::size_t least = kind == nullptr ? kDbnHeaderSize : kind->sizes.back();
  if (record.version < kNewestDbnVersion) {
    refuse(fmt::format("has the layout of version {}: upgrade it first", record.version));
  }
  if (record.ts_out.has_value() != ts_out_) {
    refuse(ts_out_ ? "has no ts_out, which the metadata says all have"
                   : "has a ts_out, which the metadata says none has");
  }
  if (record.bytes.size() < least || size > kDbnMaxRecord || size % kDbnLengthUnit != 0) {
    refuse(fmt::format("{} bytes; {} to {} in steps of {} are possible for type {}", size, least,
                       kDbnMaxRecord, kDbnLengthUnit, record.rtype));
  }
  append(record.bytes);
  // A full buffer was emptied first: the record stands at the end of it either way.
  const std::size_t at = buffer_.size() - record.bytes.size();
  buffer_[at] = static_cast<std::byte>(size / kDbnLengthUnit);
  if (ts_out_) append(std::as_bytes(std::span(&*record.ts_out, 1)));
  ++records_;
}

void RecordWriter::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferSize) flush();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void RecordWriter::flush() {
  // What lacks some of its bytes must never be put in place: a failure drops it.
  try {
    out_->write(buffer_);
  } catch (...) {
    out_.reset();
    throw;
  }
  buffer_.clear();
}

void RecordWriter::finish() {
  require_open();
  flush();
  const auto out = std::move(out_);
  out->commit();
}

}  // namespace foxhunt::market::dbn
