#pragma once
// Door: times whole training steps at stated shapes, native kernels beside LibTorch's operations
// beside the matrix products alone, in one run. Torch-free.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace foxhunt::train {

struct SsdBenchShape {
  std::string name;
  std::int64_t batch, tokens, d_model, layers, d_state, headdim;
};
/// "hft", "middle", "layer".
const std::vector<SsdBenchShape>& ssd_bench_shapes();

struct SsdBenchOptions {
  std::vector<std::string> shapes{};  ///< names; empty: all
  std::vector<std::int64_t> threads{1};
  std::vector<std::string> precisions{"fp32"};  ///< "fp32", "bf16"
  std::int64_t repeats = 9;                     ///< timed rounds; every program once a round
  bool native_only = false;                     ///< for profilers: nothing else runs, all else is 0
  std::int64_t lanes = 0;                       ///< 0: 8, what train chooses on up to 8 cores
};

/// Times of one program over the rounds, in milliseconds a step.
struct Spread {
  double median = 0, least = 0, most = 0;
};

struct SsdBenchRow {
  std::string shape;
  std::int64_t threads = 0;
  std::string precision;
  std::string kernels;  ///< name of the kernel table
  std::int64_t parameters = 0;
  std::int64_t lanes = 0;
  Spread native{}, aten{}, floor{};  ///< whole step; whole step; matrix products of the projections
  double tokens_per_s = 0;           ///< native
  std::int64_t native_peak_bytes = -1;    ///< resident memory of a step over what was there before;
  std::int64_t aten_peak_bytes = -1;      ///< -1: this system does not tell
  double native_loss = 0, aten_loss = 0;  ///< after the same steps from the same weights
};

/// Calls `done` after each row. The step: forward, loss, backward, clipping, AdamW.
/// Errors  UsageError naming an unknown shape or precision and the choices.
std::vector<SsdBenchRow> bench_ssd(const SsdBenchOptions& options,
                                   const std::function<void(const SsdBenchRow&)>& done);

/// One matrix product of a layer: m x n over `depth`; `turned`: the left side is read down its
/// columns.
struct GemmBenchShape {
  std::string name;
  std::int64_t m, n, depth;
  bool turned;
};
struct GemmBenchRow {
  GemmBenchShape shape{};
  std::vector<std::pair<std::string, double>> gflops{};  ///< median, a table or "library" each
};
/// The products that a training step is made of, one thread, float32, data in the cache.
std::vector<GemmBenchRow> bench_gemm(std::int64_t repeats);

}  // namespace foxhunt::train
