#pragma once
// Which book features a run uses, and after which events it wants a row. Spans are in book events.

#include <cstdint>
#include <vector>

namespace foxhunt::features {

enum class BookSample {
  kEvent,   ///< every event
  kTop,     ///< events that change a best price or the size there
  kTrade,   ///< events with a trade
  kEveryN,  ///< every sample_every-th event of a sequence
};

struct BookFeatureConfig {
  BookSample sample = BookSample::kEvent;
  std::int64_t sample_every = 10;
  std::vector<std::int64_t> levels{1, 5, 10};
  std::vector<std::int64_t> spans{10, 100, 1000};
  std::int64_t max_gap_seconds = 1800;
  double clip = 5.0;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("sample", c.sample,
               {{"event", BookSample::kEvent},
                {"top", BookSample::kTop},
                {"trade", BookSample::kTrade},
                {"n_events", BookSample::kEveryN}},
               "which book events give a row; windows count all of them");
    key("sample_every", c.sample_every, 1, 1'000'000, "events from row to row (n_events)");
    key("levels", c.levels, 1, 10,
        "imbalance and order flow over so many levels; increasing, the first is 1");
    key("spans", c.spans, 1, 65536, "windows of so many book events; increasing");
    key("max_gap_seconds", c.max_gap_seconds, 1, 86400,
        "a longer hole between two events starts a new sequence");
    key("clip", c.clip, 0.1, 1000.0, "limit of normalised values");
  }
};

}  // namespace foxhunt::features
