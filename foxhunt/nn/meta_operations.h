#pragma once
// Operations that LibTorch can do on the meta device from Python alone: shapes and types for C++.

#include <memory>

namespace foxhunt::nn {

/// While one lives, aten::where runs on meta, too: backward passes of maximum and clamp use it.
class MetaOperations {
 public:
  MetaOperations();
  ~MetaOperations();
  MetaOperations(const MetaOperations&) = delete;
  MetaOperations& operator=(const MetaOperations&) = delete;

 private:
  struct Registration;
  std::unique_ptr<Registration> registration_;
};

}  // namespace foxhunt::nn
