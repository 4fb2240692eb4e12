// Writing: the whole file in memory, then put in place in one step.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxHeader = 100'000'000;  // what readers accept

/// Bytes that the shape takes; nullopt: a size below 0, or a product over 64 bits.
std::optional<std::uint64_t> bytes_of(const TensorView& view) {
  std::uint64_t bytes = size_of(view.dtype);
  bool empty = false;
  bool over = false;
  for (const std::int64_t n : view.shape) {
    if (n < 0) return std::nullopt;
    empty = empty || n == 0;
    over = over || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(n), &bytes);
  }
  if (empty) return 0;
  if (over) return std::nullopt;
  return bytes;
}

std::string header_text(const std::string& name, const std::vector<TensorView>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string_view> names{"__metadata__"};
  std::uint64_t offset = 0;
  for (const TensorView& view : tensors) {
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("{}: tensor '{}': {}", name, view.name, what));
    };
    if (!names.insert(view.name).second) fail("the name is taken");
    const std::optional<std::uint64_t> bytes = bytes_of(view);
    if (bytes != view.bytes.size()) {
      fail(fmt::format("has {} bytes, but its shape needs {}", view.bytes.size(),
                       bytes ? fmt::format("{}", *bytes) : "what no file can have"));
    }
    header[view.name] = {{"dtype", to_string(view.dtype)},
                         {"shape", view.shape},
                         {"data_offsets", {offset, offset + *bytes}}};
    offset += *bytes;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    if (text.size() > kMaxHeader) {
      throw FormatError(fmt::format("{}: a header of {} bytes; at most {} are allowed", name,
                                    text.size(), kMaxHeader));
    }
    return text;
  } catch (const Json::exception& error) {  // a name or a value that is not UTF-8
    throw FormatError(fmt::format("{}: the header cannot be written: {}", name, error.what()));
  }
}

}  // namespace

std::string safetensors_bytes(const std::vector<TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata,
                              const std::string& name) {
  const std::string header = header_text(name, tensors, metadata);
  std::string bytes;
  std::size_t total = 8 + header.size();
  for (const TensorView& view : tensors) total += view.bytes.size();
  bytes.reserve(total);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>(
        static_cast<unsigned char>(static_cast<std::uint64_t>(header.size()) >> shift)));
  }
  bytes += header;
  for (const TensorView& view : tensors) {
    bytes.append(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size());
  }
  return bytes;
}

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_file_atomic(path, safetensors_bytes(tensors, metadata, path.string()));
}

}  // namespace foxhunt::model
