// Rings by name: making, opening, roles, and what is refused.
#include "foxhunt/serve/shared_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/serve/slots.h"

namespace foxhunt::serve {
namespace {

class SharedRingTest : public testing::Test {
 protected:
  SharedRingTest()
      : name_("fxunit-" + std::to_string(::getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~SharedRingTest() override { ::shm_unlink(("/" + name_).c_str()); }

  std::unique_ptr<SharedRing> open(RingRole role, std::uint64_t capacity = 16) const {
    return open_ring<RecordSlot>(name_, role, RingKind::kRecords, capacity);
  }
  template <class Error, class Call>
  static std::string refusal(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string name_;
};

TEST_F(SharedRingTest, BothSidesSeeOneRingWhoeverMakesIt) {
  const auto consumer = open(RingRole::kConsumer, 32);
  const auto producer = open(RingRole::kProducer, 16);
  EXPECT_EQ(producer->header().capacity, 32U) << "who comes second takes what is there";
  EXPECT_EQ(producer->header().id, consumer->header().id);
  RingProducer<RecordSlot> in(producer->memory());
  in.push({.start = 5});
  const RingConsumer<RecordSlot> out(consumer->memory());
  ASSERT_NE(out.front(), nullptr);
  EXPECT_EQ(out.front()->start, 5);
}

TEST_F(SharedRingTest, ARoleIsTakenOnceAndIsFreeAgainWhenItsProcessDies) {
  const auto consumer = open(RingRole::kConsumer);
  EXPECT_FALSE(consumer->other_side_alive());
  EXPECT_NE(refusal<UsageError>([&] { open(RingRole::kConsumer); }).find("has a consumer already"),
            std::string::npos);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto producer = open(RingRole::kProducer);
    [[maybe_unused]] const ssize_t n = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(consumer->other_side_alive());
  EXPECT_NE(refusal<UsageError>([&] {
              open(RingRole::kProducer);
            }).find("process " + std::to_string(child)),
            std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(consumer->other_side_alive());
  EXPECT_NO_THROW(open(RingRole::kProducer));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(SharedRingTest, RefusesWhatIsNoRingOfThisKind) {
  EXPECT_NE(refusal<ConfigError>([&] { open(RingRole::kConsumer, 24); }).find("power of two"),
            std::string::npos);
  EXPECT_THROW(open_ring<RecordSlot>("a/b", RingRole::kConsumer, RingKind::kRecords, 16),
               ConfigError);
  EXPECT_THROW(open_ring<RecordSlot>("", RingRole::kConsumer, RingKind::kRecords, 16), ConfigError);
  const auto ring = open(RingRole::kConsumer);
  EXPECT_NE(refusal<FormatError>([&] {
              open_ring<AnswerSlot>(name_, RingRole::kProducer, RingKind::kAnswers, 16);
            }).find("it holds bars, expected answers"),
            std::string::npos);
  EXPECT_NE(refusal<FormatError>([&] {
              open_ring<OrderSlot>(name_, RingRole::kProducer, RingKind::kOrders, 16);
            }).find("it holds bars, expected order events"),
            std::string::npos);
  const auto breaks = [&](auto& field, auto value, const std::string& what) {
    const auto before = field;
    field = value;
    EXPECT_NE(refusal<FormatError>([&] { open(RingRole::kProducer); }).find(what),
              std::string::npos)
        << what;
    field = before;
  };
  breaks(ring->header().version, 2U, "version");
  breaks(ring->header().kind, 9U, "kind 9, which this program does not know");
  breaks(ring->header().payload_bytes, 4U, "payload");
  breaks(ring->header().slot_bytes, 64U, "slot size");
  breaks(ring->header().capacity, std::uint64_t{15}, "capacity");
  breaks(ring->header().capacity, std::uint64_t{1} << 40U, "capacity");
  breaks(ring->header().capacity, std::uint64_t{32}, "size");
  EXPECT_NO_THROW(open(RingRole::kProducer));
}

TEST_F(SharedRingTest, RefusesAFileThatNeverBecomesARing) {
  const int fd = ::shm_open(("/" + name_).c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, 100), 0);
  ::close(fd);
  EXPECT_NE(refusal<FormatError>([&] { open(RingRole::kProducer); }).find("no ring"),
            std::string::npos);
}

}  // namespace
}  // namespace foxhunt::serve
