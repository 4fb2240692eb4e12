#pragma once
// The verbs of `foxhunt`, a file each; cli/program.h says how a verb is built.

#include <cstdint>
#include <filesystem>
#include <string>

#include "foxhunt/base/progress.h"
#include "foxhunt/cli/program.h"

namespace foxhunt::train {
struct TrainReport;
}
namespace CLI {
class App;
}

namespace foxhunt::app {

using cli::Command;
using cli::Globals;
using cli::Run;

Run add_doctor(CLI::App& sub, const Globals& globals);
Run add_data(CLI::App& sub, const Globals& globals);
Run add_estimate(CLI::App& sub, const Globals& globals);
Run add_train(CLI::App& sub, const Globals& globals);
Run add_resume(CLI::App& sub, const Globals& globals);
Run add_evaluate(CLI::App& sub, const Globals& globals);
Run add_predict(CLI::App& sub, const Globals& globals);
Run add_export(CLI::App& sub, const Globals& globals);
Run add_bench(CLI::App& sub, const Globals& globals);
Run add_inspect(CLI::App& sub, const Globals& globals);
Run add_report(CLI::App& sub, const Globals& globals);
Run add_config(CLI::App& sub, const Globals& globals);
Run add_features(CLI::App& sub, const Globals& globals);
Run add_launch(CLI::App& sub, const Globals& globals);
Run add_walkforward(CLI::App& sub, const Globals& globals);
Run add_tune(CLI::App& sub, const Globals& globals);
Run add_models(CLI::App& sub, const Globals& globals);
Run add_check(CLI::App& sub, const Globals& globals);

/// --device, alike for every verb that has it.
void add_device_option(CLI::App& sub, std::string& device);
/// --pause-after-epoch of train and resume.
void add_pause_option(CLI::App& sub, std::int64_t& epoch);
/// The outcome of train and resume.
void print_report(const train::TrainReport& report, const Globals& globals);
/// "report  RUN/report.html" as a last line for people, where the page is there.
void print_page(const std::filesystem::path& run, const Globals& globals);
/// --ledger, alike for every verb that records; ledger::find_ledger() reads it.
void add_ledger_option(CLI::App& sub, std::string& ledger);
/// Enters a run that has ended into the ledger; once, where several processes trained it.
void record_run(const train::TrainReport& report, const std::filesystem::path& ledger);
/// Progress as the globals ask for it.
ProgressMode progress_mode(const Globals& globals);

}  // namespace foxhunt::app
