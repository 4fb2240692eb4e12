#pragma once
// Ctrl-C and SIGTERM as a flag that long work asks for: it finishes its step, saves, and ends with
// exit code 130.

namespace foxhunt {

/// From now on the first SIGINT or SIGTERM sets the flag; a second one ends the program at once.
void catch_interrupts();
bool interrupted() noexcept;
/// For tests: sets or clears the flag.
void set_interrupted(bool value) noexcept;

}  // namespace foxhunt
