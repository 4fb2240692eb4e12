#include "fuzz/fuzz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <set>

#include "fuzz/mutate.h"

namespace foxhunt::fuzz {
namespace {

TEST(Mutate, GivesTheSameTextsForTheSameSeed) {
  const std::vector<std::string> corpus{"{\"a\": 12}", "x,y\n1,2\n"};
  Rng first(5);
  Rng second(5);
  std::set<std::string> texts;
  for (int i = 0; i < 500; ++i) {
    const std::string text = mutate(corpus[0], corpus, 64, first);
    EXPECT_EQ(text, mutate(corpus[0], corpus, 64, second));
    EXPECT_LE(text.size(), 64U);
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 400U);
}

TEST(Mutate, TakesTheEmptyTextAndNoOthers) {
  Rng rng(1);
  for (int i = 0; i < 200; ++i) EXPECT_LE(mutate("", {}, 16, rng).size(), 16U);
}

TEST(FuzzDeathTest, APropertyThatDoesNotHoldEndsTheProgram) {
  require(true, "this holds");
  EXPECT_DEATH(require(false, "one is two"), "does not hold: one is two");
}

TEST(FuzzDeathTest, AllocationsOverTheLimitEndTheProgram) {
  const AllocationLimit limit(100'000);
  for (int i = 0; i < 10; ++i) delete[] new char[90'000];  // what is given back does not count
  EXPECT_DEATH(
      {
        const std::string a(60'000, 'x');
        const std::string b(60'000, 'x');
      },
      "passes the target's limit");
  EXPECT_DEATH(::operator delete(::operator new (std::size_t{1} << 40)), "1099511627776 bytes");
}

}  // namespace
}  // namespace foxhunt::fuzz
