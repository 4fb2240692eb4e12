#pragma once
// Handles, bars and states for the tests of foxhunt.h.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foxhunt/engine/foxhunt.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine::test {

using ModelHandle = std::unique_ptr<foxhunt_model, decltype(&foxhunt_model_close)>;
using SessionHandle = std::unique_ptr<foxhunt_session, decltype(&foxhunt_session_free)>;

inline const std::string& bundle_of(std::uint64_t seed) {
  static const std::string one = bundle::bundle_bytes(proven_bundle(1), "one");
  static const std::string two = bundle::bundle_bytes(proven_bundle(2), "two");
  return seed == 1 ? one : two;
}

inline ModelHandle open_model(std::uint64_t seed = 1, const char* weights = nullptr) {
  foxhunt_options options{.struct_size = sizeof options, .kernels = nullptr, .weights = weights};
  foxhunt_model* model = nullptr;
  const std::string& bytes = bundle_of(seed);
  EXPECT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "a.fox", &options, &model),
            FOXHUNT_OK)
      << foxhunt_last_error();
  return {model, foxhunt_model_close};
}

inline SessionHandle session_of(const ModelHandle& model) {
  foxhunt_session* session = nullptr;
  EXPECT_EQ(foxhunt_session_new(model.get(), &session), FOXHUNT_OK) << foxhunt_last_error();
  return {session, foxhunt_session_free};
}

inline foxhunt_bar c_bar(const market::Bar& bar) {
  return {.time_ns = count(bar.start),
          .span_ns = bar.span.count(),
          .open = bar.open.nano,
          .high = bar.high.nano,
          .low = bar.low.nano,
          .close = bar.close.nano,
          .volume = bar.volume,
          .instrument_id = bar.instrument.instrument_id,
          .publisher_id = bar.instrument.publisher_id,
          .version = 0};
}

inline std::vector<std::byte> saved(const foxhunt_session* session) {
  std::size_t size = 0;
  EXPECT_EQ(foxhunt_session_save(session, nullptr, 0, &size), FOXHUNT_OK);
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(foxhunt_session_save(session, bytes.data(), bytes.size(), &size), FOXHUNT_OK);
  return bytes;
}

inline constexpr std::size_t kK = 3;
inline constexpr std::size_t kF = 12;

}  // namespace foxhunt::engine::test
