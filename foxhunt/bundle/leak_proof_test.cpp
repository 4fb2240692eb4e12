#include "foxhunt/bundle/leak_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::bundle {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Json content() {
  return {{"foxhunt.leakproof", "1"},
          {"proven", true},
          {"first", ""},
          {"subject",
           {{"product", "ES"},
            {"symbol", ""},
            {"data", Json::array({{{"file", "a"}, {"sha256", "d1"}}})},
            {"reading_sha256", "r"},
            {"schema_sha256", "s"},
            {"features_sha256", "f"},
            {"label_sha256", "l"},
            {"split_sha256", "c"}}}};
}

std::string sealed(Json json, int indent = 2) {
  json["sha256"] = leak_proof_seal(json.dump(), "test");
  return json.dump(indent);
}

TEST(LeakProof, ReadsWhatWasSealedHoweverItIsLaidOut) {
  for (const int indent : {-1, 2, 8}) {
    const LeakProof proof = parse_leak_proof(sealed(content(), indent), "file");
    EXPECT_TRUE(proof.proven);
    EXPECT_EQ(proof.subject.product, "ES");
    EXPECT_THAT(proof.subject.data, ElementsAre("d1"));
    EXPECT_EQ(proof.subject.split, "c");
  }
}

TEST(LeakProof, EveryChangedValueBreaksTheSeal) {
  const Json good = Json::parse(sealed(content()));
  const Json flat = good.flatten();
  for (const auto& [place, value] : flat.items()) {
    if (place == "/foxhunt.leakproof") continue;  // another version, refused as such
    Json bad = good;
    Json& there = bad[Json::json_pointer(place)];
    if (there.is_boolean()) {
      there = !there.get<bool>();
    } else {
      there = there.get<std::string>() + "x";
    }
    EXPECT_THAT([&] { parse_leak_proof(bad.dump(), "file"); },
                ThrowsMessage<FormatError>(HasSubstr("changed after it was written")))
        << place;
  }
  Json more = good;
  more["note"] = "added";
  EXPECT_THROW(parse_leak_proof(more.dump(), "file"), FormatError);
}

TEST(LeakProof, RefusesByFieldWhatIsNoProof) {
  const auto refuses = [](const Json& json, const char* why) {
    EXPECT_THAT([&] { parse_leak_proof(sealed(json), "the file"); },
                ThrowsMessage<FormatError>(testing::AllOf(HasSubstr("the file"), HasSubstr(why))));
  };
  for (const char* field : {"proven", "first", "subject"}) {
    Json json = content();
    json.erase(field);
    refuses(json, field);
  }
  Json json = content();
  json["foxhunt.leakproof"] = "2";
  refuses(json, "version 2");
  json = content();
  json["subject"].erase("label_sha256");
  refuses(json, "label_sha256");
  json = content();
  json["proven"] = "yes";
  refuses(json, "proven");
  EXPECT_THROW(parse_leak_proof("[]", "file"), FormatError);
  EXPECT_THROW(parse_leak_proof("{", "file"), FormatError);
}

TEST(LeakProof, NamesEveryDifference) {
  const ProofSubject proven = parse_leak_proof(sealed(content()), "file").subject;
  EXPECT_THAT(differences(proven, proven), IsEmpty());
  ProofSubject here = proven;
  here.data = {"d2", "d3"};
  here.label = "other";
  EXPECT_THAT(differences(proven, here),
              ElementsAre(HasSubstr("number of data files"), HasSubstr("data file 1"),
                          HasSubstr("[label]")));
  for (std::string ProofSubject::*field :
       {&ProofSubject::product, &ProofSubject::symbol, &ProofSubject::reading,
        &ProofSubject::schema, &ProofSubject::features, &ProofSubject::label,
        &ProofSubject::split}) {
    ProofSubject one = proven;
    one.*field += "x";
    EXPECT_EQ(differences(proven, one).size(), 1U);
  }
}

TEST(LeakProof, SpeaksOfEverySplitThatItNames) {
  Json json = content();
  json["subject"]["more_splits"] =
      Json::array({{{"name", "fold 1"}, {"sha256", "c1"}}, {{"name", "fold 2"}, {"sha256", "c2"}}});
  const ProofSubject proven = parse_leak_proof(sealed(json), "file").subject;
  EXPECT_EQ(proven.more_splits.at(1).name, "fold 2");
  ProofSubject here = proven;
  for (const char* split : {"c", "c1", "c2"}) {
    here.split = split;
    EXPECT_THAT(differences(proven, here), IsEmpty()) << split;
  }
  here.split = "c3";
  EXPECT_THAT(differences(proven, here), ElementsAre(HasSubstr("[split]")));
  json["subject"]["more_splits"][0].erase("sha256");
  EXPECT_THROW(parse_leak_proof(sealed(json), "file"), FormatError);
}

}  // namespace
}  // namespace foxhunt::bundle
