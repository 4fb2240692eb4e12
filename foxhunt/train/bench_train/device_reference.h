#pragma once
// What host_reference.h is for the CPU, on a GPU: a fixed matrix product and a copy. Torch-free.

#include <cstdint>
#include <memory>

#include "foxhunt/nn/device.h"

namespace foxhunt::train {

class DeviceReference {
 public:
  explicit DeviceReference(const nn::DeviceSpec& device);
  ~DeviceReference();
  DeviceReference(const DeviceReference&) = delete;
  DeviceReference& operator=(const DeviceReference&) = delete;

  void run();                  ///< hands one program to the device
  void wait();                 ///< until all that was handed over is done
  std::int64_t bytes() const;  ///< that it holds there

 private:
  struct Tensors;
  std::unique_ptr<Tensors> tensors_;
};

}  // namespace foxhunt::train
