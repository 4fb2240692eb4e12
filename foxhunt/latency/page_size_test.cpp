#include "foxhunt/latency/page_size.h"

#include <gtest/gtest.h>

namespace foxhunt::latency {
namespace {

constexpr std::string_view kSmaps =
    "55d0c0000000-55d0c0021000 r--p 00000000 08:01 131 [heap]\n"
    "Size:                132 kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\n"
    "AnonHugePages:         0 kB\nVmFlags: rd wr mr\n"
    "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"
    "Size:               2048 kB\nKernelPageSize:        4 kB\nAnonHugePages:      2048 kB\n"
    "7f0000400000-7f0000800000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\nKernelPageSize:        4 kB\nAnonHugePages:      2048 kB\n"
    "7f0001000000-7f0001400000 rw-s 00000000 00:0f 1 /anon_hugepage (deleted)\n"
    "Size:               4096 kB\nKernelPageSize:     2048 kB\nAnonHugePages:         0 kB\n";

TEST(PageSize, IsThatOfTheMappingAroundTheAddress) {
  EXPECT_EQ(page_size_in(kSmaps, 0x55d0c0000000), "4 KB");
  EXPECT_EQ(page_size_in(kSmaps, 0x55d0c0020fff), "4 KB");
  EXPECT_EQ(page_size_in(kSmaps, 0x7f0000000001), "2 MB");
  EXPECT_EQ(page_size_in(kSmaps, 0x7f0000400000), "4 KB and 2 MB (2048 of 4096 KB)");
  EXPECT_EQ(page_size_in(kSmaps, 0x7f0001000000), "2 MB");
}

TEST(PageSize, OfNoMappingOrNoTextIsUnknown) {
  EXPECT_EQ(page_size_in(kSmaps, 0x55d0c0021000), "unknown");  // ends are not inside
  EXPECT_EQ(page_size_in(kSmaps, 0), "unknown");
  EXPECT_EQ(page_size_in("", 1), "unknown");
  EXPECT_EQ(page_size_in("0-ff rw-p", 5), "unknown");
  EXPECT_EQ(page_size_in("garbage\nSize: 4 kB\nKernelPageSize: 4 kB\n", 5), "unknown");
}

TEST(PageSize, OfThisStackIsASizeOrUnknown) {
  const int here = 0;
  const std::string size = page_size_of(&here);
  EXPECT_TRUE(size == "unknown" || size.find('B') != std::string::npos) << size;
}

}  // namespace
}  // namespace foxhunt::latency
