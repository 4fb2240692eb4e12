#pragma once
// How a verb of the command line is built: it adds its options and returns what to run once they
// are parsed.

#include <functional>
#include <string>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/market/reader.h"

namespace CLI {
class App;
}

namespace foxhunt::app {

/// Options that every verb understands.
struct Globals {
  bool json = false;   ///< machine-readable result on stdout
  bool quiet = false;  ///< no progress, no log below warnings
  int verbose = 0;
  std::vector<std::string> command_line;  ///< as given, program name first
};

using Run = std::function<int()>;

struct Command {
  const char* name;
  const char* help;
  /// Adds options to `sub`; the returned function runs after parsing and answers the exit code.
  Run (*add)(CLI::App& sub, const Globals& globals);
};

Run add_doctor(CLI::App& sub, const Globals& globals);
Run add_data(CLI::App& sub, const Globals& globals);
Run add_train(CLI::App& sub, const Globals& globals);
Run add_evaluate(CLI::App& sub, const Globals& globals);
Run add_predict(CLI::App& sub, const Globals& globals);
Run add_export(CLI::App& sub, const Globals& globals);
Run add_bench(CLI::App& sub, const Globals& globals);
/// Below add_bench(); for a program that links foxhunt_count_allocations.
Run add_inspect(CLI::App& sub, const Globals& globals);
Run add_config(CLI::App& sub, const Globals& globals);
Run add_check(CLI::App& sub, const Globals& globals);

/// --device, alike for every verb that has it.
void add_device_option(CLI::App& sub, std::string& device);
/// Progress as the globals ask for it.
ProgressMode progress_mode(const Globals& globals);

}  // namespace foxhunt::app
