#include "foxhunt/config/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::config {
namespace {

using testing::HasSubstr;

enum class Kind { kCosine, kLinear };

struct Inner {
  std::int64_t d_model = 64;
  double dt_max = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> spans{1, 5};

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("d_model", c.d_model, 8, 4096, "channels of the residual stream");
    key("dt_max", c.dt_max, 0.0, std::numeric_limits<double>::infinity(),
        "upper limit of the step size");
    key("spans", c.spans, 1, 1000, "bars");
  }
};

struct Outer {
  std::string name = "a \"b\"\\";
  bool on = false;
  Kind kind = Kind::kCosine;
  double lr = 0.1;
  std::vector<std::string> files{"x"};
  Inner model;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("name", c.name, "any text");
    key("on", c.on, "a switch");
    key.choice("kind", c.kind, {{"cosine", Kind::kCosine}, {"linear", Kind::kLinear}}, "shape");
    key("lr", c.lr, 0.0, 1.0, "rate");
    key("files", c.files, "paths");
    key.section("model", c.model, "the model");
  }
};

std::string error_of(const std::string& text) {
  Outer config;
  FieldList list = fields_of(config);
  try {
    load_toml_text(list, text, "f.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Config, LoadsWhatIsNamedAndKeepsTheRest) {
  Outer config;
  FieldList list = fields_of(config);
  load_toml_text(list, "kind = 'linear'\n[model]\nd_model = 128\nspans = [2, 3, 4]\n", "f.toml");
  EXPECT_EQ(config.kind, Kind::kLinear);
  EXPECT_EQ(config.model.d_model, 128);
  EXPECT_EQ(config.model.spans, (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(config.lr, 0.1);
}

TEST(Config, NamesEveryErrorWithFileLineAndNearestName) {
  const std::string text = error_of("lr = 2.0\n[model]\nd_mdoel = 5\nspans = ['x']\n");
  EXPECT_THAT(text, HasSubstr("f.toml:1: lr = 2.0 is outside [0, 1]"));
  EXPECT_THAT(text,
              HasSubstr("f.toml:3: model: unknown key 'd_mdoel'; nearest valid name: 'd_model'"));
  EXPECT_THAT(text, HasSubstr("f.toml:4: model.spans"));
  EXPECT_THAT(text, HasSubstr("is not a whole number"));
  EXPECT_THAT(error_of("kind = 'step'\n"), HasSubstr("is none of cosine, linear"));
  EXPECT_THAT(error_of("d_model = 5\n"), HasSubstr("there is 'model.d_model'"));
  EXPECT_THAT(error_of("x = \n"), HasSubstr("f.toml:1:"));
  EXPECT_THAT(error_of("model = 3\n"), HasSubstr("model is a section"));
  EXPECT_THAT(error_of("lr = nan\n"), HasSubstr("is outside"));
}

TEST(Config, DumpReadsBackToTheSameHash) {
  Outer config;
  config.lr = 0.1 + 0.2;  // needs 17 digits
  config.name = "tab\t\"quote\" \\ and\nline";
  config.kind = Kind::kLinear;
  const std::string text = dump(config);
  Outer again;
  FieldList list = fields_of(again);
  load_toml_text(list, text, "dump");
  EXPECT_EQ(dump(again), text);
  EXPECT_EQ(again.lr, config.lr);
  EXPECT_TRUE(std::isinf(again.model.dt_max));
  EXPECT_EQ(hash_of(again), hash_of(config));
  load_toml_text(list, dump(config, /*comments=*/true), "commented");
  EXPECT_EQ(hash_of(again), hash_of(config));
  again.model.spans.push_back(9);
  EXPECT_NE(hash_of(again), hash_of(config));
}

struct Older {
  std::int64_t span = 5;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("span", c.span, 1, 9, "bars");
  }
};
struct Newer : Older {
  std::vector<std::string> plugins{};

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    Older::describe(c, key);
    key.later("plugins", c.plugins, "libraries");
  }
};

TEST(Config, AListThatCameLaterChangesNothingWhereItIsEmpty) {
  Newer config;
  EXPECT_EQ(dump(config), dump(Older{}));
  EXPECT_EQ(hash_of(config), hash_of(Older{}));
  EXPECT_THAT(dump(config, /*comments=*/true), HasSubstr("plugins = []"));
  EXPECT_THAT(json_schema(fields_of(config), "c"), HasSubstr("plugins"));
  EXPECT_THAT(help_markdown(fields_of(config)), HasSubstr("| `plugins` | list of strings | `[]`"));
  config.plugins = {"a \"b\".so", "c"};
  EXPECT_THAT(dump(config), HasSubstr("plugins = [\"a \\\"b\\\".so\", \"c\"]"));
  EXPECT_NE(hash_of(config), hash_of(Older{}));
  Newer again;
  FieldList list = fields_of(again);
  load_toml_text(list, dump(config), "dump");
  EXPECT_EQ(again.plugins, config.plugins);
  load_toml_text(list, dump(Newer{}, /*comments=*/true), "empty");
  EXPECT_TRUE(again.plugins.empty());
}

TEST(Config, OverridesTakeTomlValuesAndBareWords) {
  Outer config;
  FieldList list = fields_of(config);
  apply_override(list, "model.d_model=256");
  apply_override(list, "kind=linear");
  apply_override(list, "name=2020-01-01");
  apply_override(list, "model.spans=[7]");
  apply_override(list, "lr=1");
  EXPECT_EQ(config.model.d_model, 256);
  EXPECT_EQ(config.kind, Kind::kLinear);
  EXPECT_EQ(config.name, "2020-01-01");
  EXPECT_EQ(config.model.spans, std::vector<std::int64_t>{7});
  EXPECT_EQ(config.lr, 1.0);
  for (const char* bad : {"model.d_model=2", "model.d_mdoel=64", "lr", "model.d_model=x", "=1"}) {
    EXPECT_THROW(apply_override(list, bad), ConfigError) << bad;
  }
}

TEST(Config, EveryStringThatLoadsOrIsSetReadsBackFromTheDump) {
  const auto require_same = [](const Outer& config) {
    Outer again;
    FieldList list = fields_of(again);
    load_toml_text(list, dump(config), "dump");
    EXPECT_EQ(again.name, config.name);
  };
  for (int c = 0; c < 0xA0; ++c) {  // every control character, the printable ones, and C1
    Outer config;
    FieldList list = fields_of(config);
    load_toml_text(list, fmt::format("name = \"a\\u{:04X}b\"\n", c), "t");
    EXPECT_EQ(config.name.size(), c < 0x80 ? 3U : 4U);
    require_same(config);
    if (c == 0 || c >= 0x80) continue;
    apply_override(list, std::string("name=x") + static_cast<char>(c) + "y");
    EXPECT_EQ(config.name, std::string("x") + static_cast<char>(c) + "y");
    require_same(config);
  }
}

TEST(Config, OverridesRefuseBytesThatAreNoText) {
  Outer config;
  FieldList list = fields_of(config);
  EXPECT_THROW(apply_override(list, "name=\xFF\xFE"), ConfigError);
  EXPECT_THROW(apply_override(list, "name=\"\xC3\""), ConfigError);
  apply_override(list, "name=\xC3\xA9");
  EXPECT_EQ(config.name, "\xC3\xA9");
}

TEST(Config, AnOverrideSetsItsOwnKeyAndNoOther) {
  Outer config;
  FieldList list = fields_of(config);
  EXPECT_THROW(apply_override(list, "model.d_model=256\nlr=1"), ConfigError);
  apply_override(list, "name=a\nb = 1");
  EXPECT_EQ(config.name, "a\nb = 1");
}

TEST(Config, SchemaIsJsonAndNamesEveryKey) {
  Outer config;
  const auto schema = nlohmann::json::parse(json_schema(fields_of(config), "t"));
  EXPECT_EQ(schema["properties"]["model"]["properties"]["d_model"]["minimum"], 8);
  EXPECT_EQ(schema["properties"]["kind"]["enum"][1], "linear");
  EXPECT_EQ(schema["properties"]["model"]["additionalProperties"], false);
  EXPECT_THAT(help_markdown(fields_of(config)),
              HasSubstr("| `d_model` | integer | `64` | [8, 4096] |"));
}

}  // namespace
}  // namespace foxhunt::config
