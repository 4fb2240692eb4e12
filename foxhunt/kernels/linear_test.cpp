// A linear layer and its gradients, in float32 and in bf16 of every instruction set, against sums
// in float64 of the numbers that enter the products.
#include "foxhunt/kernels/linear.h"

#include <fmt/format.h>

#include <bit>
#include <vector>

#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

struct Sizes {
  std::int64_t rows, in, out;
};

/// Within a panel and beyond, odd everywhere, more rows than are packed at once or summed at once.
constexpr Sizes kSizes[] = {{1, 1, 1}, {5, 7, 3}, {128, 64, 292}, {131, 33, 65}, {1100, 19, 37}};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What enters a product; rounding to bf16 has its own test.
std::vector<double> entering(const Products& products, const std::vector<float>& values) {
  std::vector<double> numbers(values.begin(), values.end());
  if (products.bf16 == nullptr) return numbers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t half = 0;
    products.bf16->pack_rows({1, 1, &values[i], 1, &half});
    numbers[i] = static_cast<double>(std::bit_cast<float>(half << 16U));
  }
  return numbers;
}

/// sum over k of left(k) right(k), for k < depth.
template <class L, class R>
double sum_of(std::int64_t depth, L&& left, R&& right) {
  double sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) sum += left(k) * right(k);
  return sum;
}

struct Data {
  explicit Data(const Products& p, const Sizes& s)
      : products(p), size(s), rng(static_cast<std::uint64_t>(s.rows * 7919 + s.in * 31 + s.out)) {}
  // A rounding of 6e-8 a term of at most 1, and of the number begun with.
  static double bound(std::int64_t terms) { return 6e-8 * static_cast<double>(terms + 3); }

  Products products;
  Sizes size;
  Rng rng;
  std::vector<float> numbers(std::int64_t a, std::int64_t b) { return random_floats(rng, a * b); }
  std::vector<float> x = numbers(size.rows, size.in);
  std::vector<float> weight = numbers(size.in, size.out);
  std::vector<float> bias = numbers(1, size.out);
  std::vector<float> dy = numbers(size.rows, size.out);
  std::vector<double> x_in = entering(products, x);
  std::vector<double> weight_in = entering(products, weight);
  std::vector<double> dy_in = entering(products, dy);
};

void expect_forward(const Data& d) {
  const std::int64_t rows = d.size.rows;
  const std::int64_t in = d.size.in;
  const std::int64_t out = d.size.out;
  const LinearForward layer(d.products, in, out, d.weight.data(), rows);
  for (const bool accumulate : {false, true}) {
    for (const bool with_bias : {false, true}) {
      std::vector<float> y(at(rows * out), 1.0F);
      layer.run(rows, d.x.data(), with_bias ? d.bias.data() : nullptr, y.data(), accumulate);
      for (std::int64_t i = 0; i < rows * out; ++i) {
        const std::int64_t r = i / out;
        const std::int64_t o = i % out;
        const double want = sum_of(
                                in, [&](std::int64_t k) { return d.x_in[at(r * in + k)]; },
                                [&](std::int64_t k) { return d.weight_in[at(o * in + k)]; }) +
                            (accumulate ? 1.0 : 0.0) +
                            (with_bias ? static_cast<double>(d.bias[at(o)]) : 0.0);
        ASSERT_NEAR(static_cast<double>(y[at(i)]), want, Data::bound(in)) << r << ", " << o;
      }
    }
  }
}

void expect_backward(const Data& d) {
  const std::int64_t rows = d.size.rows;
  const std::int64_t in = d.size.in;
  const std::int64_t out = d.size.out;
  const LinearBackward layer(d.products, in, out, d.weight.data(), rows);
  std::vector<float> dx(at(rows * in), 9.0F);
  layer.input(rows, d.dy.data(), dx.data());
  for (std::int64_t i = 0; i < rows * in; ++i) {
    const double want = sum_of(
        out, [&](std::int64_t o) { return d.dy_in[at(i / in * out + o)]; },
        [&](std::int64_t o) { return d.weight_in[at(o * in + i % in)]; });
    ASSERT_NEAR(static_cast<double>(dx[at(i)]), want, Data::bound(out)) << i / in << ", " << i % in;
  }
  std::vector<float> dweight(at(in * out), 1.0F);
  std::vector<float> dbias(at(out), 1.0F);
  layer.weight(rows, d.dy.data(), d.x.data(), dweight.data(), dbias.data());
  for (std::int64_t i = 0; i < in * out; ++i) {
    const double want =
        1.0 + sum_of(
                  rows, [&](std::int64_t r) { return d.dy_in[at(r * out + i / in)]; },
                  [&](std::int64_t r) { return d.x_in[at(r * in + i % in)]; });
    ASSERT_NEAR(static_cast<double>(dweight[at(i)]), want, Data::bound(rows)) << i / in;
  }
  for (std::int64_t o = 0; o < out; ++o) {  // float32 in either precision: no product
    double want = 1.0;
    for (std::int64_t r = 0; r < rows; ++r) want += static_cast<double>(d.dy[at(r * out + o)]);
    ASSERT_NEAR(static_cast<double>(dbias[at(o)]), want, Data::bound(rows)) << o;
  }
}

void expect_both(const Products& products) {
  for (const Sizes& size : kSizes) {
    SCOPED_TRACE(fmt::format("{} rows, {} -> {}", size.rows, size.in, size.out));
    const Data data(products, size);
    expect_forward(data);
    expect_backward(data);
  }
}

TEST(Linear, MeetsFloat64InFloat32) { expect_both({default_kernels<float>()}); }

TEST(Linear, MeetsFloat64OfRoundedNumbersInBf16) {
  for (const Bf16Kernels* bf16 : built_bf16_kernels()) {
    if (!bf16->runs_here()) continue;
    SCOPED_TRACE(bf16->name);
    expect_both({default_kernels<float>(), bf16});
  }
}

}  // namespace
}  // namespace foxhunt::kernels
