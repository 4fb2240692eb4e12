#include "foxhunt/serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <vector>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"
#include "foxhunt/bundle/weight_form.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/serve/metrics.h"
#include "foxhunt/serve/process.h"
#include "foxhunt/serve/sink.h"
#include "foxhunt/serve/state.h"

namespace foxhunt::serve {
namespace {

/// An output that is opened anew must not be what is read.
void refuse_own_input(const ServeOptions& options) {
  std::error_code code;
  if (options.in != "-" && std::filesystem::equivalent(options.in, options.out, code)) {
    throw UsageError(fmt::format("{}: input and output are one file", options.in));
  }
}

std::shared_ptr<const engine::Plan> proven_plan(const ServeOptions& options) {
  auto plan = engine::Plan::open(options.bundle, options.plan);
  const engine::VerifyReport report = engine::verify(plan);
  if (!report.ok) {
    throw DataError(
        fmt::format("{}: the bundle is not served, its golden rows do not hold here: {}",
                    options.bundle.string(), report.what));
  }
  if (plan->n_outputs() > static_cast<std::int64_t>(kMostOutputs)) {
    throw ConfigError(
        fmt::format("[serve] {} outputs; at most {} are served", plan->n_outputs(), kMostOutputs));
  }
  log::info("{}: model {}, {} golden rows hold (largest difference {:.2g}), {}, {}",
            options.bundle.string(), plan->model_id().substr(0, 16), report.parity.rows,
            report.parity.max_difference, bundle::to_string(plan->form()), report.kernels);
  return plan;
}

/// The input goes where the saved stream stood. False when asked to stop on the way.
bool skip(Source& source, const SavedState& saved, const std::string& spec) {
  if (source.kind() == SourceKind::kRing) {
    if (source.ring_id() != saved.ring_id)
      return true;  // another ring: its first record is the next
    if (source.ring_taken() > saved.ring_taken) {
      throw DataError(
          fmt::format("{}: {} records were taken from it since the state was saved; --continues "
                      "goes on without them",
                      spec, source.ring_taken() - saved.ring_taken));
    }
    while (source.ring_taken() < saved.ring_taken) {
      if (source.next() == nullptr) return false;
    }
    source.commit();
    return true;
  }
  if (source.kind() == SourceKind::kStream) return true;
  source.set_digest(0);
  for (std::uint64_t i = 0; i < saved.records; ++i) {
    if (source.next() == nullptr) {
      if (!source.over()) return false;
      throw DataError(fmt::format("{}: holds {} records, {} were answered when the state was saved",
                                  spec, i, saved.records));
    }
  }
  if (source.digest() != saved.digest) {
    throw DataError(
        fmt::format("{}: its first {} records are not those that the state has seen; --continues "
                    "takes every record of it as new",
                    spec, saved.records));
  }
  return true;
}

class Server {
 public:
  Server(const ServeOptions& options, const std::function<bool()>& stop, Counters& counters,
         const Clock& clock)
      : options_(options),
        counters_(counters),
        plan_(proven_plan(options)),
        session_(plan_),
        selector_({.product = plan_->bundle().context.product, .symbol = options.symbol}) {
    hooks_ = {.stop = [this, stop] { return gone_ || stop(); },
              .before_waiting =
                  [this] {
                    if (sink_) sink_->flush();
                  },
              .counters = &counters_,
              .clock = clock};
    for (std::size_t i = 0; i < sizeof answer_.model; ++i) {
      const char* digits = plan_->model_id().data() + 2 * i;
      std::from_chars(digits, digits + 2, answer_.model[i], 16);
    }
    answer_.n_outputs = static_cast<std::uint32_t>(plan_->n_outputs());
  }

