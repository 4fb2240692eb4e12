// Padded rows and packed sequences: what a window holds beside its rows must not change what the
// rows answer.
#include "foxhunt/nn/marks.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "foxhunt/nn/ssd_layer.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::Mamba2Config;

/// Float64 sums of at most a few thousand terms in two orders.
constexpr double kSame = 1e-12;

// ---------------------------------------------------------------- padding

TEST(WindowMarks, APaddedRowEqualsThatRowAlone) {
  const at::NoGradGuard no_grad;
  Rng rng(16);
  Mamba2Config c = small_layer();
  c.proj_bias = true;
  const auto layer = random_layer(c, rng);
  Tensor u = random_tensor(rng, {5, 21, c.d_model});
  const std::vector<std::int64_t> lengths{21, 9, 2, 1, 0};
  for (std::size_t b = 0; b < lengths.size(); ++b) {  // not a number must not matter either
    const auto row = static_cast<std::int64_t>(b);
    u[row].narrow(0, lengths[b], 21 - lengths[b]).fill_(std::nan(""));
  }
  const LayerState from = random_layer_state(c, 5, rng);
  WindowMarks marks;
  marks.lengths = at::tensor(lengths);
  const Outcome padded = window(*layer, u, from, marks);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto row = static_cast<std::int64_t>(b);
    const LayerState own{from.conv.narrow(0, row, 1), from.ssm.narrow(0, row, 1)};
    Outcome alone{at::empty({1, 0, c.d_model}, at::kDouble), own};
    if (lengths[b] > 0) alone = window(*layer, u.narrow(0, row, 1).narrow(1, 0, lengths[b]), own);
    EXPECT_LT(distance(padded.state.conv.narrow(0, row, 1), alone.state.conv), kSame) << row;
    EXPECT_LT(distance(padded.state.ssm.narrow(0, row, 1), alone.state.ssm), kSame) << row;
    if (lengths[b] > 0) {
      EXPECT_LT(distance(padded.out[row].narrow(0, 0, lengths[b]), alone.out[0]), kSame) << row;
    }
    EXPECT_TRUE(same_bits(padded.out[row].narrow(0, lengths[b], 21 - lengths[b]),
                          at::zeros({21 - lengths[b], c.d_model}, at::kDouble)));
  }
}

TEST(WindowMarks, ABatchOfOnePaddedRowIsMaskedToo) {
  const at::NoGradGuard no_grad;
  Rng rng(17);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  const Tensor u = random_tensor(rng, {1, 12, c.d_model});
  WindowMarks marks;
  marks.lengths = ints({5});
  const Outcome padded = window(*layer, u, zero_layer_state(c, 1), marks);
  const Outcome alone = window(*layer, u.narrow(1, 0, 5), zero_layer_state(c, 1));
  EXPECT_LT(distance(padded.state.ssm, alone.state.ssm), kSame);
  EXPECT_LT(distance(padded.state.conv, alone.state.conv), kSame);
}

TEST(WindowMarks, PaddingReceivesNoGradientAndGivesNone) {
  Rng rng(18);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  Tensor u = random_tensor(rng, {2, 10, c.d_model}).requires_grad_();
  WindowMarks marks;
  marks.lengths = ints({10, std::int64_t{4}});
  Outcome r = window(*layer, u, zero_layer_state(c, 2), marks);
  (r.out.square().sum() + r.state.ssm.square().sum() + r.state.conv.square().sum()).backward();
  EXPECT_EQ(u.grad()[1].narrow(0, 4, 6).abs().max().item<double>(), 0.0);
  EXPECT_GT(u.grad()[1].narrow(0, 3, 1).abs().max().item<double>(), 0.0);
}

// ---------------------------------------------------------------- packing

/// Three sequences in a row, with cuts inside chunks, at their edges, and closer together than the
/// convolution is wide.
const std::vector<std::int64_t> kPacked{5, 3, 1, 2, 10, 8};

Tensor packed_ids(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // Only a change counts: ids may fall, and come back.
    ids.insert(ids.end(), static_cast<std::size_t>(sizes[i]),
               static_cast<std::int64_t>(i % 2 == 0 ? 7 : 3));
  }
  return at::tensor(ids).unsqueeze(0);
}

