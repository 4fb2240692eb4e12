#pragma once
// Says that what crosses between devices while one lives is meant to: the observer (meta_audit.h)
// lists it under this name instead of calling it hidden. Torch-free.

namespace foxhunt::nn {

/// Of this thread, innermost wins. Cost  a thread-local pointer, two stores.
class DeclaredTransfer {
 public:
  /// `what`: a literal, "the batch to the device".
  explicit DeclaredTransfer(const char* what) : before_(current_) { current_ = what; }
  ~DeclaredTransfer() { current_ = before_; }
  DeclaredTransfer(const DeclaredTransfer&) = delete;
  DeclaredTransfer& operator=(const DeclaredTransfer&) = delete;

  /// Null: nothing is declared.
  static const char* current() { return current_; }

 private:
  inline static thread_local const char* current_ = nullptr;
  const char* before_;
};

}  // namespace foxhunt::nn
