#include "foxhunt/model/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::model {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxPad = 1 << 20;  // rows of an embedding, as HeadConfig bounds them

/// Python's json writes infinities as bare words; quotes around those outside of strings make JSON
/// of it.
std::string quote_bare_infinity(std::string_view text) {
  constexpr std::string_view kWord = "Infinity";
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const bool minus = c == '-';
    if (!in_string && text.substr(i + (minus ? 1 : 0), kWord.size()) == kWord) {
      out += minus ? "\"-Infinity\"" : "\"Infinity\"";
      i += kWord.size() - (minus ? 0 : 1);
      continue;
    }
    out += c;
  }
  return out;
}

std::optional<double> real_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_object() && json.size() == 1 && json.contains("__float__"))
    return real_of(json["__float__"]);
  if (json == "Infinity" || json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity" || json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

/// Takes typed values out of a JSON object and collects what is wrong instead of stopping at the
/// first.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  void whole(const char* key, std::int64_t& place, bool required = false) {
    take(key, required, "a whole number", [&](const Json& json) {
      const auto value = whole_number(json);
      if (value) place = *value;
      return value.has_value();
    });
  }
  void real(const char* key, double& place) {
    take(key, false, "a number", [&](const Json& json) {
      const auto value = real_of(json);
      if (value) place = *value;
      return value.has_value();
    });
  }
  void flag(const char* key, bool& place) {
    take(key, false, "true or false", [&](const Json& json) {
      if (!json.is_boolean()) return false;
      place = json.get<bool>();
      return true;
    });
  }
  void pair(const char* key, double& low, double& high) {
    take(key, false, "two numbers", [&](const Json& json) {
      if (!json.is_array() || json.size() != 2) return false;
      const auto a = real_of(json[0]);
      const auto b = real_of(json[1]);
      if (a && b) {
        low = *a;
        high = *b;
      }
      return a && b;
    });
  }
  /// Where the key is there, its value must be one of `allowed` (null counts as absent).
  void only(const char* key, std::initializer_list<Json> allowed, const char* why) {
    seen_.insert(key);
    if (!object_.contains(key) || object_[key].is_null()) return;
    for (const Json& value : allowed) {
      if (object_[key] == value) return;
    }
    refused.push_back(fmt::format("{} = {}: {}", key, object_[key].dump(), why));
  }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  /// Keys that nobody asked for.
  std::vector<std::string> unread() const {
    std::vector<std::string> names;
    for (const auto& item : object_.items()) {
      if (seen_.count(item.key()) == 0) names.push_back(item.key());
    }
    return names;
  }

  std::vector<std::string> problems;
  std::vector<std::string> refused;

 private:
  template <class Take>
  void take(const char* key, bool required, const char* type, Take&& taker) {
    seen_.insert(key);
    if (!object_.contains(key)) {
      if (required) problems.push_back(fmt::format("'{}' is missing", key));
    } else if (!taker(object_[key])) {
      problems.push_back(fmt::format("'{}' = {} is not {}", key, object_[key].dump(), type));
    }
  }

  const Json& object_;
  std::set<std::string> seen_;
};

void finish(const Reader& reader, const std::string& origin) {
  if (!reader.problems.empty())
    throw FormatError(fmt::format("{}: {}", origin, fmt::join(reader.problems, "; ")));
  if (!reader.refused.empty())
    throw ConfigError(fmt::format("{}: {}", origin, fmt::join(reader.refused, "; ")));
}

ImportedConfig parse_transformers(const Json& json, const std::string& origin) {
  ImportedConfig result;
  Mamba2Config& c = result.config;
  Reader reader(json);
  reader.whole("hidden_size", c.d_model, true);
  reader.whole("num_hidden_layers", c.n_layer, true);
  reader.whole("state_size", c.d_state, true);
  reader.whole("head_dim", c.headdim, true);
  reader.whole("n_groups", c.ngroups, true);
  reader.whole("vocab_size", result.head.n_features, true);
  std::int64_t heads = 0;
  reader.whole("num_heads", heads, true);
  reader.whole("expand", c.expand);
  reader.whole("conv_kernel", c.d_conv);
  c.chunk_size = 256;
  reader.whole("chunk_size", c.chunk_size);
  reader.pair("time_step_limit", c.dt_limit_min, c.dt_limit_max);
  reader.real("time_step_min", c.dt_init_min);
  reader.real("time_step_max", c.dt_init_max);
  reader.real("time_step_floor", c.dt_init_floor);
  reader.real("layer_norm_epsilon", c.norm_eps);
  reader.flag("use_conv_bias", c.conv_bias);
  reader.flag("use_bias", c.proj_bias);
  result.head.kind = HeadKind::kTokens;
  result.head.tied = false;
  reader.flag("tie_word_embeddings", result.head.tied);
  reader.only("hidden_act", {"silu", "swish"}, "only SiLU is computed");
  reader.only("rms_norm", {true}, "only the RMS norm is computed");
  finish(reader, origin);
  c.validate();
  if (heads != c.n_heads()) {
    throw FormatError(fmt::format("{}: num_heads = {}, but expand * hidden_size / head_dim = {}",
                                  origin, heads, c.n_heads()));
  }
  result.head.validate();
  return result;
}

