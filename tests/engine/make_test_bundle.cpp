// make_test_bundle DIR [SEED]: a small model with random weights, and what the engine answers with
// it, for the tests of the C interface, the example and the Python package.
//
//   model.fox      the bundle, golden rows included
//   bars.csv       time_ns,open,high,low,close,volume: bars as a program would get them
//   answers.csv    status and outputs (exact float32) of each bar
//   rows.f32       [T, F] rows of features, some of them not finite;  rows_out.f32 [T, K] what
//                  step() answers, NaN where it answers nothing
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "foxhunt/bundle/bundle.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine {
namespace {

/// As people write prices: 1701, 1700.25.
std::string decimal(Price price) {
  if (price.is_null()) return "";
  std::string text =
      fmt::format("{}.{:09}", price.nano / Price::kUnitsPerOne, price.nano % Price::kUnitsPerOne);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void write_floats(const std::filesystem::path& path, const std::vector<float>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

void write_rows(const std::filesystem::path& dir, const std::shared_ptr<const Plan>& plan) {
  const auto F = static_cast<std::size_t>(plan->n_features());
  const auto K = static_cast<std::size_t>(plan->n_outputs());
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Rng rng(11);
  Session session(plan);
  std::vector<float> rows;
  std::vector<float> answers;
  for (int t = 0; t < 100; ++t) {
    std::vector<float> row(F);
    for (float& v : row) v = static_cast<float>(rng.uniform(-3, 3));
    if (t % 17 == 5) row[F - 1] = kNan;
    std::vector<float> out(K, kNan);
    session.step(row, out);
    rows.insert(rows.end(), row.begin(), row.end());
    answers.insert(answers.end(), out.begin(), out.end());
  }
  write_floats(dir / "rows.f32", rows);
  write_floats(dir / "rows_out.f32", answers);
}

void make(const std::filesystem::path& dir, std::uint64_t seed) {
  std::filesystem::create_directories(dir);
  const bundle::Bundle model = test::proven_bundle(seed);
  bundle::write_bundle(dir / "model.fox", model);
  const auto plan = Plan::open(dir / "model.fox");
  const std::vector<market::Bar> bars = test::a_market();
  std::ofstream csv(dir / "bars.csv");
  csv << "time_ns,open,high,low,close,volume\n";
  for (const market::Bar& bar : bars) {
    csv << fmt::format("{},{},{},{},{},{}\n", count(bar.start), decimal(bar.open),
                       decimal(bar.high), decimal(bar.low), decimal(bar.close), bar.volume);
  }
  std::ofstream answers(dir / "answers.csv");
  for (const test::Answer& answer : test::answers_of(plan, bars)) {
    answers << to_string(answer.status);
    for (const float v : answer.out) answers << fmt::format(",{:.9g}", v);
    answers << '\n';
  }
  write_rows(dir, plan);
}

}  // namespace
}  // namespace foxhunt::engine

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "make_test_bundle DIR [SEED]\n");
    return 2;
  }
  try {
    foxhunt::engine::make(argv[1], argc > 2 ? std::stoull(argv[2]) : 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_test_bundle: {}\n", error.what());
    return 1;
  }
  return 0;
}
