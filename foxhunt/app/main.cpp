// foxhunt: trains Mamba-2 on futures data and says honestly how good it is. One verb a file of this
// room.
#include <array>
#include <string>
#include <string_view>

#include "foxhunt/app/beside.h"
#include "foxhunt/app/command.h"

namespace foxhunt::app {
namespace {

constexpr std::array kCommands{
    Command{"doctor", "what this machine is and can do", add_doctor},
    Command{"data", "look at and convert market data", add_data},
    Command{"features", "prove that no feature, label, scale or split sees the future",
            add_features},
    Command{"estimate", "what memory a training run will need, part by part", add_estimate},
    Command{"train", "train a model from a configuration", add_train},
    Command{"resume", "go on with a training that was cut off, to the same bits", add_resume},
    Command{"launch", "train in several processes on this machine", add_launch},
    Command{"evaluate", "score a run on rows it has not seen, beside baselines", add_evaluate},
    Command{"report", "a run as a page to look at, or several beside each other", add_report},
    Command{"predict", "answer bar by bar with a trained model", add_predict},
    Command{"export", "a trained run as one file that serves, with its proof", add_export},
    Command{"serve", "answer a stream of market records in microseconds", add_handed_over},
    Command{"verify", "replay the golden rows of a bundle on this machine", add_handed_over},
    Command{"walkforward", "train again and again while time goes on, and judge it all",
            add_walkforward},
    Command{"tune", "look for better settings by the validation loss", add_tune},
    Command{"models", "which models there are, which one serves, how much was tried", add_models},
    Command{"inspect", "what a trained model keeps in its state, and a smaller one", add_inspect},
    Command{"check", "two back ends on the same rows; where every tensor of a training lies",
            add_check},
    Command{"bench", "how fast this machine trains, beside LibTorch and the floor", add_bench},
    Command{"config", "show the resolved configuration, its keys and its schema", add_config},
};

/// The text of an error of LibTorch or std, without the stack that LibTorch adds.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// LibTorch has no type of its own for a failed allocation on the CPU: its text tells.
ExitCode code_of(const std::exception& error) {
  const std::string_view text = error.what();
  const bool memory = text.find("allocate memory") != std::string_view::npos ||
                      text.find("out of memory") != std::string_view::npos;
  return memory ? ExitCode::kMemory : ExitCode::kFailure;
}

cli::Unexpected explain(const std::exception& error) {
  return {.text = first_line(error), .code = code_of(error)};
}

}  // namespace
}  // namespace foxhunt::app

int main(int argc, char** argv) {
  namespace app = foxhunt::app;
  const auto body = [argc, argv] {
    if (app::is_verb_of_serving_program(argc, argv)) app::run_serving_program(argc, argv);
    return foxhunt::cli::run_verb({.name = "foxhunt",
                                   .about = "Mamba-2 on futures data, with proof",
                                   .quiet = "no progress, warnings and errors only",
                                   .commands = app::kCommands},
                                  argc, argv);
  };
  return foxhunt::cli::guarded("foxhunt", body, app::explain);
}
