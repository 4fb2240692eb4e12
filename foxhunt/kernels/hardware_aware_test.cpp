// Choices over made-up machines: what they are, and which way they move.
#include "foxhunt/kernels/hardware_aware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/latency_budget.h"

namespace foxhunt::kernels {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;

Hardware with_caches(std::int64_t l1, std::int64_t l2) {
  Hardware hardware;
  hardware.l1d_bytes = l1;
  hardware.l2_bytes = l2;
  hardware.cores = 4;
  return hardware;
}
ModelSizes middle() {
  return {.d_model = 256, .n_layer = 6, .heads = 8, .headdim = 64, .d_state = 64};
}
/// Sizes of all kinds, drawn.
std::vector<ModelSizes> many_sizes() {
  std::vector<ModelSizes> all{default_hft_sizes(), middle()};
  Rng rng(5);
  const auto draw = [&rng](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(most));
  };
  for (int i = 0; i < 60; ++i) {
    const std::int64_t groups = draw(3);
    all.push_back({.d_model = draw(300),
                   .n_layer = draw(8),
                   .heads = groups * draw(6),
                   .headdim = draw(100),
                   .d_state = draw(150),
                   .groups = groups,
                   .d_conv = draw(6)});
  }
  return all;
}
const std::vector<std::int64_t>& l2_sizes() {
  static const std::vector<std::int64_t> sizes{1,        64 * kKiB, 256 * kKiB, 512 * kKiB, kMiB,
                                               2 * kMiB, 4 * kMiB,  64 * kMiB,  1024 * kMiB};
  return sizes;
}

// ---- hardware ----------------------------------------------------------------------------------

TEST(ReadHardware, TakesOneCoresShareOfCachesAndJudgesTheRates) {
  Machine machine;
  machine.vendor = "V";
  machine.family = 6;
  machine.model = 9;
  machine.cores = 16;
  machine.usable_cores = 3;
  machine.threads_per_core = 2;
  machine.instruction_sets = {"avx2"};
  machine.caches = {{.name = "L1d", .bytes = 32 * kKiB, .sharers = 2},
                    {.name = "L2", .bytes = 4 * kMiB, .sharers = 8},
                    {.name = "L3", .bytes = 32 * kMiB, .sharers = 16}};
  Bandwidth noisy;
  noisy.l1 = {.median = 100, .best = 101, .spread = 0, .bytes = 1, .samples = 5};
  noisy.l2 = {.median = 150, .best = 151, .spread = 0, .bytes = 1, .samples = 5};
  const Hardware hardware = read_hardware(machine, noisy);
  EXPECT_EQ(hardware.l1d_bytes, 32 * kKiB);
  EXPECT_EQ(hardware.l2_bytes, kMiB) << "four cores of two threads share 4 MiB";
  EXPECT_EQ(hardware.l3_bytes, 32 * kMiB);
  EXPECT_EQ(hardware.usable_cores, 3);
  EXPECT_TRUE(hardware.has("avx2"));
  EXPECT_EQ(hardware.bandwidth.l2.median, 100.0);
  EXPECT_NE(hardware.doubts, "");
}

// ---- chunk -------------------------------------------------------------------------------------

TEST(ChunkBytes, CountTheArraysOfOneChunk) {
  // H 4, G 1, P 32, N 16, Q 32: L and Gamma 5 * 32 * 32; x, B, C 32 * 160; U and y 32 * 256; state
  // 4 * 32 * 16.
  EXPECT_EQ(chunk_bytes(default_hft_sizes(), 32), 4 * (5120 + 5120 + 8192 + 2048));
}

TEST(ChooseChunk, MeetsWhatWasMeasured) {
  // 32 was fastest at P 32, N 16; 32 to 64 at P = N = 64.
  EXPECT_EQ(choose_chunk(with_caches(48 * kKiB, 2 * kMiB), default_hft_sizes()).value, 32);
  EXPECT_EQ(choose_chunk(with_caches(32 * kKiB, kMiB), default_hft_sizes()).value, 32);
  EXPECT_EQ(choose_chunk(with_caches(48 * kKiB, 2 * kMiB), middle()).value, 64);
  EXPECT_EQ(choose_chunk(with_caches(32 * kKiB, kMiB), middle()).value, 32);
}

TEST(ChooseChunk, FitsItsShareOfBothCachesOrIsTheSmallest) {
  for (const ModelSizes& sizes : many_sizes()) {
    for (const std::int64_t l2 : l2_sizes()) {
      for (const std::int64_t l1 : {kKiB, 16 * kKiB, 48 * kKiB, kMiB}) {
        const Choice<std::int64_t> chunk = choose_chunk(with_caches(l1, l2), sizes);
        EXPECT_THAT((std::array<std::int64_t, 4>{16, 32, 64, 128}), testing::Contains(chunk.value));
        EXPECT_FALSE(chunk.reason.empty());
        if (chunk.value > 16) {
          EXPECT_LE(chunk_bytes(sizes, chunk.value), l2 / 2);
          EXPECT_LE(4 * chunk.value * chunk.value, l1 / 2);
        }
      }
    }
  }
}

