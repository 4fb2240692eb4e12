#include "foxhunt/train/memory/byte_size.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

TEST(ByteSize, TakesWhatPeopleWrite) {
  EXPECT_EQ(parse_byte_size("0"), 0);
  EXPECT_EQ(parse_byte_size("1000000"), 1'000'000);
  EXPECT_EQ(parse_byte_size("4GB"), 4'000'000'000);
  EXPECT_EQ(parse_byte_size("4 gb"), 4'000'000'000);
  EXPECT_EQ(parse_byte_size("4g"), 4'000'000'000);
  EXPECT_EQ(parse_byte_size("4GiB"), 4'294'967'296);
  EXPECT_EQ(parse_byte_size("512MiB"), 536'870'912);
  EXPECT_EQ(parse_byte_size("1.5GB"), 1'500'000'000);
  EXPECT_EQ(parse_byte_size("0.5KiB"), 512);
  EXPECT_EQ(parse_byte_size("2TB"), 2'000'000'000'000);
  EXPECT_EQ(parse_byte_size("17 B"), 17);
}

TEST(ByteSize, RefusesTheRestAndNamesIt) {
  for (const char* text :
       {"", "GB", "four GB", "4XB", "4GB8", "-1GB", "1e30GB", "nan", "inf", "4,5GB", "0x10"}) {
    try {
      parse_byte_size(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace foxhunt::train
