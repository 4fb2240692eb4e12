// Reads the answers of `foxhunt serve BUNDLE --out shm:NAME` and prints them as the lines that
// serve itself would write. A strategy of your own does what print() below does.
//
//   ring_consumer NAME BUNDLE [--no-timing] [--after-each-us N] [--most N]
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/serve/shared_ring.h"
#include "foxhunt/serve/sink.h"
#include "foxhunt/serve/slots.h"

namespace {

using namespace foxhunt;
using serve::AnswerSlot;

struct Options {
  std::string ring;
  std::string bundle;
  bool no_timing = false;
  std::int64_t pause_us = 0;
  std::int64_t most = -1;
  std::uint64_t slots = 4096;
};

int consume(const Options& options) {
  const model::HeadConfig head = bundle::read_bundle(options.bundle).head;
  const auto ring = serve::open_ring<AnswerSlot>(options.ring, serve::RingRole::kConsumer,
                                                 serve::RingKind::kAnswers, options.slots);
  serve::RingConsumer<AnswerSlot> consumer(ring->memory());
  serve::RingHeader& header = ring->header();
  for (std::int64_t n = 0; n != options.most && !interrupted();) {
    const AnswerSlot* answer = consumer.front();
    if (answer == nullptr) {
      if (consumer.closed() && consumer.front() == nullptr) {
        ring->unlink();
        break;
      }
      std::fflush(stdout);
      wait_for(header.data, header.data_waiters, serve::Waiting::kBlock,
               [&] { return consumer.front() != nullptr || consumer.closed(); });
      continue;
    }
    fmt::print("{}", serve::line_of(*answer, head, !options.no_timing));
    consumer.pop();
    consumer.release();
    if (consumer.producer_waits()) serve::wake(header.space);
    ++n;
    if (options.pause_us > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds{options.pause_us});
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("prints the answers in a ring");
  app.add_option("ring", options.ring, "name of the ring")->required();
  app.add_option("bundle", options.bundle, "the model that is served")->required();
  app.add_flag("--no-timing", options.no_timing, "leave engine_time and latency_ns out");
  app.add_option("--after-each-us", options.pause_us, "a slow consumer: sleep so long");
  app.add_option("--most", options.most, "leave after so many answers");
  app.add_option("--slots", options.slots, "of a ring that has to be made")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  catch_interrupts();
  try {
    return consume(options);
  } catch (const Error& error) {
    fmt::print(stderr, "ring_consumer: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ring_consumer: {}\n", error.what());
    return 1;
  }
}
