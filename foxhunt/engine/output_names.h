#pragma once
// What the values of an answer are called.

#include <string>
#include <vector>

#include "foxhunt/bundle/bundle.h"

namespace foxhunt::engine {

/// [K] "down", "flat", "up" of a direction; "class_0", ... of other classes; "value"; "q0.1", ...
std::vector<std::string> output_names(const bundle::Bundle& bundle);

}  // namespace foxhunt::engine
