#pragma once
// An output that takes nothing: counted, timed, and said once.

#include <string>

#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

class Stall {
 public:
  Stall(const Hooks& hooks, const std::string& output);
  ~Stall();
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

 private:
  const Hooks& hooks_;
  std::int64_t began_;
};

}  // namespace foxhunt::serve
