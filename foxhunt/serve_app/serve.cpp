// foxhunt serve: a stream of market records in, answers out.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "foxhunt/base/interrupt.h"
#include "foxhunt/bundle/weight_form.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/serve/server.h"
#include "foxhunt/serve_app/command.h"

namespace foxhunt::serve_app {
namespace {

struct Options {
  serve::ServeOptions serve;
  std::string weights;
  bool spin = false;
  bool block = false;  ///< what happens without --spin, too
  bool no_timing = false;
  int pin = 0;
  std::uint16_t metrics = 0;
};

}  // namespace

Run add_serve(CLI::App& sub, const Globals&) {
  auto options = std::make_shared<Options>();
  serve::ServeOptions& o = options->serve;
  sub.add_option("bundle", o.bundle, "model file (.fox)")->required()->check(CLI::ExistingFile);
  sub.add_option("--in", o.in,
                 "records: a DBN or CSV file, - for standard input, shm:NAME for a ring")
      ->capture_default_str();
  sub.add_option("--out", o.out, "answers: a file, - for standard output, shm:NAME for a ring")
      ->capture_default_str();
  sub.add_option("--symbol", o.symbol, "one contract of the stream, as ESZ3");
  sub.add_option("--kernels", o.plan.kernels, "avx512, avx2 or scalar; the machine's by default");
  sub.add_option("--weights", options->weights,
                 "fp32, fp16, bf16 or int8; the bundle's by default");
  sub.add_flag("--no-timing", options->no_timing,
               "leave engine_time and latency_ns out of the lines, so that files can be compared");
  sub.add_option("--state", o.state,
                 "file that the stream goes on from, and is saved to at the end");
  sub.add_option("--save-every", o.save_every, "save the state every so many records, too")
      ->check(CLI::NonNegativeNumber);
  sub.add_flag("--continues", o.continues,
               "the input begins behind the state's last record: skip and check nothing");
  sub.add_option("--ring-slots", o.ring_slots,
                 "slots of a ring that has to be made, a power of two")
      ->capture_default_str();
  CLI::Option* spin =
      sub.add_flag("--spin", options->spin, "wait for records on a busy core, not asleep");
  sub.add_flag("--block", options->block, "wait for records asleep (the default)")->excludes(spin);
  CLI::Option* pin = sub.add_option("--pin", options->pin, "CPU to stay on");
  sub.add_flag("--lock-memory", o.lock_memory, "keep all pages in memory (mlockall)");
  CLI::Option* metrics = sub.add_option("--metrics", options->metrics,
                                        "port on 127.0.0.1 for Prometheus; 0 takes a free one");
  sub.add_option("--dbn-version", o.read.dbn_version,
                 "of a DBN stream without metadata: 1, 2 or 3");
  cli::add_csv_options(sub, o.read.csv);
  return [options, pin, metrics] {
    serve::ServeOptions& chosen = options->serve;
    if (!options->weights.empty()) chosen.plan.form = bundle::weight_form_of(options->weights);
    chosen.timing = !options->no_timing;
    chosen.waiting = options->spin ? serve::Waiting::kSpin : serve::Waiting::kBlock;
    if (pin->count() != 0) chosen.pin = options->pin;
    if (metrics->count() != 0) chosen.metrics = options->metrics;
    serve::Counters counters;
    serve::serve(
        chosen, [] { return interrupted(); }, counters);
    return 0;
  };
}

}  // namespace foxhunt::serve_app