TEST(ChooseChunk, NeverShrinksWhenACacheGrows) {
  for (const ModelSizes& sizes : many_sizes()) {
    for (const std::int64_t l1 : {kKiB, 32 * kKiB, kMiB}) {
      std::int64_t before = 0;
      for (const std::int64_t l2 : l2_sizes()) {
        const std::int64_t chunk = choose_chunk(with_caches(l1, l2), sizes).value;
        EXPECT_GE(chunk, before);
        before = chunk;
      }
    }
    std::int64_t before = 0;
    for (std::int64_t l1 = kKiB; l1 <= kMiB; l1 *= 2) {
      const std::int64_t chunk = choose_chunk(with_caches(l1, 64 * kMiB), sizes).value;
      EXPECT_GE(chunk, before);
      before = chunk;
    }
  }
}

TEST(ChooseChunk, CachesThatAreNotKnownAreTakenAsSmallAndSaidSo) {
  const Choice<std::int64_t> unknown = choose_chunk(Hardware{}, default_hft_sizes());
  EXPECT_EQ(unknown.value,
            choose_chunk(with_caches(32 * kKiB, 256 * kKiB), default_hft_sizes()).value);
  EXPECT_THAT(unknown.reason, HasSubstr("assumed"));
  const auto known = choose_chunk(with_caches(32 * kKiB, kMiB), default_hft_sizes());
  EXPECT_THAT(known.reason, testing::Not(HasSubstr("assumed")));
  EXPECT_THAT(known.reason, HasSubstr("3280 multiply-adds"));  // (16 * 36 + 2048) * 1.25
  EXPECT_THAT(choose_chunk(with_caches(1, 1), middle()).reason, HasSubstr("more than half"));
}

// ---- lanes -------------------------------------------------------------------------------------

Hardware with_cores(std::int64_t cores) {
  Hardware hardware = with_caches(32 * kKiB, kMiB);
  hardware.cores = cores;
  return hardware;
}

