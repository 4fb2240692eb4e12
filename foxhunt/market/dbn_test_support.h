#pragma once
// Over budget: what all DBN suites share, in one place.
// What the DBN tests share: fixtures, zstd frames, and records put together byte by byte with none
// of the code under test.

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/file.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/dbn_reader.h"

namespace foxhunt::market::test {

/// A file of the repository; tests run in its root.
inline std::filesystem::path fixture(std::string_view name) {
  return std::filesystem::path("tests/data/dbn") / name;
}
inline std::string fixture_bytes(std::string_view name) { return read_file(fixture(name)); }

/// The folder of the larger reference data, empty where there is none.
inline std::filesystem::path shared_folder() {
  const char* folder = std::getenv("FOXHUNT_SHARED");  // NOLINT(concurrency-mt-unsafe)
  return folder == nullptr ? "" : folder;
}

/// A folder of this test alone, empty at its start and gone at its end.
class TempFolder {
 public:
  TempFolder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string(info->test_suite_name()) + "." + info->name() + "." +
             std::to_string(::getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path_),
                         std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

/// One zstd frame with a checksum.
inline std::string zstd_frame(std::string_view plain, int level = 3) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), plain.data(), plain.size());
  EXPECT_FALSE(ZSTD_isError(size));
  frame.resize(size);
  return frame;
}

inline std::string read_all(ByteSource& source, std::size_t step = 1000) {
  std::string bytes;
  for (std::vector<std::byte> part(step);;) {
    const std::size_t n = source.read(part);
    const std::size_t old = bytes.size();
    bytes.resize(old + n);
    if (n != 0) std::memcpy(bytes.data() + old, part.data(), n);
    if (n < step) return bytes;
  }
}

inline std::string unpacked(std::string stored) {
  return read_all(*memory_bytes(std::move(stored), "fixture"));
}

inline std::unique_ptr<Reader> dbn_reader(std::string stored, const ReadOptions& options = {}) {
  return make_dbn_reader(memory_bytes(std::move(stored), "memory"), options);
}

/// The text of the error that `action` throws, which must be of type Expected.
template <class Expected, class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Bytes of numbers, little endian, one behind another.
class Bytes {
 public:
  template <class T>
  Bytes& add(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
    return *this;
  }
  Bytes& text(std::string_view value, std::size_t size) {
    bytes_.append(value);
    bytes_.append(size - value.size(), '\0');
    return *this;
  }
  Bytes& zeros(std::size_t n) {
    bytes_.append(n, '\0');
    return *this;
  }
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Metadata of version 3 without symbols: 128 bytes.
inline std::string plain_metadata(std::uint16_t schema = 0xFFFF, std::uint8_t version = 3,
                                  bool ts_out = false) {
  Bytes body;
  body.text("GLBX.MDP3", 16).add(schema);
  body.add(std::uint64_t{1'000}).add(~std::uint64_t{0}).add(std::uint64_t{0});  // start, end, limit
  if (version == 1) body.add(~std::uint64_t{0});
  body.add(std::uint8_t{1}).add(std::uint8_t{0}).add(std::uint8_t{ts_out});
  if (version > 1) body.add(std::uint16_t{71});
  body.zeros(120 - body.str().size());
  return Bytes()
             .text("DBN", 3)
             .add(version)
             .add(static_cast<std::uint32_t>(body.str().size()))
             .str() +
         body.str();
}

/// Header of a record of `size` bytes.
inline Bytes record_head(std::uint8_t rtype, std::size_t size, std::uint64_t ts_event,
                         std::uint32_t instrument_id = 7) {
  return Bytes()
      .add(static_cast<std::uint8_t>(size / 4))
      .add(rtype)
      .add(std::uint16_t{1})
      .add(instrument_id)
      .add(ts_event);
}

/// A bar whose prices are open, open + 2, open - 1, open + 1; `more` bytes follow its 56.
inline std::string bar_record(std::uint8_t rtype, std::uint64_t start, std::int64_t open,
                              std::uint64_t volume, std::string_view more = "") {
  return record_head(rtype, 56 + more.size(), start)
             .add(open)
             .add(open + 2)
             .add(open - 1)
             .add(open + 1)
             .add(volume)
             .str() +
         std::string(more);
}

}  // namespace foxhunt::market::test
