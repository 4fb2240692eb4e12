// What a library may say of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/features/feature_library.h"

namespace foxhunt::features {
namespace {

using testing::HasSubstr;

/// A table without fault, and what it points to.
struct Said {
  foxhunt_feature_column columns[2] = {{"one", "ticks", "of the bar", 1},
                                       {"two_2", "ln ratio", "of two bars", 100'000}};
  foxhunt_features table{.abi = FOXHUNT_FEATURES_ABI,
                         .struct_size = sizeof(foxhunt_features),
                         .name = "mine",
                         .version = "1.0 beta",
                         .n_columns = 2,
                         .columns = columns,
                         .state_bytes = FOXHUNT_FEATURES_MOST_STATE,
                         .push = [](void*, const foxhunt_feature_bar*, float*) {}};
};

std::string refusal(const std::function<void(Said&)>& change) {
  Said said;
  change(said);
  try {
    check_feature_table(&said.table, "mine.so");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(FeatureTable, WithoutFaultIsTaken) {
  EXPECT_EQ(refusal([](Said&) {}), "");
  EXPECT_EQ(refusal([](Said& s) { s.table.state_bytes = 0; }), "");
}

TEST(FeatureTable, EveryFaultIsNamed) {
  const std::string longest(FOXHUNT_FEATURES_MOST_TEXT, 'a');
  const std::string longer = longest + "a";
  EXPECT_EQ(refusal([&](Said& s) { s.table.name = longest.c_str(); }), "");
  const std::pair<std::function<void(Said&)>, const char*> faults[] = {
      {[](Said& s) { s.table.abi = 2; }, "mine.so: made for abi 2 of foxhunt_features.h, this"},
      {[](Said& s) { --s.table.struct_size; }, "struct_size = 55, but foxhunt_features has 56"},
      {[](Said& s) { s.table.name = nullptr; }, "mine.so: name is null"},
      {[](Said& s) { s.table.name = ""; }, "name is empty"},
      {[](Said& s) { s.table.name = "Mine"; }, "name has another character than a-z, 0-9 and _"},
      {[&](Said& s) { s.table.name = longer.c_str(); }, "name is longer than 200 bytes"},
      {[](Said& s) { s.table.version = "1\n"; }, "version has a character that is not printable"},
      {[](Said& s) { s.table.version = nullptr; }, "version is null"},
      {[](Said& s) { s.table.n_columns = 0; }, "n_columns = 0 is outside [1, 256]"},
      {[](Said& s) { s.table.n_columns = 257; }, "n_columns = 257 is outside [1, 256]"},
      {[](Said& s) { ++s.table.state_bytes; }, "state_bytes = 1048577 is outside [0, 1048576]"},
      {[](Said& s) { s.table.columns = nullptr; }, "columns is null"},
      {[](Said& s) { s.table.push = nullptr; }, "push is null"},
      {[](Said& s) { s.columns[1].name = "a b"; }, "column 1: name has another character"},
      {[](Said& s) { s.columns[1].name = "one"; }, "column 'one' is there twice"},
      {[](Said& s) { s.columns[0].unit = nullptr; }, "column 0: unit is null"},
      {[](Said& s) { s.columns[0].help = "\xC3\xA4"; }, "column 0: help has a character that is"},
      {[](Said& s) { s.columns[0].warm_up = 0; }, "column 'one': warm_up = 0 is outside"},
      {[](Said& s) { s.columns[1].warm_up = 100'001; }, "'two_2': warm_up = 100001 is outside"},
  };
  for (const auto& [change, words] : faults) EXPECT_THAT(refusal(change), HasSubstr(words));
  EXPECT_THROW(check_feature_table(nullptr, "mine.so"), ConfigError);
}

}  // namespace
}  // namespace foxhunt::features
