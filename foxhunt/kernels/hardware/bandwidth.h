#pragma once
// How fast one core of this machine reads memory, by where the bytes lie.
//
// The floor under every latency: a streaming step reads each weight once, so it cannot end before
// its bytes have passed. Measured with the widest loads that the CPU has; nothing is computed.

#include <cstdint>
#include <string>

#include "foxhunt/base/machine.h"

namespace foxhunt::kernels {

/// One working set, read over and over. Rates in GB/s = 1e9 bytes a second; 0: not measured.
struct ReadRate {
  double median = 0.0;       ///< of the samples: what one may count on
  double best = 0.0;         ///< the fastest sample: what nothing may beat
  double spread = 0.0;       ///< (p90 - p10) / median of the samples
  std::int64_t bytes = 0;    ///< of the working set
  std::int64_t samples = 0;  ///< each of 0.2 ms or one pass, whichever is longer

  friend bool operator==(const ReadRate&, const ReadRate&) = default;
};

struct Bandwidth {
  ReadRate l1;    ///< half of L1d
  ReadRate l2;    ///< half of a core's share of L2
  ReadRate l3;    ///< beyond L2, well inside L3
  ReadRate dram;  ///< beyond L3

  friend bool operator==(const Bandwidth&, const Bandwidth&) = default;
};

/// Working sets for this machine, in bytes; 0: that level is not measured.
struct WorkingSets {
  std::int64_t l1 = 0;
  std::int64_t l2 = 0;
  std::int64_t l3 = 0;
  std::int64_t dram = 0;
};
WorkingSets working_sets(const Machine& machine);

/// A core's part of a cache: threads of one core count once. 0 where the cache is unknown.
std::int64_t share_of_core(const Cache& cache, std::int64_t threads_per_core);

/// Reads on the calling thread. A level whose memory cannot be had stays 0.
/// Cost    about half a second; never above one on a machine that is not stalled.
Bandwidth measure_bandwidth(const Machine& machine);

/// What of a measurement can be trusted.
struct JudgedBandwidth {
  Bandwidth bandwidth;
  std::string doubts;  ///< in words; empty: none
};
/// A rate that is not positive and finite, or above what a core can load in a cycle, is dropped;
/// one that is above the rate of a level nearer to the core is lowered to it. Samples that scatter
/// by more than 30 % are named.
JudgedBandwidth judge(const Bandwidth& measured);

}  // namespace foxhunt::kernels
