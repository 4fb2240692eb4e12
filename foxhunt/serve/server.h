#pragma once
// A bundle that answers a stream: records in, answers out, in order, with a state that survives.
//
// docs/serving.md says what is promised and what is not.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "foxhunt/engine/plan.h"
#include "foxhunt/serve/counters.h"
#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

struct ServeOptions {
  std::filesystem::path bundle;
  std::string in = "-";   ///< a path, "-" or "shm:NAME"
  std::string out = "-";  ///< the same
  std::string symbol{};   ///< one contract only; "": every one of the product
  market::ReadOptions read{};
  engine::PlanOptions plan{};
  bool timing = true;  ///< engine_time and latency_ns in the lines
  Waiting waiting = Waiting::kBlock;
  std::uint64_t ring_slots = 4096;  ///< of rings that have to be made
  std::filesystem::path state{};    ///< "": none
  std::int64_t save_every = 0;      ///< records; 0: at the end alone (a ring: half of its slots)
  bool continues = false;  ///< the input begins behind the state's last record, whatever it is
  std::optional<int> pin{};
  bool lock_memory = false;
  std::optional<std::uint16_t> metrics{};  ///< port on 127.0.0.1; 0: any
};

/// Serves until the input ends or stop() says so; both drain what was read and save the state.
/// Errors  DataError: the bundle does not hold its own proof, a state that does not fit to input or
/// output, answers that were not taken and cannot be kept; those of Plan::open(), Source::open()
/// and Sink::open(); IoError: the output is gone.
void serve(const ServeOptions& options, const std::function<bool()>& stop, Counters& counters,
           const Clock& clock = system_clock());

}  // namespace foxhunt::serve