  void run() {
    refuse_own_input(options_);
    const std::unique_ptr<MetricsPage> page = open_metrics();
    prepare_process();
    std::optional<StateLock> lock;
    if (keeps_state()) lock.emplace(options_.state);
    const bool resumed = keeps_state() && std::filesystem::exists(options_.state);
    if (resumed) saved_ = load_state(options_.state, selector_, session_);
    if (!open(resumed)) return;
    // Also before the first record: a process that dies from here on has a state to go on from.
    if (keeps_state() && !resumed) save();
    try {
      answer_all();
    } catch (...) {
      sink_->flush();  // the answers before the record that cannot be served
      throw;
    }
    finish();
  }

 private:
  bool keeps_state() const { return !options_.state.empty(); }

  std::unique_ptr<MetricsPage> open_metrics() {
    if (!options_.metrics) return nullptr;
    const MetricsInfo info{.model = plan_->model_id(),
                           .product = plan_->bundle().context.product,
                           .weights = std::string(bundle::to_string(plan_->form())),
                           .kernels = plan_->kernels(),
                           .version = std::string(version())};
    auto page = std::make_unique<MetricsPage>(
        *options_.metrics, [&c = counters_, info, wall = hooks_.clock.wall, pin = options_.pin] {
          if (pin) stay_off(*pin);  // the thread of the page, not of the answers
          return metrics_text(c, info, wall());
        });
    log::info("metrics: http://127.0.0.1:{}/metrics", page->port());
    return page;
  }

  void prepare_process() {
    const auto say = [](const Granted& granted) {
      if (granted.ok) {
        log::info("{}", granted.text);
      } else {
        log::warn("{}", granted.text);
      }
    };
    if (options_.pin) say(pin_to(*options_.pin));
    if (options_.lock_memory) say(lock_memory());
    touch_stack();
  }

  /// False when asked to stop before the input said what it is.
  bool open(bool resumed) {
    try {
      source_ = Source::open({.spec = options_.in,
                              .read = options_.read,
                              .waiting = options_.waiting,
                              .orders = plan_->bundle().context.book.has_value(),
                              .ring_slots = options_.ring_slots,
                              .hold = keeps_state()},
                             hooks_);
    } catch (const InterruptedError&) {
      log::info("{}: stopped before its first record", options_.in);
      return false;
    }
    save_every_ = keeps_state() ? options_.save_every : 0;
    const auto half = static_cast<std::int64_t>(source_->ring_capacity() / 2);
    if (keeps_state() && half != 0) {  // before the ring is full of what is not saved yet
      save_every_ = save_every_ == 0 ? half : std::min(save_every_, half);
    }
    if (resumed && options_.continues) saved_.records = saved_.digest = 0;
    if (resumed && !options_.continues && !skip(*source_, saved_, options_.in)) {
      log::info("{}: stopped on the way to where the state stands, which is as it was",
                options_.in);
      return false;
    }
    source_->set_digest(saved_.digest);
    counters_.records.set(0);
    selector_before_ = selector_.counters().records;
    before_ = saved_.records;
    answer_.number = saved_.answers;
    sink_ = Sink::open({.spec = options_.out,
                        .head = plan_->bundle().head,
                        .timing = options_.timing,
                        .waiting = options_.waiting,
                        .ring_slots = options_.ring_slots,
                        .resumed = resumed,
                        .resume_bytes = std::max<std::int64_t>(saved_.output_bytes, 0),
                        .resume_tail = saved_.output_tail},
                       hooks_);
    if (resumed) {
      log::info("{}: goes on behind record {}, answer {}", options_.state.string(), saved_.records,
                saved_.answers);
    }
    return true;
  }

  void answer_all() {
    for (const AnswerSlot& owed : std::exchange(saved_.pending, {})) give(owed);
    if (plan_->bundle().context.book) {
      answer_records<market::OrderEvent>();
    } else {
      answer_records<market::Bar>();
    }
    count_selection();
  }

  template <class Record>
  void answer_records() {
    while (const Record* record = selector_.next_of<Record>(*source_)) {
      const engine::Status status =
          session_.answer(*record, std::span(answer_.outputs, answer_.n_outputs));
      if (status == engine::Status::kReady) publish();
      session_.advance();
      counters_.by_status[static_cast<std::size_t>(status)].add();
      count_selection();
      if (save_every_ > 0 && consumed() - last_saved_ >= save_every_) save();
    }
  }

