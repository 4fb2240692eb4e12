// Writes a small bundle for tests of programs: random weights, features of the real pipeline,
// golden rows from the engine itself over the ES sample of this repository.
//
//   make_sample_bundle OUT.fox [SEED [SAMPLE.dbn [spoiled]]]
//
// SAMPLE.dbn: the sample unpacked, for tests that feed it record by record. spoiled: a whole file
// whose golden rows are not the model's.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>

#include "foxhunt/base/file.h"
#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/engine/session.h"
#include "foxhunt/engine/verify.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/market/byte_source.h"

namespace {

using namespace foxhunt;

constexpr const char* kSample = "data/es-sample/es-ohlcv-1m.dbn.zst";
constexpr std::size_t kGolden = 3000;

bundle::Bundle make(std::uint64_t seed) {
  bundle::Bundle b = bundle::test::small_bundle(seed);
  b.form = bundle::WeightForm::kF32;
  b.golden = {};
  const auto plan = engine::Plan::build(b);
  engine::Session session(plan);
  market::BarSelector selector({.product = "ES"});
  const auto reader = market::open_reader(kSample);
  std::vector<float> out(static_cast<std::size_t>(plan->n_outputs()));
  while (const market::Bar* bar = selector.next(*reader)) {
    const bool ready = session.on_event(*bar, out) == engine::Status::kReady;
    b.golden.bars.push_back(*bar);
    b.golden.ready.push_back(ready ? 1 : 0);
    if (ready) b.golden.outputs.insert(b.golden.outputs.end(), out.begin(), out.end());
    if (b.golden.bars.size() == kGolden) break;
  }
  b.certificate.parity = engine::verify(engine::Plan::build(b)).parity;
  b.certificate.bound = bundle::bound_of(b.form);
  b.certificate.kernels = plan->kernels();
  b.certificate.reference = "the engine itself: a test, no proof";
  b.certificate.data = kSample;
  return b;
}

std::string unpacked(const char* path) {
  const auto source = market::open_bytes(path);
  std::string all;
  std::vector<std::byte> part(std::size_t{1} << 16U);
  while (const std::size_t n = source->read(part)) {
    all.append(reinterpret_cast<const char*>(part.data()), n);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "make_sample_bundle OUT.fox [SEED [SAMPLE.dbn [spoiled]]]\n");
    return 2;
  }
  try {
    const std::uint64_t seed = argc > 2 ? std::stoull(argv[2]) : 1;
    bundle::Bundle made = make(seed);
    if (argc > 4) {
      for (float& v : made.golden.outputs) v += 0.01F;
    }
    fmt::print("{}\n", bundle::write_bundle(argv[1], made));
    if (argc > 3) write_file_atomic(argv[3], unpacked(kSample));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_sample_bundle: {}\n", error.what());
    return 1;
  }
}
