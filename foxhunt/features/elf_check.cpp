#include "foxhunt/features/elf_check.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

namespace foxhunt::features {

std::string elf_problem(std::string_view bytes) {
  ElfW(Ehdr) head{};
  if (bytes.size() < sizeof head) return "is no shared library: too short";
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "is no shared library";
  constexpr unsigned char kWord = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (head.e_ident[EI_CLASS] != kWord || head.e_type != ET_DYN ||
      head.e_phentsize != sizeof(ElfW(Phdr))) {
    return "is no shared library of this machine";
  }
  const auto lies_within = [&bytes](std::uint64_t at, std::uint64_t size) {
    return at <= bytes.size() && size <= bytes.size() - at;
  };
  // Sections are the last thing in a file: whatever is cut off, they are.
  const std::uint64_t segments = std::uint64_t{head.e_phnum} * sizeof(ElfW(Phdr));
  const std::uint64_t sections = std::uint64_t{head.e_shnum} * head.e_shentsize;
  if (!lies_within(head.e_phoff, segments) || !lies_within(head.e_shoff, sections))
    return "is cut short";
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part{};
    std::memcpy(&part, bytes.data() + head.e_phoff + i * sizeof part, sizeof part);
    if (!lies_within(part.p_offset, part.p_filesz)) {
      return fmt::format("is cut short: a segment of {} bytes at {}, but there are {}",
                         part.p_filesz, part.p_offset, bytes.size());
    }
  }
  return "";
}

}  // namespace foxhunt::features
