#pragma once
// Memory for weights and streams: aligned, zero, touched.

#include <cstddef>
#include <memory>

namespace foxhunt::kernels {

/// One allocation, 64-byte aligned, zero, every page touched; with `huge`, in huge pages where the
/// system gives them.
class AlignedBlock {
 public:
  explicit AlignedBlock(std::size_t bytes = 0, bool huge = false);
  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_;
};

}  // namespace foxhunt::kernels
