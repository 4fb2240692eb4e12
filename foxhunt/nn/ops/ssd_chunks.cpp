#include "foxhunt/nn/ops/ssd_chunks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>

namespace foxhunt::nn {
namespace {

using at::Tensor;

/// The parts of [B, T, channels], as [B, nc, Q, G, r P] for x and [B, nc, Q, G, N] for B and C.
struct Parts {
  Tensor x, B, C;
};

Parts split(const ChunkShape& s, const Tensor& xbc) {
  const std::int64_t gn = s.sizes.groups * s.sizes.d_state;
  const auto part = [&](std::int64_t start, std::int64_t width) {
    return xbc.narrow(2, start, width)
        .unflatten(1, {s.count, s.length})
        .unflatten(3, {s.sizes.groups, -1});
  };
  return {part(0, s.inner()), part(s.inner(), gn), part(s.inner() + gn, gn)};
}

/// [B, nc, Q, G, K] -> [B nc G, Q, K], a view where that is possible.
Tensor by_group(const Tensor& t) { return t.transpose(2, 3).flatten(0, 2); }

/// [B nc G, Q, K] -> [B, nc, Q, G, K], a view.
Tensor from_group(const ChunkShape& s, const Tensor& t) {
  return t.unflatten(0, {s.batch, s.count, s.sizes.groups}).transpose(2, 3);
}

/// [B, nc, Q, G, r P] or [B, nc, Q, H, P] as [B, nc, H, Q, P], a view.
Tensor by_head(const ChunkShape& s, const Tensor& t) {
  const Tensor flat = t.flatten(3);
  return flat.unflatten(3, {s.sizes.heads, -1}).transpose(2, 3);
}

/// [B, nc, Q, H] beside a tensor [B, nc, Q, G, r P] seen as [B, nc, Q, H, P].
Tensor heads_of(const ChunkShape& s, const Tensor& t) {
  return t.flatten(3).unflatten(3, {s.sizes.heads, -1});
}

/// values [B, nc, Q, H, P] times weight [B, nc, Q, H], contiguous, grouped as [B nc G, Q, r P].
Tensor weighted_by_group(const ChunkShape& s, const Tensor& values, const Tensor& weight) {
  const Tensor product = at::mul(values, weight.unsqueeze(-1));
  return by_group(product.flatten(3).unflatten(3, {s.sizes.groups, -1}));
}

/// dt x, laid out by head: [B nc H, Q, P], contiguous.
Tensor inputs_by_head(const ChunkShape& s, const Tensor& x, const Tensor& dt) {
  const Tensor dt_chunks = dt.unflatten(1, {s.count, s.length});  // [B, nc, Q, H]
  Tensor out = at::empty({s.batch, s.count, s.sizes.heads, s.length, s.sizes.headdim}, x.options());
  at::mul_out(out, by_head(s, x), dt_chunks.transpose(2, 3).unsqueeze(-1));
  return out.flatten(0, 2);
}

/// C_i . B_j once a group: [B, nc, G, 1, Q, Q].
Tensor gram_of(const ChunkShape& s, const Parts& parts) {
  const Tensor gram = at::bmm(by_group(parts.C), by_group(parts.B).transpose(1, 2));
  return gram.unflatten(0, {s.batch, s.count, s.sizes.groups}).unsqueeze(3);
}

Tensor grouped_heads(const ChunkShape& s,
                     const Tensor& per_head) {  // [B, nc, H, ..] -> [B, nc, G, r, ..]
  return per_head.unflatten(2, {s.sizes.groups, s.heads_per_group()});
}

}  // namespace

ChunkDecays make_decays(const ChunkShape& s, const Tensor& dt, const Tensor& A,
                        const Tensor& segments, const Tensor& before) {
  const Tensor a =
      (dt.to(at::kDouble) * A.to(at::kDouble)).unflatten(1, {s.count, s.length}).transpose(2, 3);
  Tensor sums;   // [B, nc, H, Q] float64
  Tensor joint;  // [B, nc, 1, Q, Q] where i >= j share a segment
  Tensor number;
  if (segments.defined()) {
    number = segments.unflatten(1, {s.count, s.length});  // [B, nc, Q]
    joint = (number.unsqueeze(-1) == number.unsqueeze(-2)).tril().unsqueeze(2);
    // A product with zeros and ones, so that no bit of one segment enters the sums of another.
    sums = at::matmul(joint.to(at::kDouble), a.unsqueeze(-1)).squeeze(-1);
  } else {
    sums = at::cumsum(a, -1);
  }
  const auto narrow = [&](const Tensor& t) { return t.to(dt.scalar_type()); };
  ChunkDecays decays;
  decays.within = narrow((sums.unsqueeze(-1) - sums.unsqueeze(-2)).clamp_max_(0.0)).exp_();
  const Tensor last = sums.narrow(-1, s.length - 1, 1);
  Tensor into = sums.exp();
  Tensor tail = (last - sums).clamp_max_(0.0).exp_();
  Tensor through = last.squeeze(-1).exp();
  if (segments.defined()) {
    decays.within.mul_(joint);
    const Tensor last_number = number.select(-1, s.length - 1);  // [B, nc]
    const Tensor previous =
        at::cat({before.unsqueeze(1), last_number.narrow(1, 0, s.count - 1)}, 1);
    into.mul_((number == previous.unsqueeze(-1)).unsqueeze(2));
    tail.mul_((number == last_number.unsqueeze(-1)).unsqueeze(2));
    through.mul_((last_number == previous).unsqueeze(2));
  } else {
    decays.within.tril_();
  }
  decays.into = narrow(into.transpose(2, 3)).contiguous();
  decays.tail = narrow(tail.transpose(2, 3)).contiguous();
  decays.through = narrow(through);
  return decays;
}

ChunkForward chunks_forward(const ChunkShape& s, const ChunkDecays& decays, const Tensor& xbc,
                            const Tensor& dt, const Tensor& D, const Tensor& state) {
  const Parts parts = split(s, xbc);
  const Tensor dt_chunks = dt.unflatten(1, {s.count, s.length});
  const Tensor x = heads_of(s, parts.x);  // [B, nc, Q, H, P]
  const Tensor B = by_group(parts.B);
  const Tensor C = by_group(parts.C);

  // What each chunk adds to the state, then the states that enter the chunks, one after the other.
  const Tensor to_state = weighted_by_group(s, x, dt_chunks * decays.tail);
  const Tensor local =
      at::bmm(to_state.transpose(1, 2), B)
          .view({s.batch, s.count, s.sizes.heads, s.sizes.headdim, s.sizes.d_state});
  ChunkForward result;
  result.enter = at::empty(local.sizes(), local.options());
  Tensor current = state;
  for (std::int64_t c = 0; c < s.count; ++c) {
    result.enter.select(1, c).copy_(current);
    current = at::addcmul(local.select(1, c), current,
                          decays.through.select(1, c).unsqueeze(-1).unsqueeze(-1));
  }
  result.state = current;

  const Tensor mixing = grouped_heads(s, decays.within) * gram_of(s, parts);  // [B, nc, G, r, Q, Q]
  const Tensor inside = at::bmm(mixing.flatten(0, 3), inputs_by_head(s, parts.x, dt))
                            .unflatten(0, {s.batch, s.count, s.sizes.heads})
                            .transpose(2, 3);  // [B, nc, Q, H, P]
  const Tensor entering =
      result.enter.view({-1, s.heads_per_group() * s.sizes.headdim, s.sizes.d_state});
  const Tensor carried = heads_of(s, from_group(s, at::bmm(C, entering.transpose(1, 2))));
  Tensor y = at::empty({s.batch, s.count, s.length, s.sizes.heads, s.sizes.headdim}, x.options());
  at::addcmul_out(y, inside, carried, decays.into.unsqueeze(-1));
  if (D.defined()) y.addcmul_(x, D.unsqueeze(-1));
  result.y = y.flatten(1, 2);
  return result;
}

namespace {

/// Gradient of the leaving state of each chunk [B, nc, H, P, N]; returns that of the state entering
/// the block.
Tensor carry_back(const ChunkShape& s, const ChunkDecays& decays, const Tensor& denter,
                  const Tensor& dstate, Tensor& leaving) {
  leaving = at::empty(denter.sizes(), denter.options());
  Tensor current = dstate;
  for (std::int64_t c = s.count; c-- > 0;) {
    leaving.select(1, c).copy_(current);
    current = at::addcmul(denter.select(1, c), current,
                          decays.through.select(1, c).unsqueeze(-1).unsqueeze(-1));
  }
  return current;
}

/// [Q, Q] with ones where the column lies behind the row, the diagonal included from `first` = 0
/// on.
Tensor ones_from(std::int64_t length, std::int64_t first, const Tensor& like) {
  return at::ones({length, length}, like.options()).triu_(first);
}

/// sum over i >= t > j of K_ij, for every t: [.., Q, Q] -> [.., Q]. No differences, hence no
/// cancellation.
Tensor spans_over(const Tensor& K, std::int64_t length) {
  return at::matmul(K, ones_from(length, 1, K)).tril_().sum(-2);  // over j < t, then over i >= t
}

/// Gradient of a = dt A, [B, nc, Q, H], from its four roles: inside, into, tail, through.
Tensor decay_gradient(const Tensor& inside, const Tensor& into, const Tensor& tail,
                      const Tensor& through) {
  const std::int64_t length = into.size(2);
  const Tensor from_later = at::matmul(ones_from(length, 0, into), into);  // over i >= t
  const Tensor from_earlier =
      at::matmul(ones_from(length, 1, tail).transpose(0, 1), tail);  // over j < t
  return (inside.transpose(2, 3) + from_later).add_(from_earlier).add_(through.unsqueeze(2));
}

/// The backward half of y_i = sum_j L_ij (C_i . B_j) dt_j x_j.
struct InsideGradients {
  Tensor inputs;  ///< [B, nc, Q, H, P] of dt x
  Tensor gram;    ///< [B nc G, Q, Q]
  Tensor decay;   ///< [B, nc, H, Q] of dt A
};
InsideGradients inside_backward(const ChunkShape& s, const ChunkDecays& decays, const Parts& parts,
                                const Tensor& dt, const Tensor& dy_heads) {
  const Tensor dy_rows = by_head(s, dy_heads).contiguous().flatten(0, 2);
  const Tensor gram = gram_of(s, parts);
  const Tensor within = grouped_heads(s, decays.within);
  InsideGradients grad;
  grad.inputs = at::bmm((within * gram).flatten(0, 3).transpose(1, 2), dy_rows)
                    .unflatten(0, {s.batch, s.count, s.sizes.heads})
                    .transpose(2, 3);
  Tensor spread =
      at::bmm(dy_rows, inputs_by_head(s, parts.x, dt).transpose(1, 2)).view(within.sizes());
  spread.mul_(within);
  grad.gram = spread.sum(3).flatten(0, 2);
  grad.decay = spans_over(spread.mul_(gram).flatten(2, 3), s.length);
  return grad;
}

}  // namespace

ChunkGradients chunks_backward(const ChunkShape& s, const ChunkDecays& decays, const Tensor& xbc,
                               const Tensor& dt, const Tensor& A, const Tensor& D,
                               const Tensor& enter, const Tensor& dy, const Tensor& dstate) {
  const Parts parts = split(s, xbc);
  const Tensor dt_chunks = dt.unflatten(1, {s.count, s.length});
  const Tensor x = heads_of(s, parts.x);
  const Tensor B = by_group(parts.B);
  const Tensor C = by_group(parts.C);
  const Tensor dy_heads = dy.unflatten(1, {s.count, s.length});  // [B, nc, Q, H, P]
  const std::int64_t rp = s.heads_per_group() * s.sizes.headdim;

  // Through the states.
  const Tensor entering = enter.view({-1, rp, s.sizes.d_state});
  const Tensor dcarried = weighted_by_group(s, dy_heads, decays.into);  // [B nc G, Q, r P]
  const Tensor denter = at::bmm(dcarried.transpose(1, 2), C).view(enter.sizes());
  Tensor leaving;
  ChunkGradients grad;
  grad.state = carry_back(s, decays, denter, dstate, leaving);
  const Tensor leaving_group = leaving.view({-1, rp, s.sizes.d_state});
  const Tensor to_state = weighted_by_group(s, x, dt_chunks * decays.tail);
  const Tensor carried = at::bmm(C, entering.transpose(1, 2));
  const Tensor back =
      heads_of(s, from_group(s, at::bmm(B, leaving_group.transpose(1, 2))));  // R B_j, [B,nc,Q,H,P]

  const InsideGradients inside = inside_backward(s, decays, parts, dt, dy_heads);
  grad.xbc = at::empty(xbc.sizes(), xbc.options());
  const Parts out = split(s, grad.xbc);
  out.C.copy_(from_group(s, at::baddbmm(at::bmm(dcarried, entering), inside.gram, B)));
  out.B.copy_(
      from_group(s, at::baddbmm(at::bmm(to_state, leaving_group), inside.gram.transpose(1, 2), C)));

  const Tensor dinput = at::addcmul(inside.inputs, back, decays.tail.unsqueeze(-1));  // of dt x
  Tensor dx = heads_of(s, out.x);
  at::mul_out(dx, dinput, dt_chunks.unsqueeze(-1));
  if (D.defined()) {
    dx.addcmul_(dy_heads, D.unsqueeze(-1));
    grad.D = (dy_heads * x).sum({0, 1, 2, 4});
  }

  const Tensor into_part = heads_of(s, from_group(s, dcarried * carried)).sum(-1);
  const Tensor tail_part = (x * back).sum(-1).mul_(decays.tail).mul_(dt_chunks);
  const Tensor through_part = (leaving * enter).sum({-1, -2}).mul_(decays.through);
  const Tensor da = decay_gradient(inside.decay, into_part, tail_part, through_part);
  grad.dt = (x * dinput).sum(-1).addcmul_(da, A).flatten(1, 2);
  grad.A = (da * dt_chunks).sum({0, 1, 2});
  return grad;
}

}  // namespace foxhunt::nn