void expect_equal_each_alone(const std::vector<std::int64_t>& sizes) {
  const at::NoGradGuard no_grad;
  Rng rng(19);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  const std::int64_t T = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const Tensor u = random_tensor(rng, {1, T, c.d_model});
  const LayerState from = random_layer_state(c, 1, rng);  // belongs to the first sequence only
  WindowMarks marks;
  marks.seq_idx = packed_ids(sizes);
  const Outcome packed = window(*layer, u, from, marks);
  std::int64_t start = 0;
  LayerState state = from;
  for (const std::int64_t size : sizes) {
    const Outcome alone = window(*layer, u.narrow(1, start, size), state);
    EXPECT_LT(distance(packed.out.narrow(1, start, size), alone.out), kSame) << "from " << start;
    start += size;
    state = start < T ? zero_layer_state(c, 1) : alone.state;
  }
  EXPECT_LT(distance(packed.state.conv, state.conv), kSame);
  EXPECT_LT(distance(packed.state.ssm, state.ssm), kSame);
}

TEST(WindowMarks, PackedSequencesEqualEachAlone) {
  expect_equal_each_alone(kPacked);
  expect_equal_each_alone({4, 9, 2});  // the last is shorter than the convolution is wide
  expect_equal_each_alone({3, 1});
}

TEST(WindowMarks, ChangingOnePackedSequenceMovesNoBitOfTheNext) {
  Rng rng(20);
  const Mamba2Config c = small_layer();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const auto layer = random_layer(c, rng, dtype);
    const std::int64_t cut = 11;  // inside a chunk of 8
    WindowMarks marks;
    marks.seq_idx = packed_ids({cut, 18});
    const auto run = [&](Tensor u) {
      u = u.detach().clone().requires_grad_();
      Outcome r = window(*layer, u, zero_layer_state(c, 1, dtype), marks);
      (r.out.narrow(1, cut, 18).square().sum() + r.state.ssm.square().sum()).backward();
      return std::make_pair(r, u.grad());
    };
    const Tensor u = random_tensor(rng, {1, cut + 18, c.d_model}, dtype);
    Tensor other = u.clone();
    other.narrow(1, cut - 3, 3).add_(random_tensor(rng, {1, 3, c.d_model}, dtype));
    const auto [first, grad] = run(u);
    const auto [second, other_grad] = run(other);
    EXPECT_FALSE(same_bits(first.out.narrow(1, cut - 1, 1), second.out.narrow(1, cut - 1, 1)));
    EXPECT_TRUE(same_bits(first.out.narrow(1, cut, 18), second.out.narrow(1, cut, 18)));
    EXPECT_TRUE(same_bits(first.state.ssm, second.state.ssm));
    EXPECT_TRUE(same_bits(first.state.conv, second.state.conv));
    EXPECT_TRUE(same_bits(grad.narrow(1, cut, 18), other_grad.narrow(1, cut, 18)));
    EXPECT_EQ(grad.narrow(1, 0, cut).abs().max().item<double>(), 0.0)
        << "no gradient crosses the boundary";
  }
}

TEST(WindowMarks, PackedSequencesStayFiniteWhereDecaysAreTotal) {
  // exp of the difference between two segments' sums would overflow here; times the mask's zero it
  // is not a number.
  const at::NoGradGuard no_grad;
  Rng rng(28);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng, at::kFloat);
  layer->A_log.fill_(std::log(1000.0));
  layer->dt_bias.fill_(1.0);
  const Tensor u = random_tensor(rng, {1, 16, c.d_model}, at::kFloat);
  WindowMarks marks;
  marks.seq_idx = packed_ids({6, 10});
  const Outcome packed = window(*layer, u, zero_layer_state(c, 1, at::kFloat), marks);
  const Outcome alone = window(*layer, u.narrow(1, 6, 10), zero_layer_state(c, 1, at::kFloat));
  EXPECT_LT(distance(packed.out.narrow(1, 6, 10), alone.out), 2e-6);
  EXPECT_LT(distance(packed.state.ssm, alone.state.ssm), 2e-6);
}

TEST(WindowMarks, PackedAndPaddedAtOnceKeepTheLastSequencesState) {
  const at::NoGradGuard no_grad;
  Rng rng(21);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  const Tensor u = random_tensor(rng, {1, 20, c.d_model});
  WindowMarks marks;
  marks.seq_idx = packed_ids({6, 7, 7});  // the third "sequence" is padding with an id of its own
  marks.lengths = ints({13});
  const Outcome both = window(*layer, u, zero_layer_state(c, 1), marks);
  const Outcome alone = window(*layer, u.narrow(1, 6, 7), zero_layer_state(c, 1));
  EXPECT_LT(distance(both.out.narrow(1, 6, 7), alone.out), kSame);
  EXPECT_LT(distance(both.state.conv, alone.state.conv), kSame);
  EXPECT_LT(distance(both.state.ssm, alone.state.ssm), kSame);
}

}  // namespace
}  // namespace foxhunt::nn
