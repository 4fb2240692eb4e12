#pragma once
// Memory of the chunked state space: one aligned block, carved into the arrays of SsdWorkspace.

#include <cstdint>
#include <memory>

#include "foxhunt/kernels/scratch_pool.h"
#include "foxhunt/kernels/ssd_chunk.h"

namespace foxhunt::kernels {

/// Uninitialised numbers on a 64-byte boundary.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : block_(static_cast<T*>(take_scratch(bytes_of(count))), Free{bytes_of(count)}) {}
  T* data() const { return block_.get(); }

 private:
  static std::size_t bytes_of(std::int64_t count) {
    return static_cast<std::size_t>(count < 1 ? 1 : count) * sizeof(T);
  }
  struct Free {
    std::size_t bytes;
    void operator()(T* block) const { give_scratch(block, bytes); }
  };
  std::unique_ptr<T, Free> block_;
};

/// Hands out pieces of a block, each on a 16-element boundary. Without a block it only counts.
template <class T>
class Carver {
 public:
  explicit Carver(T* block) : block_(block) {}
  T* take(std::int64_t count) {
    T* piece = block_ == nullptr ? nullptr : block_ + used_;
    used_ += (count + 15) / 16 * 16;
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  T* block_;
  std::int64_t used_ = 0;
};

/// The arrays of SsdWorkspace for chunks of up to `chunk` tokens.
template <class T>
SsdWorkspace<T> carve_ssd_workspace(const SsdShape& shape, std::int64_t chunk, Carver<T>& carver) {
  const std::int64_t stride = (chunk + 15) / 16 * 16;
  const std::int64_t inner = inner_width(shape);
  const std::int64_t group = state_size(shape) / shape.groups;
  SsdWorkspace<T> w{};
  w.stride = stride;
  for (T** p : {&w.decay, &w.decay_in, &w.weight_out, &w.decay_out})
    *p = carver.take(shape.heads * stride);
  for (T** p : {&w.U, &w.W, &w.off, &w.EdY, &w.dU}) *p = carver.take(chunk * inner);
  w.gram = carver.take(shape.groups * chunk * stride);
  for (T** p : {&w.L, &w.M}) *p = carver.take(shape.heads * chunk * stride);
  w.Bt = carver.take(shape.d_state * stride);
  for (T** p : {&w.St, &w.Rt}) *p = carver.take(group);
  w.Ut = carver.take(shape.headdim * stride);
  for (T** p : {&w.dM, &w.dGram}) *p = carver.take(chunk * stride);
  for (T** p : {&w.da, &w.column}) *p = carver.take(stride);
  return w;
}

}  // namespace foxhunt::kernels
