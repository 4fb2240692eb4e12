#include "foxhunt/columns/peer_process.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::columns {
namespace {

TEST(PeerProcess, AnswersALineForALine) {
  PeerProcess peer({"/bin/sh", "-c", "while read line; do echo \"got $line\"; done"});
  EXPECT_EQ(peer.ask("one"), "got one");
  EXPECT_EQ(peer.ask("two words"), "got two words");
}

TEST(PeerProcess, ThatEndsIsAnError) {
  PeerProcess peer({"/bin/sh", "-c", "read line; echo once"});
  EXPECT_EQ(peer.ask("one"), "once");
  EXPECT_THROW(peer.ask("two"), UsageError);
  EXPECT_THROW(PeerProcess({"/no/such/program"}), UsageError);
}

}  // namespace
}  // namespace foxhunt::columns
