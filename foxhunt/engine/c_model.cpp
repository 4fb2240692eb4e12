// The half of foxhunt.h about the library and models.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "foxhunt/base/build_info.h"
#include "foxhunt/bundle/answer.h"
#include "foxhunt/engine/c_error.h"
#include "foxhunt/engine/c_handles.h"
#include "foxhunt/engine/foxhunt.h"
#include "foxhunt/engine/output_names.h"
#include "foxhunt/engine/verify.h"

using foxhunt::engine::c_fail;
using foxhunt::engine::c_guarded;
using foxhunt::engine::Plan;
using foxhunt::engine::PlanOptions;

namespace {

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

/// 0, or what is wrong with the options.
std::int32_t read_options(const foxhunt_options* from, PlanOptions& to) {
  if (from == nullptr) return FOXHUNT_OK;
  foxhunt_options options{};
  if (!foxhunt::engine::c_read_struct(from, options)) {
    return c_fail(FOXHUNT_E_ARGUMENT,
                  fmt::format("foxhunt_options: struct_size is {} (sizeof here is {}), or a field "
                              "is set that version {} does not know",
                              from->struct_size, sizeof options, foxhunt::version()));
  }
  if (options.kernels != nullptr) to.kernels = options.kernels;
  if (options.weights != nullptr && *options.weights != '\0') {
    to.form = foxhunt::bundle::weight_form_of(options.weights);
  }
  return FOXHUNT_OK;
}

/// `build` gives the bundle.
template <class Build>
std::int32_t open_model(const foxhunt_options* options, foxhunt_model** out, Build&& build) {
  return c_guarded([&] {
    PlanOptions plan_options;
    if (const std::int32_t bad = read_options(options, plan_options)) return bad;
    *out = std::make_unique<foxhunt_model>(Plan::build(build(), plan_options)).release();
    return std::int32_t{FOXHUNT_OK};
  });
}

}  // namespace

foxhunt_model::foxhunt_model(std::shared_ptr<const Plan> of)
    : plan(std::move(of)),
      output_names(foxhunt::engine::output_names(plan->bundle())),
      kernels(plan->kernels()),
      certificate_json(plan->bundle().certificate.to_json()) {
  for (const foxhunt::features::Column& column : plan->bundle().context.schema.columns) {
    feature_names.push_back(column.name);
  }
  feature_pointers = pointers_to(feature_names);
  output_pointers = pointers_to(output_names);
}

