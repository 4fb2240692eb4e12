// What is sealed but breaks a rule: a digest says nothing about who wrote the bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/bundle/digest.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::bundle {
namespace {

using model::DType;
using model::TensorView;
using testing::HasSubstr;

std::span<const std::byte> span_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A good bundle taken apart, for a test to change and put together under a digest that fits.
class Parts {
 public:
  Parts()
      : bytes_(bundle_bytes(test::small_bundle(), "es.fox")),
        file_(model::SafetensorsFile::from_bytes(span_of(bytes_), "es.fox")),
        tensors(file_.tensors()),
        metadata(file_.metadata()) {}

  TensorView& tensor(const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &TensorView::name);
    EXPECT_NE(found, tensors.end()) << name;
    return *found;
  }
  /// The tensor's bytes, to be changed.
  std::string& data(const std::string& name) {
    TensorView& view = tensor(name);
    std::string& kept = kept_[name];
    kept.assign(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size());
    view.bytes = span_of(kept);
    return kept;
  }
  template <class T>
  void put(const std::string& name, std::size_t index, T value) {
    std::memcpy(data(name).data() + index * sizeof value, &value, sizeof value);
  }
  std::string message() {
    metadata["foxhunt.sha256"] = std::string(64, '0');
    std::string bytes = model::safetensors_bytes(tensors, metadata, "es.fox");
    seal(bytes, "es.fox");
    try {
      parse_bundle(span_of(bytes), "es.fox");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  std::string bytes_;
  model::SafetensorsFile file_;
  std::map<std::string, std::string> kept_;

 public:
  std::vector<TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

std::string message_after(const std::function<void(Parts&)>& change) {
  Parts parts;
  change(parts);
  return parts.message();
}
std::string with_entry(const std::string& key, const std::string& value) {
  return message_after([&](Parts& parts) { parts.metadata[key] = value; });
}

TEST(BundleRefusals, AcceptTheBundleThatNothingWasChangedIn) {
  EXPECT_EQ(message_after([](Parts&) {}), "no error");
  EXPECT_EQ(with_entry("author", "a person"), "no error") << "what others add is theirs";
}

TEST(BundleRefusals, NeedEveryEntryOfTheMetadata) {
  const Parts good;
  for (const auto& [key, value] : good.metadata) {
    if (!key.starts_with("foxhunt.") || key == "foxhunt.sha256") continue;
    const std::string text = message_after([&](Parts& parts) { parts.metadata.erase(key); });
    EXPECT_THAT(text, testing::AllOf(HasSubstr("es.fox"), HasSubstr(key)));
    if (key == "foxhunt.config_sha256" || key == "foxhunt.git_revision") continue;  // free text
    EXPECT_NE(with_entry(key, "{"), "no error") << key;
  }
  EXPECT_EQ(good.metadata.size(), 18U) << "the loop saw them all";
}

TEST(BundleRefusals, KnowEveryNameBelowTheirOwn) {
  EXPECT_THAT(with_entry("foxhunt.surprise", "1"), HasSubstr("'foxhunt.surprise'"));
  EXPECT_THAT(with_entry("foxhunt.", "1"), HasSubstr("does not know"));
}

TEST(BundleRefusals, KnowOneVersion) {
  for (const char* version : {"2", "", "1.0", " 1", "01"})
    EXPECT_THAT(with_entry("foxhunt.bundle", version), HasSubstr("this program reads '1'"));
  EXPECT_THAT(with_entry("foxhunt.format", "2"), HasSubstr("foxhunt.format is '2'"));
  EXPECT_THAT(with_entry("foxhunt.model_version", "2"), HasSubstr("model version '2'"));
}

TEST(BundleRefusals, NameTextsThatCannotBeRead) {
  EXPECT_THAT(with_entry("foxhunt.weights", "fp8"), HasSubstr("fp32, fp16, bf16, int8"));
  for (const char* key : {"foxhunt.training", "foxhunt.latency"}) {
    for (const char* text : {"", "[]", "{", "{} {}", "null", "{\"a\":NaN}"})
      EXPECT_THAT(with_entry(key, text), HasSubstr(std::string(key) + " is not a JSON object"));
  }
  EXPECT_THAT(with_entry("foxhunt.schema", "[1]"), HasSubstr("es.fox: [schema]"));
  EXPECT_THAT(with_entry("foxhunt.normalizer", "{}"), HasSubstr("es.fox: [normalizer]"));
  EXPECT_THAT(with_entry("foxhunt.label", "horizon = 0"), HasSubstr("es.fox: foxhunt.label:1"));
}

TEST(BundleRefusals, TakeNoDefaultForAKeyThatIsNotThere) {
  EXPECT_THAT(with_entry("foxhunt.label", ""), HasSubstr("foxhunt.label does not list every key"));
  EXPECT_THAT(with_entry("foxhunt.features", "bar_seconds = 60"),
              HasSubstr("foxhunt.features does not list every key"));
}

TEST(BundleRefusals, WantACertificateThatMeetsItsBound) {
  const auto with = [](const char* key, double value) {
    return message_after([&](Parts& parts) {
      auto json = nlohmann::json::parse(parts.metadata.at("foxhunt.certificate"));
      json[key] = value;
      parts.metadata["foxhunt.certificate"] = json.dump();
    });
  };
  EXPECT_EQ(with("max_difference", 0.02), "no error");
  EXPECT_THAT(with("max_difference", 0.021), HasSubstr("do not meet its bound"));
  EXPECT_THAT(with_entry("foxhunt.certificate", Certificate{}.to_json()),
              HasSubstr("do not meet its bound"));
}

TEST(BundleRefusals, WantEveryTensorOfTheModelAndNoOther) {
  const Parts good;
  for (const TensorView& view : good.tensors) {
    const std::string text = message_after([&](Parts& parts) {
      std::erase_if(parts.tensors,
                    [&](const TensorView& other) { return other.name == view.name; });
    });
    EXPECT_THAT(text, HasSubstr("es.fox: has no tensor '" + view.name + "'"));
  }
  const auto with = [](const char* name) {
    return message_after([&](Parts& parts) {
      parts.tensors.push_back({name, DType::kF32, {0}, {}});
    });
  };
  EXPECT_THAT(with("backbone.layers.1.norm.weight"), HasSubstr("does not belong to the model"));
  EXPECT_THAT(with("foxhunt.golden.more"), HasSubstr("does not belong to the model"));
}

TEST(BundleRefusals, WantTheDtypeAndTheShapeOfEveryTensor) {
  const Parts good;
  for (const TensorView& view : good.tensors) {
    const std::string shape =
        message_after([&](Parts& parts) { parts.tensor(view.name).shape.push_back(1); });
    EXPECT_THAT(shape, HasSubstr("tensor '" + view.name + "' is "));
    const std::string dtype = message_after([&](Parts& parts) {
      TensorView& other = parts.tensor(view.name);  // of the same size in bytes
      other.dtype = view.dtype == DType::kF32   ? DType::kI32
                    : view.dtype == DType::kI64 ? DType::kF64
                                                : DType::kBool;
    });
    EXPECT_THAT(dtype, HasSubstr("tensor '" + view.name + "' is ")) << "must not be reinterpreted";
  }
}

TEST(BundleRefusals, TakeNoWeightThatIsNotFinite) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    for (const char* name : {"head.bias", "foxhunt.golden.outputs"}) {
      const std::string text = message_after([&](Parts& parts) { parts.put(name, 1, value); });
      EXPECT_THAT(text, HasSubstr("tensor '" + std::string(name) + "': value 1 is "));
    }
  }
}

TEST(BundleRefusals, WantGoldenRowsThatFitEachOther) {
  EXPECT_THAT(message_after([](Parts& p) { p.put("foxhunt.golden.ready", 0, std::uint8_t{2}); }),
              HasSubstr("value 0 is 2, but must be 0 or 1"));
  EXPECT_THAT(message_after([](Parts& p) { p.put("foxhunt.golden.ready", 0, std::uint8_t{1}); }),
              HasSubstr("'foxhunt.golden.outputs' is F32 [3, 3], but must be F32 [4, 3]"));
  EXPECT_THAT(message_after([](Parts& p) {
                p.data("foxhunt.golden.ready").pop_back();
                p.tensor("foxhunt.golden.ready").shape = {11};
                p.tensor("foxhunt.golden.ready").bytes =
                    p.tensor("foxhunt.golden.ready").bytes.first(11);
              }),
              HasSubstr("'foxhunt.golden.ready' is U8 [11], but must be U8 [12]"));
  EXPECT_THAT(message_after([](Parts& p) {
                for (const char* name : {"foxhunt.golden.bars", "foxhunt.golden.ready"}) {
                  p.tensor(name).shape[0] = 0;
                  p.tensor(name).bytes = {};
                }
              }),
              HasSubstr("nothing to verify"));
  EXPECT_THAT(message_after([](Parts& p) {
                p.data("foxhunt.golden.ready").assign(12, '\0');
                p.tensor("foxhunt.golden.outputs").shape[0] = 0;
                p.tensor("foxhunt.golden.outputs").bytes = {};
              }),
              HasSubstr("nothing to verify"));
}

TEST(BundleRefusals, WantBarsThatAReaderCouldHandOut) {
  const auto with = [](std::size_t column, std::int64_t value) {
    return message_after([&](Parts& p) { p.put("foxhunt.golden.bars", 9 + column, value); });
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(with(0, -1), HasSubstr("row 1, column 0 is -1, but must be in [0, 65535]"));
  EXPECT_THAT(with(0, 65536), HasSubstr("row 1, column 0"));
  EXPECT_THAT(with(1, std::int64_t{1} << 32), HasSubstr("row 1, column 1"));
  EXPECT_THAT(with(3, 0), HasSubstr("row 1, column 3"));
  EXPECT_THAT(with(3, -kMost - 1), HasSubstr("row 1, column 3"));
  for (const std::size_t column : {2U, 4U, 5U, 6U, 7U, 8U}) {
    EXPECT_EQ(with(column, kMost), "no error") << column;
    EXPECT_EQ(with(column, -kMost - 1), "no error") << column;
  }
}

TEST(BundleRefusals, WantAModelThatCanAnswerBars) {
  const auto head_with = [](const char* key, const nlohmann::json& value) {
    return message_after([&](Parts& parts) {
      auto json = nlohmann::json::parse(parts.metadata.at("foxhunt.head"));
      json[key] = value;
      parts.metadata["foxhunt.head"] = json.dump();
    });
  };
  EXPECT_THAT(head_with("n_features", 3), HasSubstr("columns, but the model takes 3 features"));
  EXPECT_THAT(head_with("kind", "tokens"), HasSubstr("token model"));
  EXPECT_THAT(head_with("n_classes", 4), HasSubstr("'head.weight' is F32 [3, 4]"));
  Parts parts;
  auto json = nlohmann::json::parse(parts.metadata.at("foxhunt.mamba2"));
  json["headdim"] = 3;
  parts.metadata["foxhunt.mamba2"] = json.dump();
  EXPECT_THAT(parts.message(), HasSubstr("headdim"));
}

TEST(BundleRefusals, AreThoseOfTheWriterToo) {
  const auto refused = [](const std::function<void(Bundle&)>& change) {
    Bundle bundle = test::small_bundle();
    change(bundle);
    try {
      bundle_bytes(bundle, "es.fox");
    } catch (const FormatError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused([](Bundle&) {}));
  EXPECT_TRUE(refused([](Bundle& b) { b.weights.erase("head.bias"); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.weights["head.more"] = {1}; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.weights["head.bias"].push_back(1); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.weights["head.bias"][0] = std::nanf(""); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.golden.outputs.pop_back(); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.golden.ready.pop_back(); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.golden = {}; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.certificate.parity.max_difference = std::nan(""); }));
  EXPECT_TRUE(refused([](Bundle& b) { b.certificate.parity.decision_flips = 3; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.training_json = ""; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.training_json = "{\"a\":\"\xff\"}"; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.config.headdim = 3; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.head.n_classes = 0; }));
  EXPECT_TRUE(refused([](Bundle& b) { b.context.label.horizon = 0; }));
}

}  // namespace
}  // namespace foxhunt::bundle
