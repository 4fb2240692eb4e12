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
  /// trailing bytes, header over 100 MB or deeper than base/json_check.h allows, a name twice.
  static SafetensorsFile open(const std::filesystem::path& path);
  /// The same for bytes in memory; `name` stands for the file in messages. Nothing is copied:
  /// views point into `bytes`, which must outlive the object and not change. Any alignment.
  /// Errors  FormatError as above.
  static SafetensorsFile from_bytes(std::span<const std::byte> bytes, std::string name);
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
  void parse(std::span<const std::byte> all);
  std::string name_;
  std::unique_ptr<Mapping> mapping_;  ///< none for bytes of the caller
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// A whole file in memory, tensors in the given order; the same input gives the same bytes. Data
/// starts at a multiple of 8. Errors  FormatError naming `name` and a tensor whose bytes do not fit
/// its shape, or a name that comes twice; text that is not UTF-8; a header over 100 MB.
std::string safetensors_bytes(const std::vector<TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata,
                              const std::string& name);

/// Puts safetensors_bytes in place, atomically and synced. Errors  as above; IoError.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace foxhunt::model
