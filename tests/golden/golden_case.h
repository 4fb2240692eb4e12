#pragma once
// One golden file of tests/golden/mamba2: the layer, its sizes, its inputs and what it must
// compute.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::golden {

/// $FOXHUNT_GOLDEN, or the copy in the repository.
std::filesystem::path folder();
/// The stem of every *.safetensors directly in folder(), sorted.
std::vector<std::string> cases();

struct GoldenCase {
  explicit GoldenCase(const std::string& name) : GoldenCase(folder() / (name + ".safetensors")) {}
  explicit GoldenCase(const std::filesystem::path& path);

  model::SafetensorsFile file;
  model::Mamba2Config config;
  std::int64_t batch = 0;
  std::int64_t tokens = 0;
  std::int64_t cut = 0;  ///< 0: the file has no cut states

  bool has(const std::string& name) const { return file.find(name) != nullptr; }
  /// F32 or F64, widened.
  std::vector<double> reals(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  /// Names of the layer's parameters that the file has.
  std::vector<std::string> parameters() const;
};

/// max |a - b| / max(1, max |b|); infinity where sizes differ or something is not finite.
double error(const std::vector<double>& got, const std::vector<double>& expected);

/// A case as a GoogleTest name.
std::string test_name(std::string stem);

}  // namespace foxhunt::golden
