// The half of foxhunt.h about sessions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "foxhunt/engine/c_error.h"
#include "foxhunt/engine/c_handles.h"
#include "foxhunt/engine/foxhunt.h"

using foxhunt::engine::c_fail;
using foxhunt::engine::c_guarded;
using foxhunt::engine::Session;
using foxhunt::engine::Status;

namespace {

static_assert(sizeof(foxhunt_bar) == 64);
static_assert(sizeof(foxhunt_order) == 64);
static_assert(FOXHUNT_READY == static_cast<int>(Status::kReady));
static_assert(FOXHUNT_WARMING_UP == static_cast<int>(Status::kWarmingUp));
static_assert(FOXHUNT_CLOSED == static_cast<int>(Status::kClosed));
static_assert(FOXHUNT_BAD_RECORD == static_cast<int>(Status::kBadRecord));
static_assert(FOXHUNT_OUT_OF_ORDER == static_cast<int>(Status::kOutOfOrder));
static_assert(FOXHUNT_BAD_INPUT == static_cast<int>(Status::kBadInput));
static_assert(FOXHUNT_NO_SAMPLE == static_cast<int>(Status::kNoSample));
static_assert(FOXHUNT_NULL_PRICE == foxhunt::Price::kNullNano);
static_assert(FOXHUNT_NULL_TIME == std::numeric_limits<std::int64_t>::min());

constexpr std::int32_t code(Status status) { return static_cast<std::int32_t>(status); }

foxhunt::market::Bar record_of(const foxhunt_bar& bar) noexcept {
  return {.instrument = {.publisher_id = bar.publisher_id, .instrument_id = bar.instrument_id},
          .start = foxhunt::from_nanos(bar.time_ns),
          .span = std::chrono::nanoseconds{bar.span_ns},
          .open = {bar.open},
          .high = {bar.high},
          .low = {bar.low},
          .close = {bar.close},
          .volume = bar.volume};
}

foxhunt::market::OrderEvent record_of(const foxhunt_order& order) noexcept {
  return {.instrument = {.publisher_id = order.publisher_id, .instrument_id = order.instrument_id},
          .ts_event = foxhunt::from_nanos(order.event_ns),
          .ts_recv = foxhunt::from_nanos(order.received_ns),
          .order_id = order.order_id,
          .price = {order.price},
          .size = foxhunt::market::stated_size(order.size),
          .action = order.action,
          .side = foxhunt::market::side_of(order.side),
          .flags = order.flags,
          .channel_id = order.channel_id,
          .sequence = order.sequence,
          .ts_in_delta = order.delta_ns};
}

std::int32_t wrong_size(std::string_view what, std::size_t got, std::size_t want) noexcept {
  return c_guarded([&] {
    return c_fail(FOXHUNT_E_ARGUMENT,
                  fmt::format("{} = {}, expected {} (foxhunt_facts says it)", what, got, want));
  });
}

std::size_t width_of(const Session& stream) noexcept {
  return static_cast<std::size_t>(stream.plan().n_features());
}
std::size_t outputs_of(const Session& stream) noexcept {
  return static_cast<std::size_t>(stream.plan().n_outputs());
}

/// The checks that on_event() and answer() share.
template <class Record, class Call>
std::int32_t with_record(foxhunt_session* session, const Record* record, float* out,
                         std::size_t n_out, Call&& call) noexcept {
  if (session == nullptr || record == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session: session, record or out is null");
  }
  if (n_out != outputs_of(session->stream)) {
    return wrong_size("n_out", n_out, outputs_of(session->stream));
  }
  if (record->version != 0) {
    return c_fail(FOXHUNT_E_ARGUMENT, "the record's version is not 0, a layout not known here");
  }
  return code(call(session->stream, record_of(*record), std::span(out, n_out)));
}

constexpr auto kOnEvent = [](Session& stream, const auto& record, std::span<float> answer) {
  return stream.on_event(record, answer);
};
constexpr auto kAnswer = [](Session& stream, const auto& record, std::span<float> answer) {
  return stream.answer(record, answer);
};

/// Marks the sessions as taken; 0 or what is wrong: a null, one that is there twice, two models.
std::int32_t take_all(std::span<foxhunt_session* const> sessions) noexcept {
  const char* wrong = nullptr;
  std::size_t taken = 0;
  for (; taken < sessions.size() && wrong == nullptr; ++taken) {
    foxhunt_session* session = sessions[taken];
    if (session == nullptr) {
      wrong = "foxhunt_step_many: a session is null";
    } else if (session->taken) {
      wrong = "foxhunt_step_many: a session is there twice";
    } else if (&session->stream.plan() != &sessions[0]->stream.plan()) {
      wrong = "foxhunt_step_many: sessions of two models";
    } else {
      session->taken = true;
      continue;
    }
    break;
  }
  if (wrong == nullptr) return FOXHUNT_OK;
  for (foxhunt_session* session : sessions.first(taken)) session->taken = false;
  return c_fail(FOXHUNT_E_ARGUMENT, wrong);
}

}  // namespace

