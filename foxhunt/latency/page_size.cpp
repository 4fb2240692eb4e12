#include "foxhunt/latency/page_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace foxhunt::latency {
namespace {

struct Mapping {
  std::int64_t size_kb = -1;
  std::int64_t page_kb = -1;
  std::int64_t huge_kb = -1;
};

/// Whether "7f00-7f10 rw-p …" holds the address; nothing where the line is no such header.
std::optional<bool> header_holds(std::string_view line, std::uint64_t address) {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, from, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, to, 16);
  if (second.ec != std::errc() || second.ptr == end || *second.ptr != ' ') return std::nullopt;
  return from <= address && address < to;
}

/// The number of "Size:      540 kB".
void read_field(std::string_view line, std::string_view name, std::int64_t& value) {
  if (line.substr(0, name.size()) != name) return;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::from_chars(line.data(), line.data() + line.size(), value);
}

std::string page_text(std::int64_t kb) {
  return kb % 1024 == 0 ? fmt::format("{} MB", kb / 1024) : fmt::format("{} KB", kb);
}

std::string text_of(const Mapping& mapping) {
  if (mapping.page_kb <= 0) return "unknown";
  if (mapping.huge_kb <= 0 || mapping.size_kb <= 0) return page_text(mapping.page_kb);
  if (mapping.huge_kb >= mapping.size_kb) return "2 MB";
  return fmt::format("{} and 2 MB ({} of {} KB)", page_text(mapping.page_kb), mapping.huge_kb,
                     mapping.size_kb);
}

}  // namespace

std::string page_size_in(std::string_view smaps, std::uint64_t address) {
  Mapping mapping;
  bool inside = false;
  while (!smaps.empty()) {
    const std::size_t end = std::min(smaps.find('\n'), smaps.size());
    const std::string_view line = smaps.substr(0, end);
    smaps.remove_prefix(std::min(end + 1, smaps.size()));
    if (const std::optional<bool> holds = header_holds(line, address)) {
      if (inside) break;
      inside = *holds;
    } else if (inside) {
      read_field(line, "Size:", mapping.size_kb);
      read_field(line, "KernelPageSize:", mapping.page_kb);
      read_field(line, "AnonHugePages:", mapping.huge_kb);
    }
  }
  return text_of(mapping);
}

std::string page_size_of(const void* address) {
  std::ifstream file("/proc/self/smaps");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return page_size_in(text, reinterpret_cast<std::uintptr_t>(address));
}

}  // namespace foxhunt::latency
