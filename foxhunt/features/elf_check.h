#pragma once
// Whether bytes are a shared library that lies there whole. Inside of the room only.

#include <string>
#include <string_view>

namespace foxhunt::features {

/// "" for an ELF shared object of this machine's word size whose segments lie within the bytes;
/// else what is wrong. The dynamic linker does not ask: one that was cut short would end the
/// process.
std::string elf_problem(std::string_view bytes);

}  // namespace foxhunt::features