/// The layer's own options, ssm_cfg; an option that nobody knows is refused rather than ignored.
void read_ssm_cfg(const Json& json, const std::string& origin, Mamba2Config& c) {
  Reader reader(json);
  c.d_state = 128;
  c.headdim = 64;
  c.chunk_size = 256;
  reader.only("layer", {"Mamba2"}, "only Mamba2 layers are computed");
  if (!reader.has("layer"))
    reader.problems.emplace_back("ssm_cfg has no 'layer', which means Mamba-1");
  reader.whole("d_state", c.d_state);
  reader.whole("d_conv", c.d_conv);
  reader.whole("expand", c.expand);
  reader.whole("headdim", c.headdim);
  reader.whole("ngroups", c.ngroups);
  reader.whole("chunk_size", c.chunk_size);
  reader.pair("A_init_range", c.a_init_min, c.a_init_max);
  reader.pair("dt_limit", c.dt_limit_min, c.dt_limit_max);
  reader.real("dt_min", c.dt_init_min);
  reader.real("dt_max", c.dt_init_max);
  reader.real("dt_init_floor", c.dt_init_floor);
  reader.flag("conv_bias", c.conv_bias);
  reader.flag("bias", c.proj_bias);
  bool rmsnorm = true;
  bool norm_first = false;
  reader.flag("rmsnorm", rmsnorm);
  reader.flag("norm_before_gate", norm_first);
  c.gate_norm = !rmsnorm     ? GateNorm::kNone
                : norm_first ? GateNorm::kNormFirst
                             : GateNorm::kGateFirst;
  reader.only("D_has_hdim", {false}, "D per channel is not computed");
  reader.only("d_ssm", {}, "an inner width that is only partly a state space is not computed");
  reader.only("conv_init", {}, "a convolution with its own initial range is not known");
  reader.only("learnable_init_states", {false}, "learnable initial states are not computed");
  reader.only("activation", {"silu", "swish"}, "only SiLU is computed");
  reader.only("use_mem_eff_path", {true, false}, "");
  for (const std::string& name : reader.unread())
    reader.refused.push_back(fmt::format("ssm_cfg.{} is unknown", name));
  finish(reader, origin);
}

ImportedConfig parse_mamba_ssm(const Json& json, const std::string& origin) {
  ImportedConfig result;
  Reader reader(json);
  std::int64_t pad = 8;
  reader.whole("d_model", result.config.d_model, true);
  reader.whole("n_layer", result.config.n_layer, true);
  reader.whole("vocab_size", result.head.n_features, true);
  reader.whole("pad_vocab_size_multiple", pad);
  reader.flag("tie_embeddings", result.head.tied);
  reader.only("d_intermediate", {0}, "an MLP in the block is not computed");
  reader.only("attn_layer_idx", {Json::array()}, "attention layers are not computed");
  reader.only("rms_norm", {true}, "LayerNorm between layers is not computed");
  if (!json["ssm_cfg"].is_object()) reader.problems.emplace_back("'ssm_cfg' is not an object");
  if (pad < 1 || pad > kMaxPad) {
    reader.problems.push_back(
        fmt::format("'pad_vocab_size_multiple' = {} is outside [1, {}]", pad, kMaxPad));
  }
  finish(reader, origin);
  read_ssm_cfg(json["ssm_cfg"], origin, result.config);
  result.head.kind = HeadKind::kTokens;
  result.config.validate();
  result.head.validate();
  result.head.n_features =
      (result.head.n_features + pad - 1) / pad * pad;  // the embedding's rows are padded
  result.head.validate();
  return result;
}

}  // namespace

ImportedConfig parse_hf_config(std::string_view text, const std::string& origin) {
  const std::string quoted = quote_bare_infinity(text);
  if (const std::string problem = json_problem(quoted); !problem.empty())
    throw FormatError(fmt::format("{}: {}", origin, problem));
  const Json json = Json::parse(quoted);
  if (!json.is_object()) throw FormatError(fmt::format("{}: is not a JSON object", origin));
  if (json.contains("ssm_cfg")) return parse_mamba_ssm(json, origin);
  const std::string kind =
      json.value("model_type", Json()).is_string() ? json["model_type"].get<std::string>() : "";
  if (kind != "mamba2") {
    throw FormatError(fmt::format(
        "{}: model_type is '{}', but must be 'mamba2' (or ssm_cfg be there)", origin, kind));
  }
  return parse_transformers(json, origin);
}

ImportedConfig read_hf_config(const std::filesystem::path& path) {
  return parse_hf_config(read_file(path), path.string());
}

}  // namespace foxhunt::model
