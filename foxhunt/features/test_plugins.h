#pragma once
// Where the libraries of tests are, and pipelines with them.

#include <string>
#include <utility>
#include <vector>

#include "foxhunt/features/test_bars.h"

namespace foxhunt::features::test {

inline const std::string kExample = FOXHUNT_EXAMPLE_PLUGIN;  ///< examples/user_features.c
/// One of test_plugins/.
inline std::string plugin(const std::string& name) {
  return std::string(FOXHUNT_TEST_PLUGINS) + "/" + name + ".so";
}

inline FeatureConfig with_plugins(std::vector<std::string> plugins) {
  FeatureConfig config = small_config();
  config.plugins = std::move(plugins);
  return config;
}

}  // namespace foxhunt::features::test
