#pragma once
// Sub-verbs of `foxhunt data` that make series or books: each fills the slot with what is to run.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"

namespace foxhunt::app {

void add_data_bars(CLI::App& data, const Globals& globals, const std::shared_ptr<Run>& run_slot);
void add_data_book(CLI::App& data, const Globals& globals, const std::shared_ptr<Run>& run_slot);
void add_data_continuous(CLI::App& data, const Globals& globals,
                         const std::shared_ptr<Run>& run_slot);

/// An option that takes one of these names.
template <class Enum>
void add_choice(CLI::App& sub, const char* name, Enum& value, std::map<std::string, Enum> choices,
                const char* help) {
  sub.add_option(name, value, help)
      ->transform(CLI::CheckedTransformer(std::move(choices)).description(""))
      ->option_text("NAME");
}

}  // namespace foxhunt::app
