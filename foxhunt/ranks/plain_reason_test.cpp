#include "foxhunt/ranks/plain_reason.h"

#include <gtest/gtest.h>

namespace foxhunt::ranks {
namespace {

TEST(PlainReason, SaysWhatHappenedToTheConnectionAndNotWhereInGloo) {
  EXPECT_EQ(plain_reason("[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed "
                         "by peer [127.0.0.1]:35642\nmore"),
            "the connection to 127.0.0.1 was closed");
  EXPECT_EQ(plain_reason("[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Read error "
                         "[10.0.0.2]:41000: Connection reset by peer"),
            "the connection to 10.0.0.2 broke: Connection reset by peer");
  EXPECT_EQ(plain_reason("[gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800ms for "
                         "recv operation to complete"),
            "nothing came for 1800 ms");
}

TEST(PlainReason, OtherMessagesLoseTheirPlaceAlone) {
  EXPECT_EQ(plain_reason("[enforce fail at gloo/context.cc:27] rank < size. 3 vs 2"),
            "rank < size. 3 vs 2");
  EXPECT_EQ(plain_reason("gloo/context.cc:27: no such rank"), "no such rank");
  EXPECT_EQ(plain_reason("[ranks] no such file"), "[ranks] no such file");
  EXPECT_EQ(plain_reason(""), "");
}

}  // namespace
}  // namespace foxhunt::ranks
