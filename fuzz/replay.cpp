// Runs a target without libFuzzer, in any build:
//
//     NAME_fuzz CORPUS MUTATIONS     every file of the folder, then so many random mutations of
//     them NAME_fuzz FILE…                these inputs
//
// The input under way lies in NAME_fuzz.input of the working folder; it is gone after a clean run.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "foxhunt/base/file.h"
#include "foxhunt/base/rng.h"

#include "fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMaxInput = std::size_t{1} << 16;

class Replay {
 public:
  explicit Replay(std::filesystem::path under_way) : under_way_(std::move(under_way)) {}
  ~Replay() { std::filesystem::remove(under_way_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void run(const std::string& input) {
    std::ofstream(under_way_, std::ios::binary | std::ios::trunc) << input;
    // In memory of exactly its size, so that a sanitizer sees the first byte behind it.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++runs_;
  }
  int runs() const { return runs_; }

 private:
  std::filesystem::path under_way_;
  int runs_ = 0;
};

std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());  // the order of a folder is not the same everywhere
  std::vector<std::string> inputs;
  inputs.reserve(paths.size());
  for (const auto& path : paths) inputs.push_back(foxhunt::read_file(path));
  return inputs;
}

int replay_corpus(Replay& replay, const std::filesystem::path& folder, std::uint64_t mutations) {
  const std::vector<std::string> inputs = read_corpus(folder);
  if (inputs.empty()) {
    fmt::print(stderr, "{}: an empty corpus proves nothing\n", folder.string());
    return 2;
  }
  replay.run("");
  for (const std::string& input : inputs) replay.run(input);
  foxhunt::Rng rng(20240601);
  for (std::uint64_t i = 0; i < mutations; ++i) {
    replay.run(foxhunt::fuzz::mutate(inputs[static_cast<std::size_t>(rng.below(inputs.size()))],
                                     inputs, kMaxInput, rng));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  if (arguments.size() < 2) {
    fmt::print(stderr, "usage: NAME_fuzz CORPUS [MUTATIONS] | FILE…\n");
    return 2;
  }
  const std::filesystem::path program = arguments[0];
  Replay replay(program.filename().string() + ".input");
  if (std::filesystem::is_directory(arguments[1])) {
    std::uint64_t mutations = 0;
    if (arguments.size() > 2) {
      const std::string& text = arguments[2];
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data(), end, mutations).ptr != end) {
        fmt::print(stderr, "{} is no number of mutations\n", text);
        return 2;
      }
    }
    if (const int code = replay_corpus(replay, arguments[1], mutations); code != 0) return code;
  } else {
    for (std::size_t i = 1; i < arguments.size(); ++i) replay.run(foxhunt::read_file(arguments[i]));
  }
  fmt::print("{} inputs, no finding\n", replay.runs());
  return 0;
}
