#include "foxhunt/ledger/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/ledger/temporary_ledger.h"

namespace foxhunt::ledger {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Registry : testing::Test {
  test::Folder folder;
  Ledger ledger = Ledger::open_to_write(folder / "ledger.db");

  Model a_bundle(const std::string& name, const std::string& bytes) {
    const auto path = folder / (name + ".fox");
    write_file_atomic(path, bytes);
    return register_model(ledger, {.name = name,
                                   .kind = "bundle",
                                   .path = path,
                                   .id = sha256_of("id " + bytes),
                                   .file_sha256 = sha256_of(bytes),
                                   .weights_sha256 = sha256_of("weights " + name),
                                   .certificate = R"({"parity":{"rows":3}})"});
  }
};

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Registry, AModelIsFoundByNameAndByAnyOfItsHashes) {
  const Model first = a_bundle("es", "one");
  const Model second = a_bundle("es", "two");
  EXPECT_EQ(find_model(ledger, "es").id, second.id) << "the newest of the name";
  EXPECT_EQ(find_model(ledger, first.id.substr(0, 6)).id, first.id);
  EXPECT_EQ(find_model(ledger, second.file_sha256).id, second.id);
  EXPECT_THAT(error_of([&] { find_model(ledger, first.weights_sha256.substr(0, 8)); }),
              HasSubstr("could be"));
  EXPECT_THAT(error_of([&] { find_model(ledger, first.id.substr(0, 5)); }),
              HasSubstr("at least 6 digits"));
  a_bundle("standard", "three");
  EXPECT_THAT(error_of([&] { find_model(ledger, "standrad"); }), HasSubstr("'standard'"));
}

TEST_F(Registry, RegisteringTheSameAgainAddsNothing) {
  const Model first = a_bundle("es", "one");
  EXPECT_EQ(a_bundle("es", "one").seq, first.seq);
  EXPECT_EQ(models(ledger).size(), 1U);
  a_bundle("es", "two");
  EXPECT_EQ(a_bundle("es", "one").seq, 3) << "back again is news";
}

TEST_F(Registry, PromotesNoRunNoUnprovenBundleAndNoFileThatIsGoneOrChanged) {
  const Model run = register_model(ledger, {.name = "run", .kind = "run", .id = "r"});
  Model unproven = a_bundle("unproven", "x");
  unproven.certificate = "";
  const Model gone = a_bundle("gone", "y");
  std::filesystem::remove(gone.path);
  const Model changed = a_bundle("changed", "z");
  write_file_atomic(changed.path, "Z");
  const std::map<std::string, const Model*> cases{{"not a bundle", &run},
                                                  {"no certificate", &unproven},
                                                  {"is gone", &gone},
                                                  {"SHA-256 differs", &changed}};
  for (const auto& [why, model] : cases) {
    EXPECT_THAT(error_of([&] { promote(ledger, *model, "prod", "", false); }), HasSubstr(why));
    EXPECT_THAT(promotions(ledger, "prod"), IsEmpty());
  }
  for (const auto& [why, model] : cases)
    EXPECT_THAT(promote(ledger, *model, "prod", "", true).forced, HasSubstr(why));
  EXPECT_EQ(promotions(ledger, "prod").size(), 4U) << "what was forced is recorded";
  EXPECT_EQ(promote(ledger, a_bundle("good", "g"), "prod", "", true).forced, "")
      << "nothing to force";
}

TEST_F(Registry, NamesAreLettersDigitsAndThreeMore) {
  const Model model = a_bundle("es", "one");
  for (const char* bad : {"", "a b", "a/b", "ä", "prod\n"})
    EXPECT_THAT(error_of([&] { promote(ledger, model, bad, "", false); }), HasSubstr("letters"));
}

// Which model an alias named at an instant, against a plain walk over everything that was done.
TEST_F(Registry, HistoryAnswersForEveryInstantLikeAListThatWasKept) {
  Rng rng(3);
  const std::vector<Model> known{a_bundle("a", "1"), a_bundle("b", "2"), a_bundle("c", "3")};
  const std::vector<std::string> aliases{"prod", "test"};
  std::vector<Promotion> done;
  for (int i = 0; i < 40; ++i)
    done.push_back(promote(ledger, known[rng.below(3)], aliases[rng.below(2)], "", false));
  std::vector<UnixNanos> instants{kNullTime, from_nanos(0), UnixNanos::max()};
  for (const Promotion& p : done) {
    for (const int shift : {-1, 0, 1}) instants.push_back(p.at + std::chrono::nanoseconds{shift});
  }
  for (const std::string& alias : aliases) {
    const std::vector<Promotion> history = promotions(Ledger::open(ledger.path()), alias);
    for (const UnixNanos t : instants) {
      const Promotion* expected = nullptr;
      for (const Promotion& p : done) {
        if (p.alias == alias && p.at <= t) expected = &p;
      }
      const std::optional<Promotion> found = promoted_at(history, t);
      ASSERT_EQ(found.has_value(), expected != nullptr) << to_string(t);
      if (expected != nullptr) {
        EXPECT_EQ(found->seq, expected->seq) << to_string(t);
      }
    }
  }
}

TEST_F(Registry, RollingBackIsAnotherPromotion) {
  const Model first = a_bundle("first", "1");
  const Model second = a_bundle("second", "2");
  promote(ledger, first, "prod", "start", false);
  promote(ledger, second, "prod", "better", false);
  promote(ledger, first, "prod", "rollback", false);
  const std::vector<Promotion> history = promotions(ledger, "prod");
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history.back().model, first.id);
  EXPECT_EQ(history.back().note, "rollback");
  EXPECT_EQ(promoted_at(history, history[1].at)->model, second.id);
}

}  // namespace
}  // namespace foxhunt::ledger
