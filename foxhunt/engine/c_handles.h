#pragma once
// What the handles of foxhunt.h point at.

#include <memory>
#include <string>
#include <vector>

#include "foxhunt/engine/foxhunt.h"
#include "foxhunt/engine/plan.h"
#include "foxhunt/engine/session.h"

// NOLINTBEGIN(readability-identifier-naming): C names
struct foxhunt_model {
  explicit foxhunt_model(std::shared_ptr<const foxhunt::engine::Plan> of);

  std::shared_ptr<const foxhunt::engine::Plan> plan;
  std::vector<std::string> feature_names, output_names;
  std::string kernels, certificate_json;
  std::vector<const char*> feature_pointers, output_pointers;  ///< into the lists above
};

struct foxhunt_session {
  foxhunt::engine::Session stream;
  bool taken = false;  ///< by the call of step_many() that runs
};
// NOLINTEND(readability-identifier-naming)
