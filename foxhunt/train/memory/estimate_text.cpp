#include <fmt/format.h>

#include "foxhunt/base/json.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/train/memory/estimate.h"

namespace foxhunt::train {

std::string to_text(const MemoryEstimate& e) {
  std::string text =
      fmt::format("{} on {}; {}\n", format_bytes(e.fullest().total), e.device, e.plan.text());
  text += fmt::format("data: {}\n\n", e.data.source);
  for (const MemoryPart& part : e.parts) {
    text += fmt::format("  {:<14} {:>10}   {}\n", part.name, format_bytes(part.bytes), part.note);
  }
  text += "\nphase            tensors      total\n";
  for (const MemoryPhase& phase : e.phases) {
    text += fmt::format("  {:<13} {:>10} {:>10}{}\n", phase.name, format_bytes(phase.allocator),
                        format_bytes(phase.total), &phase == &e.fullest() ? "   <- most" : "");
  }
  return text;
}

std::string to_json(const MemoryEstimate& e) {
  nlohmann::ordered_json out{{"device", e.device},
                             {"bytes", e.fullest().total},
                             {"allocator_bytes", e.allocator_peak()},
                             {"fullest_phase", e.fullest().name},
                             {"parameters", e.parameters},
                             {"lanes", e.plan.lanes},
                             {"threads", e.plan.threads},
                             {"micro_batch", e.plan.micro},
                             {"window_rows", e.plan.tokens},
                             {"layers", e.layers},
                             {"activations_a_layer_and_lane", e.kept_a_layer},
                             {"data_rows", e.data.rows},
                             {"data", e.data.source}};
  for (const MemoryPart& part : e.parts)
    out["parts"][part.name] = {{"bytes", part.bytes}, {"note", part.note}};
  for (const MemoryPhase& phase : e.phases)
    out["phases"][phase.name] = {{"allocator_bytes", phase.allocator}, {"bytes", phase.total}};
  return out.dump(2);
}

}  // namespace foxhunt::train
