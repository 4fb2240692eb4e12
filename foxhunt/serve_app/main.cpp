// foxhunt-serve: answers with a trained model, in a process that holds no LibTorch. One verb a file
// of this room.
#include <array>
#include <csignal>

#include "foxhunt/serve_app/command.h"

namespace foxhunt::serve_app {
namespace {

constexpr std::array kCommands{
    Command{"serve", "answer a stream of market records, with a state that survives", add_serve},
    Command{"verify", "replay the golden rows of a bundle on this machine", add_verify},
    Command{"bench", "what a bundle answers in on this machine", add_bench},
};

}  // namespace
}  // namespace foxhunt::serve_app

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(), not our end
  return foxhunt::cli::guarded("foxhunt-serve", [argc, argv] {
    return foxhunt::cli::run_verb({.name = "foxhunt-serve",
                                   .about = "answers with a trained model",
                                   .quiet = "warnings and errors only",
                                   .commands = foxhunt::serve_app::kCommands},
                                  argc, argv);
  });
}
