#include "foxhunt/app/beside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::app {
namespace {

/// The words of a command line that are no flags; the global options take no values.
std::vector<std::string_view> words_of(int argc, const char* const* argv) {
  std::vector<std::string_view> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with('-')) words.push_back(word);
  }
  return words;
}

}  // namespace

bool is_verb_of_serving_program(int argc, const char* const* argv) {
  const std::vector<std::string_view> words = words_of(argc, argv);
  if (words.empty()) return false;
  if (words[0] == "bench") return words.size() > 1 && words[1] == "step";
  return words[0] == "serve" || words[0] == "verify";
}

void run_serving_program(int argc, const char* const* argv) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "foxhunt-serve";
  std::vector<std::string> words(argv, argv + argc);
  words.front() = program.string();
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw UsageError(
      fmt::format("{}: cannot be started: {}", program.string(), std::strerror(errno)));
}

Run add_handed_over(CLI::App&, const Globals&) {
  return [] { return 0; };  // never reached: main() hands over before it parses
}

}  // namespace foxhunt::app
