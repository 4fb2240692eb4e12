#pragma once
// Which features a run uses. Spans are in bars.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::features {

struct FeatureConfig {
  std::int64_t bar_seconds = 60;
  std::vector<std::int64_t> return_spans{1, 5, 15, 60};
  std::vector<std::int64_t> volatility_spans{15, 60};
  std::int64_t volume_span = 60;
  std::int64_t max_gap_minutes = 30;
  double clip = 5.0;
  std::vector<std::string> plugins{};

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("bar_seconds", c.bar_seconds, 1, 86400,
        "length of a bar; bars of another length are refused");
    key("return_spans", c.return_spans, 1, 1000,
        "log returns over so many bars, in units of past volatility; increasing");
    key("volatility_spans", c.volatility_spans, 2, 1000,
        "realised volatility over so many bars; increasing, the last one scales returns and "
        "ranges");
    key("volume_span", c.volume_span, 2, 1000, "bars of past against which volume is measured");
    key("max_gap_minutes", c.max_gap_minutes, 1, 1440,
        "a longer hole inside a session starts a new sequence");
    key("clip", c.clip, 0.1, 1000.0, "limit of normalised values");
    key.later("plugins", c.plugins,
              "shared libraries with columns of your own, docs/user_features.md; a file that is "
              "not there is looked for by its name in the folders of FOXHUNT_PLUGINS");
  }
};

}  // namespace foxhunt::features
