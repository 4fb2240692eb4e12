// foxhunt verify: the golden rows of a bundle, replayed here.
#include "foxhunt/engine/verify.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/bundle/weight_form.h"
#include "foxhunt/serve_app/command.h"

namespace foxhunt::serve_app {
namespace {

struct Options {
  std::string bundle;
  std::string kernels;
  std::string weights;
};

int not_ok() { return static_cast<int>(ExitCode::kData); }

/// A bundle that cannot be opened is not ok, either: machines get the same fields.
int refused(const Error& error) {
  const nlohmann::ordered_json out{
      {"ok", false}, {"max_difference", nullptr}, {"decision_flips", nullptr}, {"kernels", nullptr},
      {"rows", 0},   {"what", error.what()}};
  fmt::print("{}\n", out.dump(2));
  return static_cast<int>(error.code());
}

int run_verify(const Options& options, const Globals& globals) {
  engine::PlanOptions plan_options{.kernels = options.kernels, .form = {}};
  if (!options.weights.empty()) plan_options.form = bundle::weight_form_of(options.weights);
  std::shared_ptr<const engine::Plan> plan;
  try {
    plan = engine::Plan::open(options.bundle, plan_options);
  } catch (const FormatError& error) {
    if (globals.json) return refused(error);
    throw;
  }
  const engine::VerifyReport report = engine::verify(plan);
  const bundle::Parity& parity = report.parity;
  if (globals.json) {
    const nlohmann::ordered_json out{
        {"ok", report.ok},
        {"max_difference", parity.max_difference},
        {"decision_flips", parity.decision_flips},
        {"kernels", report.kernels},
        {"weights", bundle::to_string(plan->form())},
        {"rows", parity.rows},
        {"warm_up_rows", parity.warm_up_rows},
        {"sequences", parity.sequences},
        {"mean_difference", parity.mean_difference},
        {"status_differences", report.status_differences},
        {"bound", {{"difference", report.bound.difference}, {"flip_rate", report.bound.flip_rate}}},
        {"model", plan->model_id()},
        {"bundle", plan->id()},
        {"what", report.what}};
    fmt::print("{}\n", out.dump(2));
    return report.ok ? 0 : not_ok();
  }
  fmt::print("{}: {}\n", options.bundle, report.ok ? "holds" : "DOES NOT HOLD: " + report.what);
  fmt::print("model {}, weights {}, kernels {}\n", plan->model_id(),
             bundle::to_string(plan->form()), report.kernels);
  fmt::print(
      "{} golden rows, {} records without an answer, {} sequences: largest difference {:.3g} of "
      "the "
      "largest output (bound {:.3g}), {} decisions changed (bound {:.3g} of the rows)\n",
      parity.rows, parity.warm_up_rows, parity.sequences, parity.max_difference,
      report.bound.difference, parity.decision_flips, report.bound.flip_rate);
  return report.ok ? 0 : not_ok();
}

}  // namespace

Run add_verify(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("bundle", options->bundle, "model file (.fox)")
      ->required()
      ->check(CLI::ExistingFile);
  sub.add_option("--kernels", options->kernels, "avx512, avx2 or scalar; the machine's by default");
  sub.add_option("--weights", options->weights,
                 "fp32, fp16, bf16 or int8; the bundle's by default");
  return [options, &globals] { return run_verify(*options, globals); };
}

}  // namespace foxhunt::serve_app
