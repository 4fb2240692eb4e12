// Bytes that are not what save() wrote: damaged, cut short, or forged with a right sum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>

#include "foxhunt/base/error.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/features/test_state.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using std::chrono::minutes;
using test::eventful_bars;
using test::kOpen;
using test::make_pipeline;
using test::refusal;
using test::restore;
using test::saved;

constexpr const char* kPart = "features.pipeline";

/// A state and its payload, to be written anew with changes.
std::vector<std::byte> payload_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "");
  ByteReader part = read_part(in, kPart, 1);
  const auto payload = part.raw(part.remaining());
  return {payload.begin(), payload.end()};
}

std::vector<std::byte> sealed(std::span<const std::byte> payload, std::uint32_t version = 1) {
  ByteWriter out;
  write_part(out, kPart, version, payload);
  return out.take();
}

/// In the middle of a sequence behind its warm-up, with ignored bars of many kinds behind it.
FeaturePipeline busy_pipeline() {
  Rng rng(6);
  FeaturePipeline pipeline = make_pipeline();
  std::vector<Bar> bars = eventful_bars(rng, 300);
  for (Bar& bar : bars) bar.start -= std::chrono::hours{24 * 10};
  test::push_all(pipeline, bars);
  test::push_all(pipeline, test::random_bars(rng, kOpen + std::chrono::hours{24 * 6}, 50));
  return pipeline;
}

TEST(PipelineStateBytes, RefusesAnotherVersionByName) {
  const auto payload = payload_of(saved(busy_pipeline()));
  EXPECT_EQ(refusal(make_pipeline(), sealed(payload, 1)), "");
  EXPECT_THAT(refusal(make_pipeline(), sealed(payload, 2)),
              testing::HasSubstr("'features.pipeline' is of version 2, but this program reads "
                                 "version 1"));
}

TEST(PipelineStateBytes, EveryTruncationAndEveryDamagedByteIsRefusedAndChangesNothing) {
  const auto bytes = saved(busy_pipeline());
  Rng rng(7);
  FeaturePipeline pipeline = make_pipeline();
  test::push_all(pipeline, test::random_bars(rng, kOpen, 30));
  const auto before = saved(pipeline);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(restore(pipeline, std::span(bytes).first(n)), FormatError) << n;
    auto damaged = bytes;
    damaged[n] ^= std::byte{1} << rng.below(8);
    EXPECT_THROW(restore(pipeline, damaged), FormatError) << n;
  }
  EXPECT_EQ(saved(pipeline), before);
}

TEST(PipelineStateBytes, EveryTruncationOfAForgedPayloadIsRefused) {
  const auto payload = payload_of(saved(busy_pipeline()));
  for (std::size_t n = 0; n < payload.size(); ++n) {
    EXPECT_NE(refusal(make_pipeline(), sealed(std::span(payload).first(n))), "") << n;
  }
}

