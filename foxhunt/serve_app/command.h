#pragma once
// How a verb of `foxhunt-serve` is built: it adds its options and returns what to run once they are
// parsed. A new verb is a file here, a line in main.cpp, and a line in app/beside.cpp.

#include <functional>

namespace CLI {
class App;
}

namespace foxhunt::serve_app {

/// Options that every verb understands.
struct Globals {
  bool json = false;  ///< machine-readable result on stdout
  bool quiet = false;
  int verbose = 0;
};

using Run = std::function<int()>;

struct Command {
  const char* name;
  const char* help;
  Run (*add)(CLI::App& sub, const Globals& globals);
};

Run add_serve(CLI::App& sub, const Globals& globals);
Run add_verify(CLI::App& sub, const Globals& globals);
Run add_bench(CLI::App& sub, const Globals& globals);

}  // namespace foxhunt::serve_app
