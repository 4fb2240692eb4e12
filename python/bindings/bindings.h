#pragma once
// The classes of foxhunt._engine. The package's Python files build on them; what checks units and
// names is there, what computes is here.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "foxhunt/engine/plan.h"
#include "foxhunt/engine/session.h"

namespace foxhunt::python {

namespace nb = nanobind;

struct Model {
  std::shared_ptr<const engine::Plan> plan;
  std::string path;  ///< "" where it came from memory
};

/// A stream that refuses two threads at once: a batch runs without Python's lock.
struct Stream {
  explicit Stream(std::shared_ptr<const engine::Plan> of) : plan(std::move(of)), session(plan) {}
  Stream(const Stream& other) : plan(other.plan), session(other.session) {}

  std::shared_ptr<const engine::Plan> plan;
  engine::Session session;
  std::atomic<bool> busy{false};
};

/// Holds a stream for one call. Errors  RuntimeError in Python: another thread is in it.
class Turn {
 public:
  explicit Turn(Stream& stream) : stream_(stream) {
    if (stream_.busy.exchange(true, std::memory_order_acquire)) {
      throw std::runtime_error(
          "this session is in use by another thread or twice in one call: give each thread and "
          "each stream its own, session.copy() makes one");
    }
  }
  ~Turn() { stream_.busy.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Stream& stream_;
};

/// Errors  ValueError naming both models.
void require_same_model(const Stream& one, const Stream& other);

void bind_model(nb::module_& module);
void bind_session(nb::module_& module);

}  // namespace foxhunt::python