TEST(PipelineStateBytes, ForgedPayloadsAreRefusedOrGoOnWithoutHarm) {
  // Correct sums over wrong values: what is loaded must be a state that a stream could have left.
  const auto payload = payload_of(saved(busy_pipeline()));
  ByteReader head(payload, "");
  head.text();
  const std::size_t behind_identity = head.position();
  Rng rng(8);
  std::vector<Bar> bars =
      test::random_bars(rng, kOpen + std::chrono::hours{24 * 6} + minutes{50}, 30);
  bars[5].close = Price::null();
  bars[20].instrument.instrument_id = 9;
  FeaturePipeline pipeline = make_pipeline();
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  int loaded = 0;
  std::int64_t ready = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    std::vector<std::byte> forged = payload;
    for (std::uint64_t k = 1 + rng.below(2); k > 0; --k) {
      const std::size_t at = behind_identity + rng.below(forged.size() - behind_identity);
      if (rng.below(2) == 0) {
        forged[at] = static_cast<std::byte>(rng.below(256));
      } else {  // values at the edges
        const std::int64_t edges[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT64_MAX - 1};
        std::memcpy(&forged[at], &edges[rng.below(6)],
                    std::min<std::size_t>(8, forged.size() - at));
      }
    }
    const auto bytes = sealed(forged);
    const auto before = saved(pipeline);
    try {
      restore(pipeline, bytes);
    } catch (const FormatError&) {
      EXPECT_EQ(saved(pipeline), before);
      continue;
    }
    ++loaded;
    EXPECT_EQ(saved(pipeline), bytes);  // nothing was read over
    for (const Bar& bar : bars) {
      if (pipeline.push(bar, row).status != Status::kReady) continue;
      ++ready;
      for (const float value : row) ASSERT_TRUE(std::isfinite(value)) << trial;
    }
  }
  EXPECT_GT(loaded, 500);  // other closes, squares and volumes: no rule could know them
  EXPECT_LT(loaded, 9'000);
  EXPECT_GT(ready, 1'000);
}

TEST(PipelineStateBytes, RefusesValuesThatNoStreamLeavesBehind) {
  const auto payload = payload_of(saved(busy_pipeline()));
  ByteReader head(payload, "");
  head.text();
  const std::size_t counters = head.position() + 8;
  const std::size_t has_last = counters + std::size_t{16} * 8;
  const std::size_t start = has_last + 1 + 6;
  const std::size_t open = start + 16;
  const std::size_t bars = open + std::size_t{4} * 8 + 8;
  const std::size_t closes = bars + 8 + 8;                        // 3 of them
  const std::size_t squares = closes + std::size_t{3} * 8 + 8;    // 8
  const std::size_t volumes = squares + std::size_t{8} * 16 + 8;  // 5
  ASSERT_EQ(payload.size(), volumes + std::size_t{5} * 16);
  const auto with = [&payload](std::size_t at, std::int64_t value) {
    auto forged = payload;
    std::memcpy(&forged[at], &value, 8);
    return refusal(make_pipeline(), sealed(forged));
  };
  const std::int64_t huge = (std::int64_t{1} << 43) + 1;
  for (const auto& [at, value, rule] :
       std::initializer_list<std::tuple<std::size_t, std::int64_t, const char*>>{
           {counters, -1, "counter 0 is -1"},
           {counters + 8, INT64_MAX, "counter 1 is"},
           {counters, 7, "the counters contradict each other"},
           {counters + std::size_t{11} * 8, 0, "the counters contradict each other"},
           {start, INT64_MIN, "the last bar is none that the pipeline takes"},
           {start, INT64_MAX, "the last bar is none that the pipeline takes"},
           {start, count(parse_time("2013-10-12T12:00")),
            "2013-10-12T12:00:00Z, lies in no session"},
           {start + 8, 1, "the last bar is none that the pipeline takes"},
           {open, 0, "the last bar is none that the pipeline takes"},
           {bars, 0, "a sequence of 0 bars"},
           {bars, -1, "a sequence of -1 bars"},
           {bars, 51, "a sequence of 51 bars; 50 fit into the session"},
           {bars, INT64_MAX, "a sequence of 9223372036854775807 bars"},
           {bars, 3, "a list of 3 values, expected 2"},
           {closes, 0, "a close of 0"},
           {closes + 16, Price::kNullNano, "a close of"},
           {squares, huge, "a value of a sliding mean is too large"},
           {volumes + std::size_t{4} * 16, -1, "a value of a sliding mean is too large"}}) {
    EXPECT_THAT(with(at, value), testing::HasSubstr(rule)) << at - counters << " " << value;
  }
  auto without_last = std::vector<std::byte>(
      payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(has_last));
  without_last.push_back(std::byte{0});
  EXPECT_THAT(refusal(make_pipeline(), sealed(without_last)),
              testing::HasSubstr("bars were taken, but there is no last bar"));
  auto longer = payload;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refusal(make_pipeline(), sealed(longer)), testing::HasSubstr("1 bytes too many"));
}

}  // namespace
}  // namespace foxhunt::features
