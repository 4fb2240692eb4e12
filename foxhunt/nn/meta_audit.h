#pragma once
// Watches every LibTorch operation while it lives, and names those that would stall or break a
// training loop on a GPU: operations whose inputs lie on two devices, and copies from one device to
// another.
//
// On the meta device this guards CUDA without a GPU: several operations that fail on CUDA (cat,
// index, a Linear with its weight elsewhere) do not throw on meta.

#include <cstdint>
#include <set>
#include <string>

namespace foxhunt::nn {

/// One at a time in a process (LibTorch's observers are plain functions). Errors  Error when
/// another one lives.
class MetaAudit {
 public:
  MetaAudit();
  ~MetaAudit();
  MetaAudit(const MetaAudit&) = delete;
  MetaAudit& operator=(const MetaAudit&) = delete;

  /// "aten::addmm arg2=cpu[8, 4]": operations with inputs on two devices, and the inputs that lie
  /// elsewhere. A CPU tensor without dimensions is legal beside any device and not named; intended
  /// copies are under transfers().
  std::set<std::string> mixed() const;
  /// "aten::copy_ cuda:0[4] -> cpu": values that cross devices, either way; and "aten::nonzero
  /// cuda:0", operations that make the host wait for a device because the size or the branch
  /// depends on values there. Reading a scalar that lies on the CPU is none.
  std::set<std::string> transfers() const;
  std::int64_t operations() const;  ///< seen so far: an audit that saw none proved nothing

 private:
  std::uint64_t handle_;
};

}  // namespace foxhunt::nn
