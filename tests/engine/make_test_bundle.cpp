// make_test_bundle DIR [SEED]: a small model with random weights, and what the engine answers with
// it, for the tests of the C interface, the example and the Python package.
//
//   model.fox      the bundle, golden rows included
//   bars.csv       time_ns,open,high,low,close,volume: bars as a program would get them
//   answers.csv    status and outputs (exact float32) of each bar
//   rows.f32       [T, F] rows of features, some of them not finite;  rows_out.f32 [T, K] what
//                  step() answers, NaN where it answers nothing
//   orders/        model.fox, orders.csv, answers.csv: the same of a model that takes order events;
//                  prices are whole numbers of 1e-9, times nanoseconds
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "foxhunt/bundle/bundle.h"

#include "tests/engine/proven_book_bundle.h"

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

void write_answers(const std::filesystem::path& dir, const std::vector<test::Answer>& all) {
  std::ofstream answers(dir / "answers.csv");
  for (const test::Answer& answer : all) {
    answers << to_string(answer.status);
    for (const float v : answer.out) answers << fmt::format(",{:.9g}", v);
    answers << '\n';
  }
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
  write_answers(dir, test::answers_of(plan, bars));
  write_rows(dir, plan);
}

void make_orders(const std::filesystem::path& dir, std::uint64_t seed) {
  std::filesystem::create_directories(dir);
  bundle::write_bundle(dir / "model.fox", test::proven_book_bundle(seed));
  const std::vector<market::OrderEvent> feed = test::an_order_feed();
  // As feeds say it: whoever reads the file sees both ways to say that there is none.
  const auto size_text = [](const market::OrderEvent& e) {
    return e.size == 0 && e.sequence % 2 == 0 ? "4294967295" : std::to_string(e.size);
  };
  std::ofstream csv(dir / "orders.csv");
  csv << "event_ns,received_ns,order_id,price,size,sequence,instrument_id,delta_ns,publisher_id,"
         "flags,channel_id,action,side\n";
  for (const market::OrderEvent& e : feed) {
    csv << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", count(e.ts_event),
                       count(e.ts_recv), e.order_id, e.price.nano, size_text(e), e.sequence,
                       e.instrument.instrument_id, e.ts_in_delta, e.instrument.publisher_id,
                       e.flags, e.channel_id, e.action, static_cast<char>(e.side));
  }
  write_answers(dir, test::answers_of(Plan::open(dir / "model.fox"), feed));
}

}  // namespace
}  // namespace foxhunt::engine

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "make_test_bundle DIR [SEED]\n");
    return 2;
  }
  try {
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    const std::filesystem::path dir = argv[1];
    foxhunt::engine::make(dir, seed);
    foxhunt::engine::make_orders(dir / "orders", seed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_test_bundle: {}\n", error.what());
    return 1;
  }
  return 0;
}
