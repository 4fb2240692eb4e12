#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <span>

#include "foxhunt/bundle/answer.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/engine/output_names.h"
#include "foxhunt/engine/verify.h"

#include "bindings.h"

namespace foxhunt::python {
namespace {

engine::PlanOptions options_of(const std::optional<std::string>& kernels,
                               const std::optional<std::string>& weights) {
  engine::PlanOptions options{.kernels = kernels.value_or("")};
  if (weights) options.form = bundle::weight_form_of(*weights);
  return options;
}

void open(Model* into, const std::string& path, const std::optional<nb::bytes>& data,
          const std::optional<std::string>& kernels, const std::optional<std::string>& weights) {
  const engine::PlanOptions options = options_of(kernels, weights);
  std::span<const std::byte> bytes;
  if (data) bytes = {static_cast<const std::byte*>(data->data()), data->size()};
  const bool in_memory = data.has_value();
  std::shared_ptr<const engine::Plan> plan;
  {
    const nb::gil_scoped_release free;  // the bytes object is immutable and held by the caller
    plan = engine::Plan::build(
        in_memory ? bundle::parse_bundle(bytes, path) : bundle::read_bundle(path), options);
  }
  new (into) Model{.plan = std::move(plan), .path = in_memory ? std::string() : path};
}

std::vector<std::string> feature_names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& column : model.plan->bundle().context.schema.columns)
    names.push_back(column.name);
  return names;
}

engine::VerifyReport verify(const Model& model) {
  const nb::gil_scoped_release free;
  return engine::verify(model.plan);
}

void bind_report(nb::module_& module) {
  using Report = engine::VerifyReport;
  nb::class_<Report>(module, "VerifyReport",
                     "The golden rows of a bundle, replayed on this machine.")
      .def_prop_ro("ok", [](const Report& r) { return r.ok; })
      .def_prop_ro(
          "max_difference", [](const Report& r) { return r.parity.max_difference; },
          "Largest difference from the trained model, as a share of its largest output.")
      .def_prop_ro("mean_difference", [](const Report& r) { return r.parity.mean_difference; })
      .def_prop_ro(
          "decision_flips", [](const Report& r) { return r.parity.decision_flips; },
          "Rows on which the answer's decision changed.")
      .def_prop_ro("rows", [](const Report& r) { return r.parity.rows; })
      .def_prop_ro("status_differences", [](const Report& r) { return r.status_differences; })
      .def_prop_ro("bound_difference", [](const Report& r) { return r.bound.difference; })
      .def_prop_ro("bound_flip_rate", [](const Report& r) { return r.bound.flip_rate; })
      .def_prop_ro("kernels", [](const Report& r) { return r.kernels; })
      .def_prop_ro(
          "text", [](const Report& r) { return r.what; },
          "The first thing that is wrong, with its record; empty when ok.")
      .def("__bool__", [](const Report& r) { return r.ok; });
}

}  // namespace

void bind_model(nb::module_& module) {
  bind_report(module);
  nb::class_<Model>(module, "Plan", "A bundle, packed for this machine. Immutable.")
      .def("__init__", &open, nb::arg("path"), nb::arg("data") = nb::none(),
           nb::arg("kernels") = nb::none(), nb::arg("weights") = nb::none())
      .def("verify", &verify,
           "Replays the golden rows of the bundle and says how far this machine's answers are "
           "from the trained model's.")
      .def(
          "meaning",
          [](const Model& m, const std::vector<float>& outputs) {
            if (static_cast<std::int64_t>(outputs.size()) != m.plan->n_outputs()) {
              throw nb::value_error("an answer of this model has n_outputs values");
            }
            return bundle::meaning_of(outputs, m.plan->bundle().head);
          },
          nb::arg("outputs"), "Probabilities of classes, a value, or quantiles.")
      .def_prop_ro(
          "path", [](const Model& m) { return m.path; },
          "Of the bundle; empty where it was opened from bytes.")
      .def_prop_ro("n_features", [](const Model& m) { return m.plan->n_features(); })
      .def_prop_ro("n_outputs", [](const Model& m) { return m.plan->n_outputs(); })
      .def_prop_ro("feature_list", &feature_names)
      .def_prop_ro("output_list",
                   [](const Model& m) { return engine::output_names(m.plan->bundle()); })
      .def_prop_ro("product", [](const Model& m) { return m.plan->bundle().context.product; })
      .def_prop_ro(
          "model_id", [](const Model& m) { return m.plan->model_id(); },
          "SHA-256 of what answers depend on; saved states carry it.")
      .def_prop_ro(
          "file_id", [](const Model& m) { return m.plan->id(); },
          "SHA-256 of the bundle, its proof included.")
      .def_prop_ro("weights",
                   [](const Model& m) { return std::string(bundle::to_string(m.plan->form())); })
      .def_prop_ro("kernels", [](const Model& m) { return m.plan->kernels(); })
      .def_prop_ro("bytes_per_step", [](const Model& m) { return m.plan->bytes_per_step(); })
      .def_prop_ro(
          "takes_orders", [](const Model& m) { return m.plan->bundle().context.book.has_value(); },
          "Order events and not bars.")
      .def_prop_ro(
          "bar_seconds",
          [](const Model& m) {
            const bundle::ModelContext& context = m.plan->bundle().context;
            return context.book ? 0 : context.features.bar_seconds;
          },
          "Length of the bars it takes; 0: it takes order events.")
      .def_prop_ro(
          "warm_up", [](const Model& m) { return m.plan->bundle().context.schema.warm_up(); },
          "Bars or book events of a sequence before its first answer, that one included.")
      .def_prop_ro("certificate_json",
                   [](const Model& m) { return m.plan->bundle().certificate.to_json(); })
      .def_prop_ro("training_json", [](const Model& m) { return m.plan->bundle().training_json; })
      .def_prop_ro("latency_json", [](const Model& m) { return m.plan->bundle().latency_json; });
}

}  // namespace foxhunt::python
