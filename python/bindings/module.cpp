// foxhunt._engine: the engine in Python. Errors keep their text and get a class of their own.
#include <exception>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"

#include "bindings.h"

namespace nb = nanobind;

NB_MODULE(_engine, module) {
  module.doc() = "The engine of foxhunt. Use the package foxhunt, which is built on this module.";
  module.attr("version") = nb::str(foxhunt::version().data(), foxhunt::version().size());
  module.attr("git_revision") =
      nb::str(foxhunt::git_revision().data(), foxhunt::git_revision().size());

  // Base class first: the translator that is registered last is asked first.
  const auto base = nb::exception<foxhunt::Error>(module, "Error", PyExc_RuntimeError);
  nb::exception<foxhunt::ConfigError>(module, "ConfigError", base);
  nb::exception<foxhunt::FormatError>(module, "FormatError", base);
  nb::exception<foxhunt::IoError>(module, "IoError", base);
  nb::exception<foxhunt::UsageError>(module, "UsageError", base);
  foxhunt::python::bind_model(module);
  foxhunt::python::bind_session(module);
}