TEST(ChooseLanes, OfTheUsualShapes) {
  const ModelSizes sizes = default_hft_sizes();
  EXPECT_EQ(choose_lanes(with_cores(2), sizes, 32, 128).value, 8);
  EXPECT_EQ(choose_lanes(with_cores(0), sizes, 32, 128).value, 8);
  EXPECT_EQ(choose_lanes(with_cores(12), sizes, 32, 128).value, 16);
  EXPECT_EQ(choose_lanes(with_cores(2), middle(), 8, 512).value, 8);
  EXPECT_EQ(choose_lanes(with_cores(128), sizes, 70'000, 8).value, 64);
  EXPECT_EQ(choose_lanes(with_cores(2), sizes, 1, 1'000'000).value, 1);
  EXPECT_EQ(choose_lanes(with_cores(64), sizes, 32, 1).value, 8);
  EXPECT_THAT(choose_lanes(with_cores(12), sizes, 32, 128).reason, HasSubstr("12 cores busy"));
}

TEST(ChooseLanes, AreNeverMoreThanWindowsAndNeverFewerThanACpuCanShare) {
  for (const ModelSizes& sizes : many_sizes()) {
    for (const std::int64_t l2 : l2_sizes()) {
      for (const std::int64_t batch : {1, 2, 7, 8, 9, 32, 100, 70'000}) {
        for (const std::int64_t window : {1, 8, 128, 10'000}) {
          const Choice<std::int64_t> lanes =
              choose_lanes(with_cores(l2 % 100), sizes, batch, window);
          EXPECT_LE(lanes.value, batch);
          EXPECT_LE(lanes.value, 64);
          // As many as 256 MiB of gradients allow, where that is fewer than 8.
          const std::int64_t paid = (256 * kMiB) / (4 * step_cost(sizes).parameters);
          EXPECT_GE(lanes.value, std::min<std::int64_t>({batch, 8, paid}));
          EXPECT_TRUE(lanes.value == batch || lanes.value == paid || lanes.value % 8 == 0)
              << lanes.value;
          EXPECT_FALSE(lanes.reason.empty());
        }
      }
    }
  }
}

TEST(ChooseLanes, NeverFallWhenCoresOrTheBatchGrow) {
  for (const ModelSizes& sizes : many_sizes()) {
    for (const std::int64_t window : {1, 8, 128}) {
      std::int64_t before = 0;
      for (std::int64_t cores = 0; cores < 200; cores += 3) {
        const std::int64_t lanes = choose_lanes(with_cores(cores), sizes, 500, window).value;
        EXPECT_GE(lanes, before);
        before = lanes;
      }
      before = 0;
      for (std::int64_t batch = 1; batch < 2000; batch = batch * 3 / 2 + 1) {
        const std::int64_t lanes = choose_lanes(with_cores(32), sizes, batch, window).value;
        EXPECT_GE(lanes, before);
        before = lanes;
      }
    }
  }
}

TEST(ChooseLanes, GradientsOfALargeModelLimitThem) {
  ModelSizes large = middle();
  large.d_model = 2048;
  large.heads = 64;
  large.n_layer = 24;
  const Choice<std::int64_t> lanes = choose_lanes(with_caches(kKiB, kMiB), large, 64, 512);
  EXPECT_EQ(lanes.value, 1);
  EXPECT_THAT(lanes.reason, HasSubstr("own gradients"));
}

// ---- what decides bits -------------------------------------------------------------------------

TEST(Choices, ThatOrderSumsFollowFromTheMachineAndNotFromRatesOrUsableCores) {
  const std::array<std::string_view, 3> tables{"avx512", "avx2", "scalar"};
  const Hardware one = with_caches(32 * kKiB, kMiB);
  Hardware other = one;
  other.usable_cores = 1;
  other.l3_bytes = 512 * kMiB;
  other.doubts = "noise";
  other.bandwidth.l2 = {.median = 3, .best = 4, .spread = 2, .bytes = 1, .samples = 5};
  for (const ModelSizes& sizes : many_sizes()) {
    EXPECT_EQ(choose_chunk(one, sizes).value, choose_chunk(other, sizes).value);
    EXPECT_EQ(choose_lanes(one, sizes, 37, 60).value, choose_lanes(other, sizes, 37, 60).value);
  }
  EXPECT_EQ(choose_kernels(one, tables, "").value, choose_kernels(other, tables, "").value);
}

// ---- kernels -----------------------------------------------------------------------------------

TEST(ChooseKernels, TakesTheWidestThatRunsWhateverTheOrder) {
  using Names = std::vector<std::string_view>;
  const Hardware hardware;
  EXPECT_EQ(choose_kernels(hardware, Names{"scalar", "avx2", "avx512"}, "").value, "avx512");
  EXPECT_EQ(choose_kernels(hardware, Names{"scalar", "avx2"}, "").value, "avx2");
  EXPECT_EQ(choose_kernels(hardware, Names{"scalar"}, "").value, "scalar");
  EXPECT_EQ(choose_kernels(hardware, Names{"neon", "sve"}, "").value, "neon");
}

TEST(ChooseKernels, AvoidsWideWorkOnCpusThatSlowDownForIt) {
  using Names = std::vector<std::string_view>;
  Hardware skylake;
  skylake.vendor = "GenuineIntel";
  skylake.family = 6;
  skylake.model = 85;
  const auto choice = choose_kernels(skylake, Names{"avx512", "avx2", "scalar"}, "");
  EXPECT_EQ(choice.value, "avx2");
  EXPECT_THAT(choice.reason, HasSubstr("lowers its clock"));
  EXPECT_EQ(choose_kernels(skylake, Names{"avx512", "scalar"}, "").value, "avx512");
  EXPECT_EQ(choose_kernels(skylake, Names{"avx512", "avx2"}, "avx512").value, "avx512")
      << "a name that is forced wins";
  skylake.model = 143;
  EXPECT_EQ(choose_kernels(skylake, Names{"avx512", "avx2"}, "").value, "avx512");
}

TEST(ChooseKernels, RefusesAForcedTableThatCannotRunAndNamesTheChoices) {
  const std::array<std::string_view, 2> tables{"avx2", "scalar"};
  try {
    choose_kernels({}, tables, "avx512");
    FAIL() << "expected UsageError";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "[hardware_aware] kernels 'avx512' cannot run here; choose from: avx2, scalar");
  }
  EXPECT_THROW(choose_kernels({}, {}, ""), UsageError);
}

// ---- bad sizes ---------------------------------------------------------------------------------

TEST(CheckSizes, NamesTheSizeAndNothingOverflows) {
  const auto text_of = [](ModelSizes sizes) -> std::string {
    try {
      check_sizes(sizes);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  ModelSizes sizes = default_hft_sizes();
  EXPECT_EQ(text_of(sizes), "");
  sizes.d_state = 0;
  EXPECT_THAT(text_of(sizes), HasSubstr("d_state = 0"));
  sizes = default_hft_sizes();
  sizes.groups = 3;
  EXPECT_THAT(text_of(sizes), HasSubstr("groups = 3 does not divide heads = 4"));
  sizes = default_hft_sizes();
  sizes.d_model = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(text_of(sizes), HasSubstr("d_model"));
  EXPECT_THROW(choose_chunk({}, sizes), ShapeError);
  EXPECT_THROW(choose_lanes({}, default_hft_sizes(), 0, 8), ShapeError);
  EXPECT_THROW(choose_lanes({}, default_hft_sizes(), 8, -1), ShapeError);
  const ModelSizes largest{.d_model = 1 << 17,
                           .n_layer = 1 << 10,
                           .heads = 1 << 17,
                           .headdim = 1,
                           .d_state = 1 << 17,
                           .groups = 8,
                           .d_conv = 1 << 17,
                           .features = 1 << 17,
                           .outputs = 1 << 17};
  ASSERT_EQ(text_of(largest), "");
  EXPECT_GT(chunk_bytes(largest, 128), 0);
  EXPECT_EQ(choose_lanes({}, largest, std::int64_t{1} << 31, std::int64_t{1} << 31).value, 1);
}

}  // namespace
}  // namespace foxhunt::kernels
