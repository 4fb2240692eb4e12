#include "foxhunt/nn/marks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device_check.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;

void check_mark(std::string_view who, std::string_view name, const Tensor& mark,
                at::IntArrayRef shape, at::Device device, std::string_view owner) {
  check_device(who, name, mark, owner, device);
  check_shape(who, name, mark, shape);
  if (mark.scalar_type() != at::kLong) {
    throw ShapeError(fmt::format("[{}] {} is {}, but must be Long", who, name,
                                 at::toString(mark.scalar_type())));
  }
}

void check_lengths(std::string_view who, const Tensor& lengths, std::int64_t tokens) {
  const Tensor values = lengths.contiguous();
  const std::int64_t* length = values.const_data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < values.numel(); ++b) {
    if (length[b] < 0 || length[b] > tokens) {
      throw ShapeError(fmt::format("[{}] lengths[{}] = {} is outside [0, {}], the window's tokens",
                                   who, b, length[b], tokens));
    }
  }
}

}  // namespace

// bitwise_and and bitwise_not, because the logical ones have no form on the meta device.
Tensor PreparedMarks::without_padding(const Tensor& values) const {
  if (!valid.defined()) return values;
  Tensor padding = valid.bitwise_not();
  while (padding.dim() < values.dim()) padding = padding.unsqueeze(-1);
  return values.masked_fill(padding, 0);
}

Tensor PreparedMarks::advance(const Tensor& position, std::int64_t tokens) const {
  if (!segments.defined()) return lengths.defined() ? position + lengths : position + tokens;
  const Tensor last = segments.narrow(1, tokens - 1, 1);
  Tensor counted = segments == last;
  if (valid.defined()) counted = counted.bitwise_and(valid);
  return position * (last.squeeze(1) == 0) + counted.sum(1);
}

PreparedMarks prepare_marks(const WindowMarks& marks, std::int64_t batch, std::int64_t tokens,
                            at::Device device, std::string_view who, std::string_view owner) {
  PreparedMarks prepared;
  if (marks.lengths.defined()) {
    check_mark(who, "lengths", marks.lengths, {batch}, device, owner);
    if (device.is_cpu()) check_lengths(who, marks.lengths, tokens);
    prepared.lengths = device.is_cpu() ? marks.lengths : marks.lengths.clamp(0, tokens);
    prepared.valid = at::arange(tokens, marks.lengths.options()) < prepared.lengths.unsqueeze(1);
  }
  if (marks.seq_idx.defined()) {
    check_mark(who, "seq_idx", marks.seq_idx, {batch, tokens}, device, owner);
    Tensor boundary =
        marks.seq_idx.narrow(1, 1, tokens - 1) != marks.seq_idx.narrow(1, 0, tokens - 1);
    if (prepared.valid.defined())
      boundary = boundary.bitwise_and(prepared.valid.narrow(1, 1, tokens - 1));
    prepared.segments = at::cumsum(at::constant_pad_nd(boundary.to(at::kLong), {1, 0}), 1);
  }
  return prepared;
}

}  // namespace foxhunt::nn
