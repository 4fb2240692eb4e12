#include "foxhunt/model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::model {
namespace {

using testing::HasSubstr;

class SafetensorsTest : public testing::Test {
 protected:
  SafetensorsTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("foxhunt_safetensors_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~SafetensorsTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path() const { return folder_ / "t.safetensors"; }

  void put(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  /// A file with this header and `data` bytes of zeros behind it.
  void put(const std::string& header, std::size_t data) const {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
      bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
    put(bytes + header + std::string(data, '\0'));
  }
  std::string message() const {
    try {
      SafetensorsFile::open(path());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string message(const std::string& header, std::size_t data) const {
    put(header, data);
    return message();
  }

  std::filesystem::path folder_;
};

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST_F(SafetensorsTest, ReadsBackWhatItWrote) {
  const std::vector<float> a{1.0F, -2.5F, 3.0F, 0.0F, 1e-30F, 7.0F};
  const std::vector<std::int64_t> ids{-1, std::int64_t{1} << 40};
  write_safetensors(path(),
                    {{"b.weight", DType::kF32, {2, 3}, bytes_of(a)},
                     {"empty", DType::kF32, {0, 4}, {}},
                     {"a", DType::kI64, {2}, std::as_bytes(std::span(ids))},
                     {"scalar", DType::kF32, {}, bytes_of(a).first(4)}},
                    {{"format", "pt"}, {"note", "quotes \" and \n ünicode"}});
  const auto file = SafetensorsFile::open(path());
  ASSERT_EQ(file.tensors().size(), 4U);
  const TensorView& weight = file.at("b.weight");
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{2, 3}));
  const auto same = [](std::span<const std::byte> x, std::span<const std::byte> y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  EXPECT_TRUE(same(weight.bytes, bytes_of(a)));
  EXPECT_TRUE(same(file.at("a").bytes, std::as_bytes(std::span(ids))));
  EXPECT_EQ(file.at("a").dtype, DType::kI64);
  EXPECT_TRUE(file.at("empty").bytes.empty());
  EXPECT_TRUE(file.at("scalar").shape.empty());
  EXPECT_EQ(file.metadata().at("note"), "quotes \" and \n ünicode");
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST_F(SafetensorsTest, WritesTheSameBytesForTheSameInput) {
  const std::vector<float> a{1.0F, 2.0F};
  const std::vector<TensorView> tensors{{"z", DType::kF32, {2}, bytes_of(a)},
                                        {"a", DType::kF32, {2}, bytes_of(a)}};
  write_safetensors(path(), tensors, {{"k", "v"}, {"a", "b"}});
  const std::string first = read_file(path());
  write_safetensors(path(), tensors, {{"a", "b"}, {"k", "v"}});
  EXPECT_EQ(read_file(path()), first);
  EXPECT_LT(first.find("\"z\""), first.find("\"a\":{\"dtype"))
      << "tensors keep the order they were given in";
  const auto header = static_cast<unsigned char>(first[0]);
  EXPECT_EQ((8 + header) % 8, 0) << "data starts at a multiple of 8";
}

TEST_F(SafetensorsTest, ReadsTheFilesOfOtherPrograms) {
  const auto file = SafetensorsFile::open("tests/golden/mamba2/hf_tiny_lm/model.safetensors");
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.at("lm_head.weight").shape, (std::vector<std::int64_t>{48, 32}));
}

TEST_F(SafetensorsTest, ViewsOutliveTheReplacementOfTheFile) {
  const std::vector<float> a{1.0F};
  const std::vector<float> b{2.0F};
  write_safetensors(path(), {{"x", DType::kF32, {1}, bytes_of(a)}}, {});
  const auto file = SafetensorsFile::open(path());
  write_safetensors(path(), {{"x", DType::kF32, {1}, bytes_of(b)}}, {});
  float value = 0;
  std::memcpy(&value, file.at("x").bytes.data(), 4);
  EXPECT_EQ(value, 1.0F);
}

TEST_F(SafetensorsTest, ReadsBytesInMemoryAsItReadsAFile) {
  const std::vector<float> a{1.0F, 2.0F};
  const std::string good = safetensors_bytes({{"x", DType::kF32, {2}, bytes_of(a)}}, {}, "good");
  const std::string shifted = " " + good;  // any alignment
  const auto file = SafetensorsFile::from_bytes(std::as_bytes(std::span(shifted)).subspan(1), "m");
  EXPECT_EQ(file.name(), "m");
  EXPECT_TRUE(std::ranges::equal(file.at("x").bytes, bytes_of(a)));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(SafetensorsFile::from_bytes(std::as_bytes(std::span(good)).first(size), "cut"),
                 FormatError)
        << size;
  }
}

TEST_F(SafetensorsTest, NamesFileTensorAndRule) {
  const std::string text = message(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8);
  EXPECT_THAT(text, HasSubstr(path().string()));
  EXPECT_THAT(text, HasSubstr("tensor 'x': 8 bytes, but F32 [3] needs 12"));
  EXPECT_THAT(message(R"({})", 3), HasSubstr("3 bytes follow the last tensor"));
}

TEST_F(SafetensorsTest, RefusesBadHeaders) {
  put("1234567");
  EXPECT_THAT(message(), HasSubstr("too few"));
  put(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  EXPECT_THAT(message(), HasSubstr("at most 100000000"));
  put(std::string("\x10\0\0\0\0\0\0\0", 8) + "{}");
  EXPECT_THAT(message(), HasSubstr("a header of 16 bytes, but the file has 10"));
  EXPECT_THAT(message("", 0), HasSubstr("does not start with '{'"));
  EXPECT_THAT(message("[]", 0), HasSubstr("does not start with '{'"));
  EXPECT_THAT(message("{\"x\":", 0), HasSubstr("not JSON"));
  EXPECT_THAT(message(R"({"__metadata__":{"a":1}})", 0), HasSubstr("'a' is not a string"));
  EXPECT_THAT(message(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__ is not"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                      R"("x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                      4),
              HasSubstr("key 'x' twice"));
}

TEST_F(SafetensorsTest, RefusesBadTensors) {
  EXPECT_THAT(message(R"({"x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("unknown dtype"));
  EXPECT_THAT(message(R"({"x":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("unknown dtype 4"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
              HasSubstr("shape has -1"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4),
              HasSubstr("not a list"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4),
              HasSubstr("do not lie in"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4),
              HasSubstr("do not lie in"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4),
              HasSubstr("two numbers"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[1]}})", 4), HasSubstr("nothing else"));
  EXPECT_THAT(message(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4),
              HasSubstr("nothing else"));
  // 2^32 * 2^32 is 0 in 64 bits: must not pass for an empty tensor.
  EXPECT_THAT(
      message(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
      HasSubstr("more than any file can have"));
}

TEST_F(SafetensorsTest, RefusesOverlapsHolesAndTrailingBytes) {
  const auto two = [](const char* first, const char* second) {
    return std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + first +
           R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(message(two("[0,4]", "[4,8]"), 8), "no error");
  EXPECT_EQ(message(two("[4,8]", "[0,4]"), 8), "no error");
  EXPECT_THAT(message(two("[0,4]", "[0,4]"), 4), HasSubstr("overlap or leave a hole"));
  EXPECT_THAT(message(two("[0,4]", "[2,6]"), 6), HasSubstr("overlap or leave a hole"));
  EXPECT_THAT(message(two("[0,4]", "[8,12]"), 12), HasSubstr("overlap or leave a hole"));
  EXPECT_THAT(message(two("[4,8]", "[8,12]"), 12), HasSubstr("overlap or leave a hole"));
  EXPECT_THAT(message(two("[0,4]", "[4,8]"), 9), HasSubstr("1 bytes follow"));
}

TEST_F(SafetensorsTest, RefusesDepthInEveryPlaceOfTheHeader) {
  // A tree this deep would overflow the stack where it is printed into a message.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& header :
       {R"({"x":)" + deep + "}",
        R"({"x":{"dtype":)" + deep + R"(,"shape":[],"data_offsets":[0,4]}})",
        R"({"x":{"dtype":"F32","shape":)" + deep + R"(,"data_offsets":[0,4]}})",
        R"({"__metadata__":{"k":)" + deep + "}}"}) {
    EXPECT_THAT(message(header, 4), HasSubstr("nests deeper than 64 levels"));
  }
}

TEST_F(SafetensorsTest, BytesInMemoryAreReadAsAFileIs) {
  const std::vector<float> a{1.0F, -2.5F, 3.0F};
  const std::vector<TensorView> tensors{{"w", DType::kF32, {3}, bytes_of(a)},
                                        {"e", DType::kF16, {0}, {}}};
  const std::string written = safetensors_bytes(tensors, {{"k", "v"}}, "memory");
  write_safetensors(path(), tensors, {{"k", "v"}});
  EXPECT_EQ(read_file(path()), written);

  // At an odd address, and moved from object to object: views go on to point into the same bytes.
  const std::string shifted = "#" + written;
  const auto bytes = std::as_bytes(std::span(shifted)).subspan(1);
  auto file = SafetensorsFile::from_bytes(bytes, "memory");
  const SafetensorsFile moved = std::move(file);
  ASSERT_EQ(moved.tensors().size(), 2U);
  EXPECT_EQ(moved.name(), "memory");
  EXPECT_EQ(moved.metadata().at("k"), "v");
  EXPECT_EQ(moved.at("w").bytes.data(), bytes.data() + bytes.size() - 12) << "nothing is copied";
  float value = 0;
  std::memcpy(&value, moved.at("w").bytes.data() + 4, 4);
  EXPECT_EQ(value, -2.5F);
}

TEST_F(SafetensorsTest, BytesInMemoryAreHeldToTheSameRules) {
  const auto refusal = [](std::string_view bytes) -> std::string {
    try {
      SafetensorsFile::from_bytes(std::as_bytes(std::span(bytes)), "memory");
    } catch (const FormatError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal(""), HasSubstr("memory: 0 bytes are too few"));
  EXPECT_THROW(SafetensorsFile::from_bytes({}, "memory"), FormatError);
  const std::vector<float> a{1.0F};
  const std::string good = safetensors_bytes({{"w", DType::kF32, {1}, bytes_of(a)}}, {}, "memory");
  EXPECT_EQ(refusal(good), "no error");
  EXPECT_THAT(refusal(good + "x"), HasSubstr("memory: 1 bytes follow the last tensor"));
  for (std::size_t n = 0; n < good.size(); ++n) {  // every way to cut it
    EXPECT_NE(refusal(std::string_view(good).substr(0, n)), "no error") << n;
  }
}

TEST_F(SafetensorsTest, MissingFilesAndFoldersAreIoErrors) {
  EXPECT_THROW(SafetensorsFile::open(folder_ / "absent"), IoError);
  EXPECT_THROW(SafetensorsFile::open(folder_), IoError);
  put("");
  EXPECT_THROW(SafetensorsFile::open(path()), FormatError);
}

TEST_F(SafetensorsTest, SurvivesRandomCorruption) {
  const std::vector<float> a{1.0F, 2.0F, 3.0F};
  write_safetensors(path(),
                    {{"first", DType::kF32, {3}, bytes_of(a)},
                     {"second", DType::kF32, {1, 1}, bytes_of(a).first(4)}},
                    {{"k", "v"}});
  const std::string good = read_file(path());
  Rng rng(7);
  int refused = 0;
  unsigned sum = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bad = good;
    const std::uint64_t edits = 1 + rng.below(4);
    for (std::uint64_t e = 0; e < edits; ++e)
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    if (rng.below(4) == 0) bad.resize(rng.below(bad.size() + 1));
    put(bad);
    try {
      const auto file = SafetensorsFile::open(path());
      for (const TensorView& view : file.tensors()) {  // what is accepted must be readable
        for (const std::byte b : view.bytes) sum += std::to_integer<unsigned>(b);
      }
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
  EXPECT_GT(sum, 0U);
}

TEST_F(SafetensorsTest, WriterRefusesWhatNoReaderWouldTake) {
  const std::vector<float> a{1.0F};
  EXPECT_THROW(write_safetensors(path(), {{"x", DType::kF32, {2}, bytes_of(a)}}, {}), FormatError);
  EXPECT_THROW(
      write_safetensors(
          path(), {{"x", DType::kF32, {1}, bytes_of(a)}, {"x", DType::kF32, {1}, bytes_of(a)}}, {}),
      FormatError);
  EXPECT_THROW(write_safetensors(path(), {{"__metadata__", DType::kF32, {1}, bytes_of(a)}}, {}),
               FormatError);
  EXPECT_THROW(write_safetensors(path(), {}, {{"k", "\xff\xfe"}}), FormatError);
  // Sizes whose product wraps round to the bytes that are there, or that are no sizes.
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{std::int64_t{1} << 62, 16}, {-1, -1}, {-1}, {0, -1}}) {
    EXPECT_THROW(safetensors_bytes({{"x", DType::kF32, shape, {}}}, {}, "memory"), FormatError);
  }
  EXPECT_THROW(safetensors_bytes({{"x", DType::kF32, {-1, -1}, bytes_of(a)}}, {}, "memory"),
               FormatError);
  EXPECT_THROW(safetensors_bytes({}, {{"k", std::string(100'000'000, 'v')}}, "memory"),
               FormatError);
  EXPECT_FALSE(std::filesystem::exists(path())) << "a refused write leaves nothing behind";
  EXPECT_THROW(write_safetensors(folder_ / "absent" / "t", {}, {}), IoError);
}

}  // namespace
}  // namespace foxhunt::model
