#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <list>
#include <optional>
#include <span>

#include "foxhunt/bundle/answer.h"
#include "foxhunt/engine/output_names.h"

#include "bindings.h"

namespace foxhunt::python {
namespace {

using engine::Status;
using Row = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Int64s = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using UInt64s = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Outputs = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
using Statuses = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What a record or a row got: an answer, or the reason why not.
struct Answer {
  Status status{};
  std::vector<float> out{};
  std::shared_ptr<const engine::Plan> plan{};
};

Answer no_answer_yet(const Stream& stream) {
  return {.out = std::vector<float>(static_cast<std::size_t>(stream.plan->n_outputs())),
          .plan = stream.plan};
}

std::size_t width_of(const Stream& stream) {
  return static_cast<std::size_t>(stream.plan->n_features());
}
std::size_t outputs_of(const Stream& stream) {
  return static_cast<std::size_t>(stream.plan->n_outputs());
}

[[noreturn]] void wrong_width(const Stream& stream, std::size_t got) {
  std::vector<std::string> names;
  for (const auto& column : stream.plan->bundle().context.schema.columns)
    names.push_back(column.name);
  throw nb::value_error(fmt::format("a row of {} values; this model takes {}, in this order: {}",
                                    got, names.size(), fmt::join(names, ", "))
                            .c_str());
}

/// Where `values` are float32 in one piece, they are read where they lie.
template <class Array>
Array floats(const nb::object& values, const char* shape) {
  Array array;
  if (nb::try_cast<Array>(values, array, false)) return array;
  const nb::object converted =
      nb::module_::import_("numpy").attr("ascontiguousarray")(values, nb::arg("dtype") = "float32");
  if (!nb::try_cast<Array>(converted, array, false)) {
    throw nb::value_error(fmt::format("expected {}, got an array of {} dimensions", shape,
                                      nb::cast<std::size_t>(converted.attr("ndim")))
                              .c_str());
  }
  return array;
}

Outputs outputs_of(std::vector<float>&& values, std::size_t T, std::size_t K) {
  auto* kept = new std::vector<float>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return Outputs(kept->data(), {T, K}, owner);
}
Statuses statuses_of(std::vector<std::uint8_t>&& values) {
  auto* kept = new std::vector<std::uint8_t>(std::move(values));
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
  return Statuses(kept->data(), {kept->size()}, owner);
}

Answer step(Stream& stream, const nb::object& row) {
  const Row values = floats<Row>(row, "one row [F]");
  if (values.shape(0) != width_of(stream)) wrong_width(stream, values.shape(0));
  const Turn turn(stream);
  Answer answer = no_answer_yet(stream);
  answer.status = stream.session.step({values.data(), values.shape(0)}, answer.out);
  return answer;
}

Answer on_bar(Stream& stream, std::int64_t time_ns, std::int64_t span_ns, std::int64_t open,
              std::int64_t high, std::int64_t low, std::int64_t close, std::uint64_t volume,
              std::uint32_t instrument_id, std::uint16_t publisher_id) {
  const Turn turn(stream);
  Answer answer = no_answer_yet(stream);
  answer.status = stream.session.on_event(
      {.instrument = {.publisher_id = publisher_id, .instrument_id = instrument_id},
       .start = from_nanos(time_ns),
       .span = std::chrono::nanoseconds{span_ns},
       .open = {open},
       .high = {high},
       .low = {low},
       .close = {close},
       .volume = volume},
      answer.out);
  return answer;
}

/// An event of a feed; `action` and `side` are letters as in DBN.
market::OrderEvent order_of(std::int64_t event_ns, std::int64_t received_ns, std::uint64_t order_id,
                            std::int64_t price, std::uint32_t size, char action, char side,
                            std::uint8_t flags, std::uint32_t sequence, std::uint32_t instrument_id,
                            std::uint16_t publisher_id, std::uint8_t channel_id,
                            std::int32_t delta_ns) {
  return {.instrument = {.publisher_id = publisher_id, .instrument_id = instrument_id},
          .ts_event = from_nanos(event_ns),
          .ts_recv = from_nanos(received_ns),
          .order_id = order_id,
          .price = {price},
          .size = market::stated_size(size),
          .action = action,
          .side = market::side_of(side),
          .flags = flags,
          .channel_id = channel_id,
          .sequence = sequence,
          .ts_in_delta = delta_ns};
}

/// on_event() of an order event, or the first half of it.
template <bool kWhole, class... Fields>
Answer with_order(Stream& stream, Fields... fields) {
  const Turn turn(stream);
  Answer answer = no_answer_yet(stream);
  const market::OrderEvent event = order_of(fields...);
  answer.status = kWhole ? stream.session.on_event(event, answer.out)
                         : stream.session.answer(event, answer.out);
  return answer;
}

template <bool kWhole>
void bind_order(nb::class_<Stream>& stream, const char* name, const char* what) {
  stream.def(
      name,
      [](Stream& s, std::int64_t event_ns, std::int64_t received_ns, std::uint64_t order_id,
         std::int64_t price, std::uint32_t size, char action, char side, std::uint8_t flags,
         std::uint32_t sequence, std::uint32_t instrument_id, std::uint16_t publisher_id,
         std::uint8_t channel_id, std::int32_t delta_ns) {
        return with_order<kWhole>(s, event_ns, received_ns, order_id, price, size, action, side,
                                  flags, sequence, instrument_id, publisher_id, channel_id,
                                  delta_ns);
      },
      nb::arg("event_ns"), nb::arg("received_ns"), nb::arg("order_id"), nb::arg("price"),
      nb::arg("size"), nb::arg("action"), nb::arg("side"), nb::arg("flags"), nb::arg("sequence"),
      nb::arg("instrument_id"), nb::arg("publisher_id"), nb::arg("channel_id"), nb::arg("delta_ns"),
      what);
}

nb::typed<nb::tuple, Outputs, Statuses> run_rows(Stream& stream, const nb::object& rows) {
  const Rows values = floats<Rows>(rows, "rows [T, F]");
  const std::size_t T = values.shape(0);
  const std::size_t F = width_of(stream);
  const std::size_t K = outputs_of(stream);
  if (values.shape(1) != F) wrong_width(stream, values.shape(1));
  std::vector<float> out(T * K, kNan);
  std::vector<std::uint8_t> statuses(T);
  {
    const Turn turn(stream);
    const nb::gil_scoped_release free;
    for (std::size_t t = 0; t < T; ++t) {
      statuses[t] = static_cast<std::uint8_t>(
          stream.session.step({values.data() + t * F, F}, {out.data() + t * K, K}));
    }
  }
  return nb::make_tuple(outputs_of(std::move(out), T, K), statuses_of(std::move(statuses)));
}

nb::typed<nb::tuple, Outputs, Statuses> run_bars(Stream& stream, const Int64s& time_ns,
                                                 std::int64_t span_ns, const Int64s& open,
                                                 const Int64s& high, const Int64s& low,
                                                 const Int64s& close, const UInt64s& volume,
                                                 std::uint32_t instrument_id,
                                                 std::uint16_t publisher_id) {
  const std::size_t T = time_ns.shape(0);
  for (const Int64s* list : {&open, &high, &low, &close}) {
    if (list->shape(0) != T) throw nb::value_error("columns of bars of different lengths");
  }
  if (volume.shape(0) != T) throw nb::value_error("columns of bars of different lengths");
  const std::size_t K = outputs_of(stream);
  std::vector<float> out(T * K, kNan);
  std::vector<std::uint8_t> statuses(T);
  {
    const Turn turn(stream);
    const nb::gil_scoped_release free;
    for (std::size_t t = 0; t < T; ++t) {
      statuses[t] = static_cast<std::uint8_t>(stream.session.on_event(
          {.instrument = {.publisher_id = publisher_id, .instrument_id = instrument_id},
           .start = from_nanos(time_ns.data()[t]),
           .span = std::chrono::nanoseconds{span_ns},
           .open = {open.data()[t]},
           .high = {high.data()[t]},
           .low = {low.data()[t]},
           .close = {close.data()[t]},
           .volume = volume.data()[t]},
          {out.data() + t * K, K}));
    }
  }
  return nb::make_tuple(outputs_of(std::move(out), T, K), statuses_of(std::move(statuses)));
}

nb::typed<nb::tuple, Outputs, Statuses> step_many(const std::vector<Stream*>& streams,
                                                  const nb::object& rows) {
  if (streams.empty()) throw nb::value_error("step_many of no session");
  const Rows values = floats<Rows>(rows, "rows [sessions, F]");
  const std::size_t N = streams.size();
  const std::size_t K = outputs_of(*streams[0]);
  if (values.shape(0) != N) {
    throw nb::value_error(
        fmt::format("{} rows for {} sessions: a row each", values.shape(0), N).c_str());
  }
  if (values.shape(1) != width_of(*streams[0])) wrong_width(*streams[0], values.shape(1));
  std::vector<float> out(N * K, kNan);
  std::vector<Status> found(N);
  {
    std::list<Turn> turns;  // a session that is there twice is refused here
    std::vector<engine::Session*> sessions;
    for (Stream* stream : streams) {
      require_same_model(*streams[0], *stream);
      turns.emplace_back(*stream);
      sessions.push_back(&stream->session);
    }
    const nb::gil_scoped_release free;
    engine::step_many(sessions, {values.data(), N * values.shape(1)}, out, found);
  }
  std::vector<std::uint8_t> statuses(N);
  for (std::size_t i = 0; i < N; ++i) statuses[i] = static_cast<std::uint8_t>(found[i]);
  return nb::make_tuple(outputs_of(std::move(out), N, K), statuses_of(std::move(statuses)));
}

nb::dict counters(Stream& stream) {
  const Turn turn(stream);
  const features::PushCounters& of = stream.session.counters();
  nb::dict all;
  all["bars"] = of.bars;
  all["ready"] = of.ready;
  all["warming_up"] = of.warming_up;
  all["closed"] = of.closed;
  all["bad_record"] = of.bad();
  all["out_of_order"] = of.unordered();
  all["sequences"] = of.sequences;
  return all;
}

void bind_answer(nb::module_& module) {
  nb::enum_<Status>(module, "Status", nb::is_arithmetic(), "Why there is an answer, or none.")
      .value("READY", Status::kReady)
      .value("WARMING_UP", Status::kWarmingUp)
      .value("CLOSED", Status::kClosed)
      .value("BAD_RECORD", Status::kBadRecord)
      .value("OUT_OF_ORDER", Status::kOutOfOrder)
      .value("BAD_INPUT", Status::kBadInput)
      .value("NO_SAMPLE", Status::kNoSample);
  nb::class_<Answer>(module, "Answer", "True where there is an answer.")
      .def_ro("status", &Answer::status)
      .def_prop_ro(
          "outputs",
          [](const nb::handle self) -> nb::object {
            auto& answer = nb::cast<Answer&>(self);
            if (answer.status != Status::kReady) return nb::none();
            using Out = nb::ndarray<nb::numpy, const float, nb::ndim<1>>;
            return nb::cast(Out(answer.out.data(), {answer.out.size()}, self));
          },
          nb::sig("def outputs(self) -> numpy.typing.NDArray[numpy.float32] | None"),
          "[K] float32 as the model gives them; None where status is not READY.")
      .def_prop_ro(
          "meaning",
          [](const Answer& a) -> nb::object {
            if (a.status != Status::kReady) return nb::none();
            nb::dict named;
            const auto names = engine::output_names(a.plan->bundle());
            const auto values = bundle::meaning_of(a.out, a.plan->bundle().head);
            for (std::size_t k = 0; k < names.size(); ++k) named[names[k].c_str()] = values[k];
            return named;
          },
          nb::sig("def meaning(self) -> dict[str, float] | None"),
          "Probabilities of classes, a value, or quantiles, by name.")
      .def("__bool__", [](const Answer& a) { return a.status == Status::kReady; })
      .def("__repr__", [](const Answer& a) {
        if (a.status != Status::kReady)
          return fmt::format("Answer({})", engine::to_string(a.status));
        return fmt::format("Answer(ready, [{:.6g}])", fmt::join(a.out, ", "));
      });
}

}  // namespace

void require_same_model(const Stream& one, const Stream& other) {
  if (one.plan == other.plan) return;
  throw nb::value_error(
      fmt::format("sessions of two models, {} and {}: step_many takes sessions of one opened Model",
                  one.plan->model_id().substr(0, 12), other.plan->model_id().substr(0, 12))
          .c_str());
}

void bind_session(nb::module_& module) {
  bind_answer(module);
  nb::class_<Stream> stream(module, "Stream", "One stream of records and its state.");
  stream
      .def(
          "__init__", [](Stream* self, const Model& model) { new (self) Stream(model.plan); },
          nb::arg("plan"))
      .def(
          "__init__",
          [](Stream* self, Stream& other) {
            const Turn turn(other);
            new (self) Stream(other);
          },
          nb::arg("other"))
      .def("step", &step, nb::arg("row"),
           "One row of features [n_features], as the pipeline gives them, before scaling. float32 "
           "in one piece is read where it lies.")
      .def("on_bar", &on_bar, nb::arg("time_ns"), nb::arg("span_ns"), nb::arg("open"),
           nb::arg("high"), nb::arg("low"), nb::arg("close"), nb::arg("volume"),
           nb::arg("instrument_id"), nb::arg("publisher_id"))
      .def("run_rows", &run_rows, nb::arg("rows"))
      .def("run_bars", &run_bars, nb::arg("time_ns"), nb::arg("span_ns"), nb::arg("open"),
           nb::arg("high"), nb::arg("low"), nb::arg("close"), nb::arg("volume"),
           nb::arg("instrument_id"), nb::arg("publisher_id"))
      .def(
          "reset",
          [](Stream& s) {
            const Turn turn(s);
            s.session.reset();
          },
          "As newly made.")
      .def(
          "save",
          [](Stream& s) {
            const Turn turn(s);
            const std::vector<std::byte> state = s.session.save();
            return nb::bytes(state.data(), state.size());
          },
          "Everything the next answer depends on, with the model's id.")
      .def(
          "restore",
          [](Stream& s, const nb::bytes& state) {
            const Turn turn(s);
            s.session.restore({static_cast<const std::byte*>(state.data()), state.size()});
          },
          nb::arg("state"), "Goes on with the same bits. An error leaves the session as it was.")
      .def_prop_ro(
          "position",
          [](Stream& s) {
            const Turn turn(s);
            return s.session.position();
          },
          "Rows answered since the sequence began.")
      .def_prop_ro("counters", &counters, nb::sig("def counters(self) -> dict[str, int]"),
                   "What became of every record.");
  bind_order<true>(stream, "order", "An order event in, an answer out where one is due.");
  bind_order<false>(stream, "order_answer",
                    "The answer alone: advance() takes the event into the state.");
  stream.def(
      "advance",
      [](Stream& s) {
        const Turn turn(s);
        s.session.advance();
      },
      "The second half of answer_order(); the next call does it where it was forgotten.");
  module.def("step_many", &step_many, nb::arg("streams"), nb::arg("rows"));
}

}  // namespace foxhunt::python