extern "C" {

std::int32_t foxhunt_abi_version(void) { return FOXHUNT_ABI_VERSION; }
const char* foxhunt_version(void) { return foxhunt::version().data(); }
const char* foxhunt_revision(void) { return foxhunt::git_revision().data(); }
const char* foxhunt_last_error(void) { return foxhunt::engine::c_last_error(); }

const char* foxhunt_status_text(std::int32_t status) {
  switch (status) {
    case FOXHUNT_READY:
      return "ready";
    case FOXHUNT_WARMING_UP:
      return "warming up";
    case FOXHUNT_CLOSED:
      return "closed";
    case FOXHUNT_BAD_RECORD:
      return "bad record";
    case FOXHUNT_OUT_OF_ORDER:
      return "out of order";
    case FOXHUNT_BAD_INPUT:
      return "bad input";
    case FOXHUNT_NO_SAMPLE:
      return "no sample";
    case FOXHUNT_E_ARGUMENT:
      return "bad argument";
    case FOXHUNT_E_FORMAT:
      return "bad bytes";
    case FOXHUNT_E_IO:
      return "input or output failed";
    case FOXHUNT_E_CONFIG:
      return "cannot serve here";
    case FOXHUNT_E_VERIFY:
      return "not as proved";
    case FOXHUNT_E_BUFFER:
      return "buffer too small";
    case FOXHUNT_E_MEMORY:
      return "out of memory";
    case FOXHUNT_E_INTERNAL:
      return "internal error";
    default:
      return "unknown";
  }
}

std::int32_t foxhunt_model_open(const char* path, const foxhunt_options* options,
                                foxhunt_model** out) {
  if (out != nullptr) *out = nullptr;
  if (path == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_model_open: path or out is null");
  }
  return open_model(options, out, [path] { return foxhunt::bundle::read_bundle(path); });
}

std::int32_t foxhunt_model_open_memory(const void* bytes, std::size_t size, const char* name,
                                       const foxhunt_options* options, foxhunt_model** out) {
  if (out != nullptr) *out = nullptr;
  if (bytes == nullptr || out == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_model_open_memory: bytes or out is null");
  }
  return open_model(options, out, [&] {
    return foxhunt::bundle::parse_bundle({static_cast<const std::byte*>(bytes), size},
                                         name == nullptr ? "memory" : name);
  });
}

void foxhunt_model_close(foxhunt_model* model) { delete model; }

std::int32_t foxhunt_model_facts(const foxhunt_model* model, foxhunt_facts* facts) {
  if (model == nullptr || facts == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_model_facts: model or facts is null");
  }
  const Plan& plan = *model->plan;
  const foxhunt::bundle::Bundle& bundle = plan.bundle();
  foxhunt_facts all{};
  all.n_features = plan.n_features();
  all.n_outputs = plan.n_outputs();
  all.feature_names = model->feature_pointers.data();
  all.output_names = model->output_pointers.data();
  all.bar_ns = bundle.context.book ? 0 : bundle.context.features.bar_seconds * 1'000'000'000;
  all.warm_up = bundle.context.schema.warm_up();
  all.bytes_per_step = plan.bytes_per_step();
  all.product = bundle.context.product.c_str();
  all.model_id = plan.model_id().c_str();
  all.file_id = plan.id().c_str();
  all.weights = foxhunt::bundle::to_string(plan.form()).data();
  all.kernels = model->kernels.c_str();
  all.certificate_json = model->certificate_json.c_str();
  all.training_json = bundle.training_json.c_str();
  all.latency_json = bundle.latency_json.c_str();
  if (!foxhunt::engine::c_write_struct(all, facts)) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_facts: set struct_size = sizeof(foxhunt_facts)");
  }
  return FOXHUNT_OK;
}

std::int32_t foxhunt_model_verify(const foxhunt_model* model, foxhunt_report* report) {
  if (model == nullptr) return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_model_verify: model is null");
  return c_guarded([&] {
    const foxhunt::engine::VerifyReport found = foxhunt::engine::verify(model->plan);
    foxhunt_report all{};
    all.ok = found.ok ? 1 : 0;
    all.rows = found.parity.rows;
    all.max_difference = found.parity.max_difference;
    all.mean_difference = found.parity.mean_difference;
    all.bound_difference = found.bound.difference;
    all.decision_flips = found.parity.decision_flips;
    all.bound_flip_rate = found.bound.flip_rate;
    all.status_differences = found.status_differences;
    std::memcpy(all.what, found.what.data(), std::min(found.what.size(), sizeof all.what - 1));
    if (report != nullptr && !foxhunt::engine::c_write_struct(all, report)) {
      return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_report: set struct_size = sizeof(foxhunt_report)");
    }
    if (!found.ok) return c_fail(FOXHUNT_E_VERIFY, found.what);
    return std::int32_t{FOXHUNT_OK};
  });
}

std::int32_t foxhunt_model_meaning(const foxhunt_model* model, const float* answer, std::size_t n,
                                   double* meaning) {
  if (model == nullptr || answer == nullptr || meaning == nullptr) {
    return c_fail(FOXHUNT_E_ARGUMENT, "foxhunt_model_meaning: model, answer or meaning is null");
  }
  return c_guarded([&] {
    const auto K = static_cast<std::size_t>(model->plan->n_outputs());
    if (n != K) {
      return c_fail(FOXHUNT_E_ARGUMENT,
                    fmt::format("foxhunt_model_meaning: n = {}, the model gives {}", n, K));
    }
    const auto values =
        foxhunt::bundle::meaning_of(std::span(answer, n), model->plan->bundle().head);
    std::ranges::copy(values, meaning);
    return std::int32_t{FOXHUNT_OK};
  });
}

}  // extern "C"
