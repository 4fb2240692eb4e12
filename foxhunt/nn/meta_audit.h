#pragma once
// Watches every LibTorch operation while it lives, and names those that would stall or break a
// training loop on a GPU: operations whose inputs lie on two devices, and copies from one device to
// another.
//
// On the meta device this guards CUDA without a GPU: several operations that fail on CUDA (cat,
// index, a Linear with its weight elsewhere) do not throw on meta.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace at {
class Tensor;
}

namespace foxhunt::nn {

/// An input that lies elsewhere than the accelerator's inputs of the same operation.
struct MixedOperand {
  std::string operation;     ///< "aten::addmm"
  std::int64_t argument = 0; /**< counts from 0 */
  std::string device;        ///< "cpu"
  std::string shape;         ///< "[8, 4]"
  std::string owner;         ///< as named, followed or "made by aten::arange"; "" unknown
  std::string beside;        ///< a named input of the operation that lies right; "" none
};

/// Bytes that went from one device to another, or a wait of the host for a device.
struct Crossing {
  std::string operation;  ///< "aten::_to_copy"
  std::string from, to;   ///< devices; `to` of a wait is "host"
  std::string owner;      ///< of what crossed; "" unknown
  std::string declared;   ///< name of the DeclaredTransfer around it; "" hidden
  std::string after;      ///< the operation before it on its thread
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// One at a time in a process (LibTorch's observers are plain functions). Errors  Error when
/// another one lives.
class MetaAudit {
 public:
  /// `follow_host`: tensors made on the CPU while it lives are known by the operation that made
  /// them and by the named tensor they came from; for audits of an accelerator.
  explicit MetaAudit(bool follow_host = false);
  ~MetaAudit();
  MetaAudit(const MetaAudit&) = delete;
  MetaAudit& operator=(const MetaAudit&) = delete;

  /// From now on this tensor and views into it are called `owner`. Keeps no memory alive.
  void name(const at::Tensor& tensor, const std::string& owner);

  /// "aten::addmm arg2=cpu[8, 4]": operations with inputs on two devices, and the inputs that lie
  /// elsewhere. A CPU tensor without dimensions is legal beside any device and not named; intended
  /// copies are under transfers().
  std::set<std::string> mixed() const;
  /// "aten::copy_ cuda:0[4] -> cpu": values that cross devices, either way; and "aten::nonzero
  /// cuda:0", operations that make the host wait for a device because the size or the branch
  /// depends on values there. Reading a scalar that lies on the CPU is none.
  std::set<std::string> transfers() const;
  std::int64_t operations() const;  ///< seen so far: an audit that saw none proved nothing

  /// mixed() and transfers() one by one. A copy inside of a copy is not counted again.
  std::vector<MixedOperand> mixed_operands() const;
  std::vector<Crossing> crossings() const;
  /// Inputs with dimensions seen, by device.
  std::map<std::string, std::int64_t> operands() const;

 private:
  std::uint64_t handle_;
};

}  // namespace foxhunt::nn
