#include "foxhunt/model/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::model {
namespace {

using testing::HasSubstr;

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// A transformers config with one value of its own.
std::string transformers(const std::string& extra) {
  return R"({"model_type":"mamba2","hidden_size":32,"num_hidden_layers":3,"state_size":16,"head_dim":8,"n_groups":2,)"
         R"("num_heads":8,"vocab_size":48,"expand":2)" +
         (extra.empty() ? "" : "," + extra) + "}";
}

TEST(HfConfig, ReadsTheConfigThatTransformersSaved) {
  const auto imported = read_hf_config("tests/golden/mamba2/hf_tiny_lm/config.json");
  EXPECT_EQ(imported.config.d_model, 32);
  EXPECT_EQ(imported.config.n_layer, 3);
  EXPECT_EQ(imported.config.n_heads(), 8);
  EXPECT_EQ(imported.config.ngroups, 2);
  EXPECT_EQ(imported.config.chunk_size, 16);
  EXPECT_TRUE(std::isinf(imported.config.dt_limit_max));
  EXPECT_EQ(imported.head.kind, HeadKind::kTokens);
  EXPECT_EQ(imported.head.n_features, 48);
  EXPECT_FALSE(imported.head.tied);
}

TEST(HfConfig, TakesEveryWayToWriteAnInfiniteLimit) {
  for (const char* limit : {R"([0.0, Infinity])", R"([0.0, {"__float__": "Infinity"}])",
                            R"([0, "Infinity"])", R"([0.0,Infinity])"}) {
    const auto imported =
        parse_hf_config(transformers(std::string("\"time_step_limit\":") + limit), "c");
    EXPECT_TRUE(std::isinf(imported.config.dt_limit_max)) << limit;
    EXPECT_EQ(imported.config.dt_limit_min, 0.0);
  }
  const auto bound = parse_hf_config(transformers(R"("time_step_limit":[1e-3,0.5])"), "c");
  EXPECT_EQ(bound.config.dt_limit_min, 1e-3);
  EXPECT_EQ(bound.config.dt_limit_max, 0.5);
}

TEST(HfConfig, RefusesNumbersThatAreNotWholeOrDoNotFit) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { parse_hf_config(text, "c"); });
  };
  for (const char* number : {"18446744073709551615", "9223372036854775808", "4.5", "1e300"}) {
    EXPECT_THAT(refusal(transformers(std::string("\"conv_kernel\":") + number)),
                HasSubstr("is not a whole number"))
        << number;
  }
  const auto padded = [&](const std::string& multiple) {
    return R"({"d_model":64,"n_layer":2,"vocab_size":100,"ssm_cfg":{"layer":"Mamba2","headdim":32},)"
           R"("pad_vocab_size_multiple":)" +
           multiple + "}";
  };
  EXPECT_EQ(refusal(padded("16")), "no error");
  // Rounding up to these would overflow.
  for (const char* multiple : {"0", "-8", "1048577", "9223372036854775807"}) {
    EXPECT_THAT(refusal(padded(multiple)), HasSubstr("is outside [1, 1048576]")) << multiple;
  }
}

TEST(HfConfig, RefusesKeysThatComeTwiceAndDepth) {
  const auto refusal = [](const std::string& extra) {
    return message_of([&] { parse_hf_config(transformers(extra), "c"); });
  };
  EXPECT_THAT(refusal(R"("expand":2)"), HasSubstr("c: has the key 'expand' twice"));
  std::string deep = "1";
  for (int i = 0; i < 100; ++i) deep = R"({"__float__":)" + deep + "}";
  EXPECT_THAT(refusal("\"layer_norm_epsilon\":" + deep), HasSubstr("nests deeper"));
}

