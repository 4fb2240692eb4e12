#include "foxhunt/engine/verify.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "foxhunt/bundle/parity.h"
#include "foxhunt/engine/session.h"

namespace foxhunt::engine {
namespace {

UnixNanos time_of(const market::Bar& bar) { return bar.start; }
UnixNanos time_of(const market::OrderEvent& event) { return event.ts_recv; }

template <class Record>
VerifyReport replay_of(const std::shared_ptr<const Plan>& plan, std::span<const Record> records,
                       const Rows& rows) {
  VerifyReport report;
  report.bound = bundle::bound_of(plan->form());
  report.kernels = plan->kernels();
  bundle::ParityMeter meter(plan->bundle().head);
  Session session(plan);
  const auto K = static_cast<std::size_t>(plan->n_outputs());
  std::vector<float> out(K);
  std::size_t at = 0;
  std::string status;  // of the first record that was answered in one alone
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::int64_t sequences = session.counters().sequences;
    const Status got = session.on_event(records[i], out);
    if (session.counters().sequences != sequences) meter.add_sequence();
    const bool wants = rows.ready[i] != 0;
    if (wants != (got == Status::kReady)) {
      ++report.status_differences;
      if (status.empty()) {
        status = fmt::format("record {} at {}: the trained model {}, the engine says '{}'", i,
                             foxhunt::to_string(time_of(records[i])),
                             wants ? "answered" : "gave no answer", to_string(got));
      }
    }
    if (!wants) {
      meter.add_warm_up();
      continue;
    }
    const std::span<const float> trained = rows.outputs.subspan(at, K);
    at += K;
    if (got == Status::kReady) meter.add(trained, out);
  }
  report.parity = meter.result();
  if (!status.empty()) {
    report.what = status;
  } else if (report.parity.rows == 0) {
    report.what = "the bundle holds no golden row";
  } else if (!report.parity.meets(report.bound)) {
    report.what = fmt::format(
        "largest difference {:.3g} of the largest output (bound {:.3g}), {} of {} decisions "
        "changed "
        "(bound {:.3g} of them)",
        report.parity.max_difference, report.bound.difference, report.parity.decision_flips,
        report.parity.rows, report.bound.flip_rate);
  }
  report.ok = report.what.empty();
  return report;
}

}  // namespace

VerifyReport verify(const std::shared_ptr<const Plan>& plan) {
  const bundle::Golden& golden = plan->bundle().golden;
  return replay(plan, {.bars = golden.bars,
                       .events = golden.events,
                       .ready = golden.ready,
                       .outputs = golden.outputs});
}

VerifyReport replay(const std::shared_ptr<const Plan>& plan, const Rows& rows) {
  return rows.events.empty() ? replay_of(plan, rows.bars, rows)
                             : replay_of(plan, rows.events, rows);
}

}  // namespace foxhunt::engine
