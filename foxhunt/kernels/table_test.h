#pragma once
// Tests that run once a kernel table, and skip by name what this CPU lacks.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::kernels {

class TableTest : public testing::TestWithParam<const KernelTable*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << GetParam()->name << " does not run on this CPU";
  }
  const KernelTable& kernels() const { return *GetParam(); }
};

/// Uniform in [low, high], from an explicit generator.
inline std::vector<float> random_floats(Rng& rng, std::int64_t count, double low = -1.0,
                                        double high = 1.0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(rng.uniform(low, high));
  return values;
}

inline std::string table_name(const testing::TestParamInfo<const KernelTable*>& table) {
  return table.param->name;
}

}  // namespace foxhunt::kernels

#define FX_FOR_EACH_TABLE(Suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(Built, Suite,                                                  \
                           testing::ValuesIn(::foxhunt::kernels::built_kernels().begin(), \
                                             ::foxhunt::kernels::built_kernels().end()),  \
                           ::foxhunt::kernels::table_name)
