// The one part of an estimate that no shape tells: on the CPU measured, by
// `bench/memory/grid.py --library`. CUDA's figures are assumptions until a GPU was measured; the
// workspace is what LibTorch asks for on Hopper, 8 MiB elsewhere.
#include "foxhunt/train/memory/estimate.h"

namespace foxhunt::train {

LibraryOverhead library_overhead() {
  return {
      .cpu = 150LL << 20, .a_thread = 1LL << 20, .cuda = 512LL << 20, .cuda_workspace = 32LL << 20};
}

}  // namespace foxhunt::train