TEST(HfConfig, LeavesTheWordAloneInsideStrings) {
  const auto imported = parse_hf_config(
      transformers(R"("note":"to \"Infinity and\\","time_step_limit":[0,Infinity])"), "c");
  EXPECT_TRUE(std::isinf(imported.config.dt_limit_max));
}

TEST(HfConfig, RefusesWhatItCannotCompute) {
  EXPECT_THAT(message_of([] { parse_hf_config(transformers(R"("hidden_act":"gelu")"), "c"); }),
              HasSubstr("c: hidden_act = \"gelu\""));
  EXPECT_THAT(message_of([] { parse_hf_config(transformers(R"("rms_norm":false)"), "c"); }),
              HasSubstr("rms_norm"));
  EXPECT_THAT(message_of([] { parse_hf_config(R"({"model_type":"mamba"})", "c"); }),
              HasSubstr("'mamba'"));
}

TEST(HfConfig, NamesEveryMissingOrMistypedKey) {
  const std::string text = message_of([] {
    parse_hf_config(R"({"model_type":"mamba2","hidden_size":"32","num_hidden_layers":3})",
                    "c.json");
  });
  EXPECT_THAT(text, HasSubstr("c.json: 'hidden_size' = \"32\" is not a whole number"));
  EXPECT_THAT(text, HasSubstr("'state_size' is missing"));
  EXPECT_THAT(text, HasSubstr("'vocab_size' is missing"));
}

TEST(HfConfig, RefusesHeadsThatContradictTheWidth) {
  std::string text = transformers("");
  text.replace(text.find("\"num_heads\":8"), 13, "\"num_heads\":4");
  EXPECT_THAT(message_of([&] { parse_hf_config(text, "c"); }), HasSubstr("num_heads = 4"));
}

TEST(HfConfig, NeverCrashesOnBrokenText) {
  const std::string whole = transformers(R"("time_step_limit":[0.0,Infinity])");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse_hf_config(whole.substr(0, length), "c"), Error) << length;
  }
}

constexpr const char* kMambaSsm =
    R"({"d_model":768,"d_intermediate":0,"n_layer":24,"vocab_size":50277,"ssm_cfg":{"layer":"Mamba2"},)"
    R"("attn_layer_idx":[],"attn_cfg":{},"rms_norm":true,"residual_in_fp32":true,"fused_add_norm":true,)"
    R"("pad_vocab_size_multiple":16,"tie_embeddings":true})";

TEST(HfConfig, ReadsMambaSsmsFormWithItsDefaultsAndItsPaddedVocabulary) {
  const auto imported = parse_hf_config(kMambaSsm, "c");
  EXPECT_EQ(imported.config.d_model, 768);
  EXPECT_EQ(imported.config.d_state, 128);
  EXPECT_EQ(imported.config.headdim, 64);
  EXPECT_EQ(imported.head.n_features, 50288);
  EXPECT_TRUE(imported.head.tied);
  // By hand: 24 layers of 3,765,320, the embedding 50288 * 768 once, the last norm 768.
  EXPECT_EQ(parameter_count(imported.config, imported.head), 128'989'632);
}

TEST(HfConfig, RefusesMambaSsmVariantsByName) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kMambaSsm;
    text.replace(text.find(from), from.size(), to);
    return message_of([&] { parse_hf_config(text, "c"); });
  };
  EXPECT_THAT(with("\"d_intermediate\":0", "\"d_intermediate\":1024"),
              HasSubstr("d_intermediate = 1024: an MLP"));
  EXPECT_THAT(with("\"attn_layer_idx\":[]", "\"attn_layer_idx\":[3]"), HasSubstr("attention"));
  EXPECT_THAT(with("\"layer\":\"Mamba2\"", "\"layer\":\"Mamba1\""), HasSubstr("only Mamba2"));
  EXPECT_THAT(with("\"layer\":\"Mamba2\"", ""), HasSubstr("no 'layer'"));
  EXPECT_THAT(with("\"Mamba2\"", "\"Mamba2\",\"D_has_hdim\":true"),
              HasSubstr("D_has_hdim = true: D per channel"));
  EXPECT_THAT(with("\"Mamba2\"", "\"Mamba2\",\"d_ssm\":512"), HasSubstr("d_ssm = 512"));
  EXPECT_THAT(with("\"Mamba2\"", "\"Mamba2\",\"chunk_sise\":64"),
              HasSubstr("ssm_cfg.chunk_sise is unknown"));
}

}  // namespace
}  // namespace foxhunt::model
