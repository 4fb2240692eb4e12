// The leak proof inside of a bundle: it travels byte for byte, and only where it fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/bundle/leak_proof.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/config/config.h"

namespace foxhunt::bundle {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string proof_for(const ModelContext& context, const std::function<void(Json&)>& change = {}) {
  Json json{{"foxhunt.leakproof", "1"},
            {"proven", true},
            {"first", ""},
            {"subject",
             {{"product", context.product},
              {"symbol", ""},
              {"data", Json::array({{{"sha256", "d1"}}})},
              {"reading_sha256", "r"},
              {"schema_sha256", context.schema.hash()},
              {"features_sha256", config::hash_of(context.features)},
              {"label_sha256", config::hash_of(context.label)},
              {"split_sha256", "c"}}}};
  if (change) change(json);
  json["sha256"] = leak_proof_seal(json.dump(), "test");
  return json.dump(2) + "\n";
}

Bundle parsed(const std::string& bytes) {
  return parse_bundle(std::as_bytes(std::span(bytes)), "es.fox");
}

TEST(BundleLeakProof, TravelsByteForByteAndMayLack) {
  Bundle bundle = test::small_bundle();
  EXPECT_EQ(parsed(bundle_bytes(bundle, "es.fox")).leak_proof_json, "");
  bundle.leak_proof_json = proof_for(bundle.context);
  const std::string bytes = bundle_bytes(bundle, "es.fox");
  const Bundle back = parsed(bytes);
  EXPECT_EQ(back.leak_proof_json, bundle.leak_proof_json);
  EXPECT_EQ(bundle_bytes(back, "es.fox"), bytes);
}

TEST(BundleLeakProof, OfAnotherModelOrOfALeakIsRefused) {
  const auto refuses = [](const char* why, const std::function<void(Json&)>& change) {
    Bundle bundle = test::small_bundle();
    bundle.leak_proof_json = proof_for(bundle.context, change);
    EXPECT_THAT(
        [&] { bundle_bytes(bundle, "es.fox"); },
        ThrowsMessage<FormatError>(testing::AllOf(HasSubstr("foxhunt.leakproof"), HasSubstr(why))));
  };
  refuses("of a leak: vol_60", [](Json& json) {
    json["proven"] = false;
    json["first"] = "vol_60";
  });
  for (const char* field : {"product", "schema_sha256", "features_sha256", "label_sha256"})
    refuses("another model", [&](Json& json) { json["subject"][field] = "x"; });
}

TEST(BundleLeakProof, WithABrokenSealIsRefused) {
  Bundle bundle = test::small_bundle();
  std::string text = proof_for(bundle.context);
  text.replace(text.find("\"d1\""), 4, "\"d2\"");
  bundle.leak_proof_json = text;
  EXPECT_THAT([&] { bundle_bytes(bundle, "es.fox"); },
              ThrowsMessage<FormatError>(HasSubstr("changed after it was written")));
}

}  // namespace
}  // namespace foxhunt::bundle
