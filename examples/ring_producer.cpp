// Feeds a shared-memory ring that `foxhunt serve BUNDLE --in shm:NAME` reads: the bars or the order
// events of a DBN or CSV file, whichever comes first in it, at a given pace. What a feed handler of
// your own does looks like push() below.
//
//   ring_producer FILE NAME [--rate 1000] [--full wait|fail] [--no-end]
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <variant>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/market/reader.h"
#include "foxhunt/serve/shared_ring.h"
#include "foxhunt/serve/slots.h"

namespace {

using namespace foxhunt;

struct Options {
  std::string file;
  std::string ring;
  double rate = 0;  ///< records a second; 0: as fast as the ring takes them
  std::string full = "wait";
  bool no_end = false;
  std::uint64_t slots = 4096;
};

/// The symbol as a reader's file says it.
template <class Record>
std::string symbol_of(const market::Reader& reader, const Record& record) {
  const market::StreamInfo& info = reader.info();
  if (info.mappings.empty() && info.symbols.size() == 1) return info.symbols[0];
  return reader.symbol_of(record.instrument, market::index_time(record));
}

/// True when the record is in the ring. A full ring is the producer's to decide about.
template <class Slot>
bool push(serve::RingProducer<Slot>& producer, serve::RingHeader& header, const Slot& slot,
          bool waits) {
  bool pushed = producer.push(slot);
  if (!pushed) producer.count_full();
  while (!pushed && waits && !interrupted()) {
    wait_for(header.space, header.space_waiters, serve::Waiting::kBlock,
             [&] { return pushed = pushed || producer.push(slot); });
  }
  if (pushed && producer.consumer_waits()) serve::wake(header.data);
  return pushed;
}

/// All records of one type, `record` being the first of the file's.
template <class Record>
int feed_all(const Options& options, market::Reader& reader, const market::Record* record) {
  using Clock = std::chrono::steady_clock;
  using Slot = typename serve::SlotFor<Record>::Slot;
  const auto ring = serve::open_ring<Slot>(options.ring, serve::RingRole::kProducer,
                                           serve::SlotFor<Record>::kKind, options.slots);
  serve::RingProducer<Slot> producer(ring->memory());
  const auto began = Clock::now();
  std::int64_t sent = 0;
  for (; record != nullptr; record = reader.next()) {
    const auto* mine = std::get_if<Record>(record);
    if (mine == nullptr) continue;
    if (interrupted()) break;
    if (options.rate >
        0) {  // by the schedule, so that a late record does not delay those behind it
      const std::chrono::duration<double> due(static_cast<double>(sent) / options.rate);
      std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(due));
    }
    const market::StreamInfo& info = reader.info();
    const bool has_symbols = !info.mappings.empty() || !info.symbols.empty();
    const Slot slot = serve::slot_of(*mine, symbol_of(reader, *mine), has_symbols);
    if (!push(producer, ring->header(), slot, options.full == "wait")) {
      fmt::print(stderr, "ring_producer: the ring is full behind record {}\n", sent);
      return 1;
    }
    ++sent;
  }
  if (!options.no_end) {
    producer.close();
    serve::wake(ring->header().data);
  }
  fmt::print(stderr, "ring_producer: {} records; the ring was full {} times\n", sent,
             ring->header().full.load());
  return 0;
}

int feed(const Options& options) {
  const auto reader = market::open_reader(options.file);
  const market::Record* record = reader->next();
  while (record != nullptr && !std::holds_alternative<market::Bar>(*record) &&
         !std::holds_alternative<market::OrderEvent>(*record))
    record = reader->next();
  if (record != nullptr && std::holds_alternative<market::OrderEvent>(*record))
    return feed_all<market::OrderEvent>(options, *reader, record);
  return feed_all<market::Bar>(options, *reader, record);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("feeds a ring from a file");
  app.add_option("file", options.file, "DBN or CSV")->required();
  app.add_option("ring", options.ring, "name of the ring")->required();
  app.add_option("--rate", options.rate, "records a second; 0: as fast as the ring takes them");
  app.add_option("--full", options.full, "what to do when the ring is full")
      ->check(CLI::IsMember({"wait", "fail"}))
      ->capture_default_str();
  app.add_flag("--no-end", options.no_end, "leave without saying that the stream is over");
  app.add_option("--slots", options.slots, "of a ring that has to be made")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  catch_interrupts();
  try {
    return feed(options);
  } catch (const Error& error) {
    fmt::print(stderr, "ring_producer: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ring_producer: {}\n", error.what());
    return 1;
  }
}