extern "C" {

std::int32_t foxhunt_session_new(const foxhunt_model* model, foxhunt_session** out) {
  if (out != nullptr) *out = nullptr;
  if (model == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_new: model or out is null");
  }
  return c_guarded([&] {
    *out = new foxhunt_session{.stream = Session(model->plan)};
    return std::int32_t{FOXHUNT_OK};
  });
}

std::int32_t foxhunt_session_copy(const foxhunt_session* session, foxhunt_session** out) {
  if (out != nullptr) *out = nullptr;
  if (session == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_copy: session or out is null");
  }
  return c_guarded([&] {
    *out = new foxhunt_session{.stream = Session(session->stream)};
    return std::int32_t{FOXHUNT_OK};
  });
}

void foxhunt_session_free(foxhunt_session* session) { delete session; }

std::int32_t foxhunt_session_reset(foxhunt_session* session) {
  if (session == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_reset: session is null");
  }
  session->stream.reset();
  return FOXHUNT_OK;
}

std::int32_t foxhunt_session_counters(const foxhunt_session* session, foxhunt_counters* counters) {
  if (session == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_counters: session is null");
  }
  const foxhunt::features::PushCounters& of = session->stream.counters();
  foxhunt_counters all{};
  all.bars = of.bars;
  all.ready = of.ready;
  all.warming_up = of.warming_up;
  all.closed = of.closed;
  all.bad_record = of.bad();
  all.out_of_order = of.unordered();
  all.sequences = of.sequences;
  all.position = session->stream.position();
  if (!foxhunt::engine::c_write_struct(all, counters)) {
    return c_fail(FOXHUNT_E_ARGUMENT,
                  "foxhunt_counters: null, or set struct_size = sizeof(foxhunt_counters)");
  }
  return FOXHUNT_OK;
}

std::int32_t foxhunt_session_on_event(foxhunt_session* session, const foxhunt_bar* bar, float* out,
                                      std::size_t n_out) {
  return with_record(session, bar, out, n_out, kOnEvent);
}

std::int32_t foxhunt_session_on_order(foxhunt_session* session, const foxhunt_order* order,
                                      float* out, std::size_t n_out) {
  return with_record(session, order, out, n_out, kOnEvent);
}

std::int32_t foxhunt_session_answer(foxhunt_session* session, const foxhunt_bar* bar, float* out,
                                    std::size_t n_out) {
  return with_record(session, bar, out, n_out, kAnswer);
}

std::int32_t foxhunt_session_answer_order(foxhunt_session* session, const foxhunt_order* order,
                                          float* out, std::size_t n_out) {
  return with_record(session, order, out, n_out, kAnswer);
}

std::int32_t foxhunt_session_advance(foxhunt_session* session) {
  if (session == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_advance: session is null");
  }
  session->stream.advance();
  return FOXHUNT_OK;
}

std::int32_t foxhunt_session_step(foxhunt_session* session, const float* features,
                                  std::size_t n_features, float* out, std::size_t n_out) {
  if (session == nullptr || features == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_step: session, features or out is null");
  }
  Session& stream = session->stream;
  if (n_features != width_of(stream)) {
    return wrong_size("n_features", n_features, width_of(stream));
  }
  if (n_out != outputs_of(stream)) return wrong_size("n_out", n_out, outputs_of(stream));
  return code(stream.step({features, n_features}, {out, n_out}));
}

std::int32_t foxhunt_step_many(foxhunt_session* const* sessions, std::size_t n,
                               const float* features, std::size_t n_features, float* out,
                               std::size_t n_out, std::int32_t* statuses) {
  if (n == 0) return FOXHUNT_OK;
  if (sessions == nullptr || features == nullptr || out == nullptr || statuses == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_step_many: a pointer is null");
  }
  const std::span<foxhunt_session* const> all(sessions, n);
  if (const std::int32_t bad = take_all(all)) return bad;
  for (foxhunt_session* session : all) session->taken = false;
  const std::size_t F = width_of(all[0]->stream);
  const std::size_t K = outputs_of(all[0]->stream);
  // n is that of real handles, so neither product can overflow.
  if (n_features != n * F) return wrong_size("n_features", n_features, n * F);
  if (n_out != n * K) return wrong_size("n_out", n_out, n * K);
  constexpr std::size_t kMost = foxhunt::kernels::kMostStreams;
  std::array<Session*, kMost> some{};
  std::array<Status, kMost> found{};
  for (std::size_t at = 0; at < n; at += kMost) {
    const std::size_t m = std::min(kMost, n - at);
    for (std::size_t i = 0; i < m; ++i) some[i] = &all[at + i]->stream;
    foxhunt::engine::step_many({some.data(), m}, {features + at * F, m * F}, {out + at * K, m * K},
                               {found.data(), m});
    for (std::size_t i = 0; i < m; ++i) statuses[at + i] = code(found[i]);
  }
  return FOXHUNT_OK;
}

std::int32_t foxhunt_session_save(const foxhunt_session* session, void* buffer,
                                  std::size_t capacity, std::size_t* size) {
  if (session == nullptr || size == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_save: session or size is null");
  }
  return c_guarded([&] {
    const std::vector<std::byte> state = session->stream.save();
    *size = state.size();
    if (buffer == nullptr) return std::int32_t{FOXHUNT_OK};
    if (capacity < state.size()) {
      return c_fail(FOXHUNT_E_BUFFER,
                    fmt::format("foxhunt_session_save: a buffer of {} bytes, the state takes {}",
                                capacity, state.size()));
    }
    std::memcpy(buffer, state.data(), state.size());
    return std::int32_t{FOXHUNT_OK};
  });
}

std::int32_t foxhunt_session_restore(foxhunt_session* session, const void* bytes,
                                     std::size_t size) {
  if (session == nullptr || bytes == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_session_restore: session or bytes is null");
  }
  return c_guarded([&] {
    session->stream.restore({static_cast<const std::byte*>(bytes), size});
    return std::int32_t{FOXHUNT_OK};
  });
}

}  // extern "C"
