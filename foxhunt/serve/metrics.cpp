#include "foxhunt/serve/metrics.h"

#include <fmt/format.h>

#include <string_view>

#include "foxhunt/engine/session.h"

namespace foxhunt::serve {
namespace {

/// A label's value may hold anything but these three as they are.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

void one(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         const Counter& counter) {
  head(out, name, type, help);
  out += fmt::format("{} {}\n", name, counter.get());
}

std::string label_of(engine::Status status) {
  std::string text(engine::to_string(status));
  for (char& c : text) {
    if (c == ' ') c = '_';
  }
  return text;
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

void latency(std::string& out, const Counters& c) {
  constexpr std::string_view kName = "foxhunt_latency_seconds";
  head(out, kName, "histogram", "From the record in hand to the answer made.");
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < c.latency.size(); ++i) {
    sum += c.latency[i].get();
    const std::string edge =
        i < kLatencyEdges.size() ? fmt::format("{:g}", seconds(kLatencyEdges[i])) : "+Inf";
    out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", kName, edge, sum);
  }
  out += fmt::format("{0}_sum {1:.9f}\n{0}_count {2}\n", kName, seconds(c.latency_sum.get()), sum);
}

/// A moment as the seconds since it; nothing where it never came.
void age(std::string& out, std::string_view name, std::string_view help, const Counter& at,
         std::int64_t now) {
  if (at.get() == 0) return;
  head(out, name, "gauge", help);
  out += fmt::format("{} {:.3f}\n", name, seconds(now - at.get()));
}

}  // namespace

std::string metrics_text(const Counters& c, const MetricsInfo& info, std::int64_t now) {
  std::string out;
  head(out, "foxhunt_model_info", "gauge", "What is served.");
  out += fmt::format(
      "foxhunt_model_info{{model=\"{}\",product=\"{}\",weights=\"{}\",kernels=\"{}\","
      "version=\"{}\"}} 1\n",
      escaped(info.model), escaped(info.product), escaped(info.weights), escaped(info.kernels),
      escaped(info.version));
  one(out, "foxhunt_input_records_total", "counter", "Records taken from the input.", c.records);
  one(out, "foxhunt_not_selected_total", "counter",
      "Records that are no bars of the product or contract.", c.not_selected);
  head(out, "foxhunt_records_total", "counter",
       "Bars that reached the model, by what became of them.");
  for (std::size_t i = 0; i < kStatuses; ++i) {
    out += fmt::format("foxhunt_records_total{{status=\"{}\"}} {}\n",
                       label_of(static_cast<engine::Status>(i)), c.by_status[i].get());
  }
  one(out, "foxhunt_answers_total", "counter", "Answers given to the output.", c.answers);
  latency(out, c);
  one(out, "foxhunt_output_stalls_total", "counter", "Waits for an output that took nothing.",
      c.stalls);
  head(out, "foxhunt_output_stall_seconds_total", "counter", "Time in them.");
  out += fmt::format("foxhunt_output_stall_seconds_total {:.9f}\n", seconds(c.stall_ns.get()));
  one(out, "foxhunt_output_stalled", "gauge", "1 while waiting for the output.", c.stalled);
  one(out, "foxhunt_producer_lost_total", "counter", "Times the input ring's producer was gone.",
      c.producer_lost);
  one(out, "foxhunt_state_saves_total", "counter", "Times the state was saved.", c.saves);
  age(out, "foxhunt_state_age_seconds", "Since the state was saved.", c.last_save, now);
  age(out, "foxhunt_last_event_age_seconds", "Since the end of the last bar that was answered.",
      c.last_event, now);
  return out;
}

}  // namespace foxhunt::serve
