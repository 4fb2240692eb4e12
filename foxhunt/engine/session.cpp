#include "foxhunt/engine/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "foxhunt/base/error.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/engine/denormals.h"

namespace foxhunt::engine {
namespace {

constexpr std::string_view kPart = "session";
constexpr std::uint32_t kVersion = 1;

Status status_of(features::Status status) {
  switch (status) {
    case features::Status::kReady:
      return Status::kReady;
    case features::Status::kWarmingUp:
      return Status::kWarmingUp;
    case features::Status::kClosed:
      return Status::kClosed;
    case features::Status::kBadBar:
      return Status::kBadRecord;
    case features::Status::kOutOfOrder:
      return Status::kOutOfOrder;
    case features::Status::kNoSample:
      return Status::kNoSample;
    case features::Status::kNotFinite:
      return Status::kBadInput;
  }
  return Status::kBadRecord;
}

}  // namespace

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kReady:
      return "ready";
    case Status::kWarmingUp:
      return "warming up";
    case Status::kClosed:
      return "closed";
    case Status::kBadRecord:
      return "bad record";
    case Status::kOutOfOrder:
      return "out of order";
    case Status::kBadInput:
      return "bad input";
    case Status::kNoSample:
      return "no sample";
  }
  return "";
}

struct Session::Impl {
  explicit Impl(const Plan& plan)
      : pipeline(plan.bundle().context.pipeline()),
        normalizer(&plan.bundle().context.normalizer),
        stream(plan.network()),
        row(static_cast<std::size_t>(plan.n_features())) {}

  /// Scales the row into the stream. False where a value is not finite.
  bool take_row(std::span<const float> values) noexcept {
    for (const float v : values) {
      if (!std::isfinite(v)) return false;
    }
    normalizer->apply(values, stream.features());
    return true;
  }

  /// The record's row in the stream, or why not.
  template <class Record>
  Status take(const Record& record) noexcept {
    advance();
    const features::PushResult result = pipeline.push_unchecked(record, row);
    if (result.starts_sequence) stream.reset();
    if (result.status != features::Status::kReady) return status_of(result.status);
    return take_row(row) ? Status::kReady : Status::kBadInput;
  }

  template <class Record>
  Status on_event(const Record& record, std::span<float> out) noexcept {
    const Status status = take(record);
    if (status != Status::kReady) return status;
    const NoDenormals guard;
    std::ranges::copy(stream.step(), out.begin());
    return status;
  }
  template <class Record>
  Status answer(const Record& record, std::span<float> out) noexcept {
    const Status status = take(record);
    if (status != Status::kReady) return status;
    const NoDenormals guard;
    std::ranges::copy(stream.answer(), out.begin());
    behind = true;
    return status;
  }

  void advance() noexcept {
    if (!behind) return;
    behind = false;
    const NoDenormals guard;
    stream.advance();
  }

  features::RowPipeline pipeline;
  const features::Normalizer* normalizer;
  kernels::StepStream stream;
  std::vector<float> row;
  bool behind = false;  ///< an answer went out and the state has not taken its row yet
};

