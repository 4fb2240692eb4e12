#include <fmt/format.h>

#include <vector>

#include "foxhunt/bundle/answer.h"
#include "foxhunt/serve/sink.h"

namespace foxhunt::serve {

std::string line_of(const AnswerSlot& answer, const model::HeadConfig& head, bool timing) {
  const std::span<const float> outputs(answer.outputs, answer.n_outputs);
  std::string line = bundle::answer_line({.available_at = from_nanos(answer.event_time),
                                          .bar_start = from_nanos(answer.bar_start),
                                          .symbol = text_of(answer.symbol),
                                          .close = Price{answer.close}},
                                         bundle::meaning_of(outputs, head), head);
  line.pop_back();  // its brace
  if (timing) {
    line += fmt::format(R"(,"engine_time":"{}","latency_ns":{})",
                        to_string(from_nanos(answer.engine_time)), answer.latency);
  }
  line += R"(,"model":")";
  for (const std::uint8_t byte : answer.model) line += fmt::format("{:02x}", byte);
  line += "\"}\n";
  return line;
}

}  // namespace foxhunt::serve