  void publish() {
    const features::RowMoment& moment = session_.moment();
    const std::int64_t made = hooks_.clock.steady();
    answer_.engine_time = hooks_.clock.wall();
    answer_.latency = made - source_->taken_at();
    ++answer_.number;
    answer_.event_time = count(moment.available_at);
    answer_.bar_start = count(moment.start);
    answer_.close = moment.price.nano;
    set_text(answer_.symbol, selector_.symbol());
    give(answer_);
    counters_.add_latency(answer_.latency);
    counters_.last_event.set(answer_.event_time);
  }

  /// To the output; what it does not take stays here, and everything behind it, too.
  void give(const AnswerSlot& answer) {
    const Put put = pending_.empty() ? sink_->put(answer) : Put::kStopped;
    if (put == Put::kGiven) {
      counters_.answers.add();
      return;
    }
    gone_ = gone_ || put == Put::kGone;
    pending_.push_back(answer);
  }

  std::int64_t consumed() const { return selector_.counters().records - selector_before_; }
  void count_selection() {
    counters_.not_selected.set(selector_.counters().records - selector_.counters().selected);
  }

  void save() {
    sink_->sync();
    saved_.records = before_ + static_cast<std::uint64_t>(consumed());
    saved_.digest = source_->digest();
    saved_.answers = answer_.number;
    saved_.ring_id = source_->ring_id();
    saved_.ring_taken = source_->ring_taken();
    saved_.output_bytes = sink_->bytes();
    saved_.output_tail = sink_->tail();
    saved_.pending = pending_;
    save_state(options_.state, saved_, selector_, session_);
    source_->commit();  // only now may a ring forget
    last_saved_ = consumed();
    counters_.saves.add();
    counters_.last_save.set(hooks_.clock.wall());
  }

  void finish() {
    sink_->flush();
    if (keeps_state()) {
      save();
    } else {
      source_->commit();
    }
    if (source_->over() && pending_.empty()) {
      sink_->close();
      source_->remove();
    }
    log::info("{} records, {} answers; {}", counters_.records.get(), counters_.answers.get(),
              session_.counters().summary());
    if (counters_.stalls.get() != 0) {
      log::warn("the output took nothing {} times, {:.3f} s in all", counters_.stalls.get(),
                static_cast<double>(counters_.stall_ns.get()) * 1e-9);
    }
    if (source_->stats().truncated || source_->stats().rest_bytes != 0) {
      log::warn("{}: ends inside a record, {} bytes of it were left", options_.in,
                source_->stats().rest_bytes);
    }
    if (!pending_.empty() && !keeps_state()) {
      throw IoError(
          fmt::format("{}: {} answers were not taken and are lost; --state would keep them",
                      options_.out, pending_.size()));
    }
    if (gone_) {
      throw IoError(fmt::format("{}: nobody reads any more; {} answers are kept in {}",
                                options_.out, pending_.size(), options_.state.string()));
    }
  }

  const ServeOptions& options_;
  Counters& counters_;
  std::shared_ptr<const engine::Plan> plan_;
  engine::Session session_;
  market::BarSelector selector_;
  Hooks hooks_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  AnswerSlot answer_{};  ///< the next one; its number is that of the last one
  std::vector<AnswerSlot> pending_;
  SavedState saved_{};
  std::int64_t save_every_ = 0;
  std::int64_t last_saved_ = 0;
  std::int64_t selector_before_ = 0;  ///< records that the selector had seen at the start
  std::uint64_t before_ = 0;          ///< records of this source that were consumed at the start
  bool gone_ = false;
};

}  // namespace

void serve(const ServeOptions& options, const std::function<bool()>& stop, Counters& counters,
           const Clock& clock) {
  Server(options, stop, counters, clock).run();
}

}  // namespace foxhunt::serve
