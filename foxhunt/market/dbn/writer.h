#pragma once
// Writes DBN version 3: metadata and raw records of any schema, plain or zstd.
//
//   RecordWriter writer(file_output(path), name, stream.metadata());
//   Upgrader upgrade;
//   for (RawRecord record; stream.next(record);) writer.write(upgrade(record));
//   writer.finish();                         // only now does `path` exist
//
// A file of version 3 written plain is the same byte for byte.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/market/byte_output.h"
#include "foxhunt/market/dbn/raw_record.h"
#include "foxhunt/market/dbn_metadata.h"

namespace foxhunt::market::dbn {

class RecordWriter {
 public:
  /// Writes the metadata as version 3, whatever version it came from. `name` stands in messages.
  /// Errors  DataError naming a text too long for its field; IoError.
  RecordWriter(std::unique_ptr<ByteOutput> out, std::string name, const DbnMetadata& metadata);
  /// Without finish() nothing is left behind.
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Types that this code does not know and records longer than known pass as they are.
  /// Errors  DataError: a layout older than version 3, ts_out where the metadata has none or the
  ///         other way round, a length over 1,020 bytes or no multiple of four, fewer bytes than
  ///         the type has; IoError (disk full). Nothing of the record is written then.
  /// Cost    one copy into a buffer of 128 KiB.
  void write(const RawRecord& record);

  /// Ends the output and puts it in place. Call once; write() is over then.
  /// Errors  IoError; nothing is left behind.
  void finish();

  std::int64_t records() const { return records_; }

 private:
  void require_open() const;
  void append(std::span<const std::byte> bytes);
  void flush();
  [[noreturn]] void refuse(std::string_view why) const;

  std::unique_ptr<ByteOutput> out_;
  std::string name_;
  bool ts_out_;
  std::vector<std::byte> buffer_;
  std::int64_t records_ = 0;
};

}  // namespace foxhunt::market::dbn
