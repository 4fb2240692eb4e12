#pragma once
// safetensors files: 8 bytes header length, JSON header, bytes. Strict on reading; written so that
// no reader ever sees half a file. Needs no Torch: tensors are names, shapes and bytes.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::model {

enum class DType { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8, kBool };

std::string_view to_string(DType dtype);  ///< "F64", …
std::size_t size_of(DType dtype);

/// A tensor of a file, or one to be written: row-major, little endian.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

class SafetensorsFile {
 public:
  /// Maps the file: views stay valid while the object lives, also when the path is replaced
  /// meanwhile (by rename). Errors  IoError; FormatError naming file, tensor and rule: header
  /// length, JSON, unknown dtype, offsets that overlap, leave holes or do not fit shape and dtype,
  /// trailing bytes, header over 100 MB.
  static SafetensorsFile open(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  const std::vector<TensorView>& tensors() const { return tensors_; }  ///< by offset
  const TensorView* find(std::string_view name) const;
  /// Errors  FormatError naming file and tensor.
  const TensorView& at(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::string& name() const { return name_; }

 private:
  struct Mapping;
  SafetensorsFile();
  void parse();
  std::string name_;
  std::unique_ptr<Mapping> mapping_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Writes in the given order, atomically and synced; the same input gives the same bytes. Data
/// starts at a multiple of 8. Errors  IoError; FormatError naming a tensor whose bytes do not fit
/// its shape, or a name that comes twice.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace foxhunt::model
