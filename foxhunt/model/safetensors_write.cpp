// Writing: the whole file in memory, then put in place in one step.
#include <fmt/format.h>

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::model {
namespace {

using Json = nlohmann::ordered_json;

std::string header_text(const std::filesystem::path& path, const std::vector<TensorView>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::set<std::string_view> names{"__metadata__"};
  std::size_t offset = 0;
  for (const TensorView& view : tensors) {
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("{}: tensor '{}': {}", path.string(), view.name, what));
    };
    if (!names.insert(view.name).second) fail("the name is taken");
    std::size_t bytes = size_of(view.dtype);
    for (const std::int64_t n : view.shape) bytes *= static_cast<std::size_t>(n);
    if (bytes != view.bytes.size()) {
      fail(fmt::format("has {} bytes, but its shape needs {}", view.bytes.size(), bytes));
    }
    header[view.name] = {{"dtype", to_string(view.dtype)},
                         {"shape", view.shape},
                         {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  } catch (const Json::exception& error) {  // a name or a value that is not UTF-8
    throw FormatError(
        fmt::format("{}: the header cannot be written: {}", path.string(), error.what()));
  }
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(path, tensors, metadata);
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
  write_file_atomic(path, bytes);
}

}  // namespace foxhunt::model