Session::Session(std::shared_ptr<const Plan> plan)
    : plan_(std::move(plan)), impl_(std::make_unique<Impl>(*plan_)) {
  // The first step of a process meets code that lies on disk and weights in no cache: better here
  // than at the first event.
  const NoDenormals guard;
  impl_->stream.step();
  impl_->stream.reset();
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::Session(const Session& other)
    : plan_(other.plan_), impl_(std::make_unique<Impl>(*other.impl_)) {}

Status Session::on_event(const market::Bar& bar, std::span<float> out) noexcept {
  return impl_->on_event(bar, out);
}
Status Session::on_event(const market::OrderEvent& event, std::span<float> out) noexcept {
  return impl_->on_event(event, out);
}
Status Session::answer(const market::Bar& bar, std::span<float> out) noexcept {
  return impl_->answer(bar, out);
}
Status Session::answer(const market::OrderEvent& event, std::span<float> out) noexcept {
  return impl_->answer(event, out);
}

void Session::advance() noexcept { impl_->advance(); }

Status Session::step(std::span<const float> features, std::span<float> out) noexcept {
  impl_->advance();
  if (!impl_->take_row(features)) return Status::kBadInput;
  const NoDenormals guard;
  std::ranges::copy(impl_->stream.step(), out.begin());
  return Status::kReady;
}

void Session::reset() noexcept {
  impl_->behind = false;
  impl_->pipeline.reset();
  impl_->stream.reset();
}

std::vector<std::byte> Session::save() const {
  // What answer() owes the state is paid on a copy: saving changes nothing.
  if (impl_->behind) {
    Session paid(*this);
    paid.advance();
    return paid.save();
  }
  ByteWriter payload;
  payload.text(plan_->model_id());
  payload.text(bundle::to_string(plan_->form()));
  payload.value(impl_->stream.position());
  std::vector<float> state(static_cast<std::size_t>(impl_->stream.state_size()));
  impl_->stream.save(state);
  payload.list(std::span<const float>(state));
  impl_->pipeline.save(payload);
  ByteWriter file;
  write_part(file, kPart, kVersion, payload.bytes());
  return file.take();
}

void Session::restore(std::span<const std::byte> bytes, const std::string& origin) {
  ByteReader file(bytes, origin);
  restore(file);
  file.finish();
}

void Session::restore(ByteReader& file) {
  ByteReader payload = read_part(file, kPart, kVersion);
  const auto expect = [&payload](std::string_view what, std::string_view ours) {
    const std::string theirs = payload.text();
    if (theirs != ours) {
      payload.fail(fmt::format("the state is of {} {}, this session's is {}", what, theirs, ours));
    }
  };
  expect("model", plan_->model_id());
  expect("weights", bundle::to_string(plan_->form()));
  const auto position = payload.value<std::int64_t>();
  if (position < 0) payload.fail(fmt::format("a position of {}", position));
  std::vector<float> state(static_cast<std::size_t>(impl_->stream.state_size()));
  payload.list(std::span<float>(state));
  if (!std::ranges::all_of(state, [](float v) { return std::isfinite(v); })) {
    payload.fail("the state holds a value that is not finite");
  }
  features::RowPipeline pipeline(impl_->pipeline);
  pipeline.restore(payload);
  payload.finish();
  impl_->pipeline = std::move(pipeline);
  impl_->stream.restore(state);
  impl_->stream.set_position(position);
  impl_->behind = false;
}

std::int64_t Session::position() const noexcept {
  return impl_->stream.position() + (impl_->behind ? 1 : 0);
}

const features::PushCounters& Session::counters() const noexcept {
  return impl_->pipeline.counters();
}

const features::RowMoment& Session::moment() const noexcept { return impl_->pipeline.moment(); }

void step_many(std::span<Session* const> sessions, std::span<const float> features,
               std::span<float> out, std::span<Status> statuses) noexcept {
  if (sessions.empty()) return;
  const NoDenormals guard;
  const std::size_t F = features.size() / sessions.size();
  const std::size_t K = out.size() / sessions.size();
  kernels::StepStream* streams[kernels::kMostStreams];
  std::size_t owners[kernels::kMostStreams];
  std::size_t waiting = 0;
  const auto run = [&] {
    if (waiting == 0) return;
    kernels::StepStream::step_together({streams, waiting});
    for (std::size_t i = 0; i < waiting; ++i) {
      std::ranges::copy(streams[i]->last(),
                        out.begin() + static_cast<std::ptrdiff_t>(owners[i] * K));
    }
    waiting = 0;
  };
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    Session::Impl& impl = *sessions[i]->impl_;
    impl.advance();
    const bool usable = impl.take_row(features.subspan(i * F, F));
    statuses[i] = usable ? Status::kReady : Status::kBadInput;
    if (!usable) continue;
    streams[waiting] = &impl.stream;
    owners[waiting] = i;
    if (++waiting == static_cast<std::size_t>(kernels::kMostStreams)) run();
  }
  run();
}

}  // namespace foxhunt::engine
