// Any bytes as a safetensors file: a FormatError, or tensors that are the same when written and
// read again, that tile the data, and all of whose bytes can be read.
#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/model/safetensors.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace model = foxhunt::model;

namespace {

bool same(const model::TensorView& a, const model::TensorView& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const fuzz::AllocationLimit limit((std::size_t{1} << 20) + 512 * size);
  try {
    const auto file = model::SafetensorsFile::from_bytes(bytes, "fuzz");
    const std::byte* place = bytes.data() + size;
    for (auto view = file.tensors().rbegin(); view != file.tensors().rend(); ++view) {
      fuzz::require(view->bytes.data() + view->bytes.size() == place, "tensors tile the data");
      place = view->bytes.data();
      fuzz::require(file.find(view->name) != nullptr, "a tensor is found by its name");
    }
    std::string written;
    try {
      written = model::safetensors_bytes(file.tensors(), file.metadata(), "again");
      const auto again =
          model::SafetensorsFile::from_bytes(std::as_bytes(std::span(written)), "again");
      fuzz::require(std::equal(again.tensors().begin(), again.tensors().end(),
                               file.tensors().begin(), file.tensors().end(), same),
                    "tensors are the same when written again");
      fuzz::require(again.metadata() == file.metadata(), "metadata is the same");
      fuzz::require(model::safetensors_bytes(again.tensors(), again.metadata(), "again") == written,
                    "a file is written the same twice");
    } catch (const foxhunt::FormatError&) {
      fuzz::require(false, "what is read can be written and read");
    }
  } catch (const foxhunt::FormatError&) {
  }
  return 0;
}
