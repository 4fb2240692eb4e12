#pragma once
// Lines into a file, a pipe or a terminal.

#include <memory>

#include "foxhunt/serve/sink.h"

namespace foxhunt::serve {

std::unique_ptr<Sink> open_file_sink(const SinkOptions& options, Hooks hooks);

}  // namespace foxhunt::serve
