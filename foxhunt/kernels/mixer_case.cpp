#include "foxhunt/kernels/mixer_case.h"

#include <fmt/format.h>

#include <limits>

#include "foxhunt/base/rng.h"

namespace foxhunt::kernels {
namespace {

std::vector<double> draw(Rng rng, std::int64_t count, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(count));
  // Rounded to float: the float kernels then see exactly the reference's numbers.
  for (double& v : values) v = static_cast<double>(static_cast<float>(rng.uniform(low, high)));
  return values;
}

template <class T>
std::vector<T> cast(const std::vector<double>& values) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const double v : values) out.push_back(static_cast<T>(v));
  return out;
}

template <class T>
const T* or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}
template <class T>
T* or_null(std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// The case's numbers as T, and views of them as the kernels take them.
template <class T>
struct Operands {
  explicit Operands(const ReferenceMixerInput& in)
      : proj(cast<T>(in.proj)),
        conv(cast<T>(in.conv)),
        conv_bias(cast<T>(in.conv_bias)),
        dt_bias(cast<T>(in.dt_bias)),
        A(cast<T>(in.A)),
        D(cast<T>(in.D)),
        norm(cast<T>(in.norm)),
        conv_state(cast<T>(in.conv_state)),
        ssm_state(cast<T>(in.ssm_state)),
        plan(plan_chunks(in.batch, in.tokens, in.shape.chunk, or_null(in.segments),
                         or_null(in.lengths))),
        weights{conv.data(),    or_null(conv_bias),
                dt_bias.data(), A.data(),
                or_null(D),     in.shape.gate == Gate::kNoNorm ? nullptr : norm.data()},
        batch{in.batch,          in.tokens, proj.data(), in.shape.proj_width(), or_null(conv_state),
              or_null(ssm_state)} {}

  std::vector<T> proj, conv, conv_bias, dt_bias, A, D, norm, conv_state, ssm_state;
  ChunkPlan plan;
  MixerWeights<T> weights;
  MixerBatch<T> batch;
};

template <class T>
std::vector<T> unwritten(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void forward(const KernelTableOf<T>& kernels, const ReferenceMixerInput& in, const Operands<T>& o,
             MixerRun<T>& run) {
  const MixerShape& s = in.shape;
  run.out = unwritten<T>(in.batch * in.tokens * s.inner());
  run.conv_next = unwritten<T>(in.batch * s.channels() * s.width);
  run.ssm_next = unwritten<T>(in.batch * state_size(s.ssd));
  run.chunk_states = unwritten<T>(o.plan.size() * state_size(s.ssd));
  run.rstd = unwritten<T>(in.batch * in.tokens * s.ssd.groups);
  mixer_forward(kernels, s, o.weights, o.plan, o.batch,
                {run.out.data(), run.conv_next.data(), run.ssm_next.data(), run.chunk_states.data(),
                 run.rstd.data()});
}

}  // namespace

std::string MixerCase::name() const {
  return fmt::format("H {} P {} G {} N {} W {} Q {} B {} T {} gate {} segments {} lengths {}",
                     shape.ssd.heads, shape.ssd.headdim, shape.ssd.groups, shape.ssd.d_state,
                     shape.width, shape.chunk, batch, tokens, static_cast<int>(shape.gate),
                     segments.size(), lengths.size());
}

ReferenceMixerInput MixerCase::input() const {
  const Rng rng = Rng(11).split(name());
  ReferenceMixerInput in;
  in.shape = shape;
  in.batch = batch;
  in.tokens = tokens;
  in.proj = draw(rng.split("proj"), batch * tokens * shape.proj_width(), -1.5, 1.5);
  Rng steps = rng.split("dt");
  for (std::int64_t row = 0; row < batch * tokens; ++row) {
    for (std::int64_t h = 0; h < shape.ssd.heads; ++h) {
      in.proj[static_cast<std::size_t>((row + 1) * shape.proj_width() - 1 - h)] =
          static_cast<double>(static_cast<float>(steps.uniform(raw_dt.front(), raw_dt.back())));
      if (spike != 0.0 && row % 7 == 3) {
        in.proj[static_cast<std::size_t>((row + 1) * shape.proj_width() - 1 - h)] = spike;
      }
    }
  }
  in.conv = draw(rng.split("conv"), shape.width * shape.channels(), -0.5, 0.5);
  if (bias) in.conv_bias = draw(rng.split("conv_bias"), shape.channels(), -0.5, 0.5);
  in.dt_bias = draw(rng.split("dt_bias"), shape.ssd.heads, -0.5, 0.5);
  in.A = draw(rng.split("A"), shape.ssd.heads, -2.0 * a_scale, -0.1 * a_scale);
  if (skip) in.D = draw(rng.split("D"), shape.ssd.heads, -1.0, 1.0);
  in.norm = draw(rng.split("norm"), shape.inner(), 0.5, 1.5);
  if (with_states) {
    in.conv_state = draw(rng.split("cs"), batch * shape.channels() * shape.width, -1.0, 1.0);
    in.ssm_state = draw(rng.split("ss"), batch * state_size(shape.ssd), -1.0, 1.0);
  }
  in.lengths = lengths;
  if (!segments.empty()) {
    for (std::int64_t row = 0; row < batch; ++row) {
      std::int64_t number = -1;
      for (std::int64_t t = 0; t < tokens; ++t) {
        for (const std::int64_t start : segments) number += start == t ? 1 : 0;
        in.segments.push_back(number);
      }
    }
  }
  return in;
}

ReferenceMixerOutput MixerCase::upstream() const {
  const Rng rng = Rng(12).split(name());
  return {draw(rng.split("out"), batch * tokens * shape.inner(), -1.0, 1.0),
          draw(rng.split("conv"), batch * shape.channels() * shape.width, -1.0, 1.0),
          draw(rng.split("ssm"), batch * state_size(shape.ssd), -1.0, 1.0)};
}

std::vector<MixerCase> mixer_shapes() {
  std::vector<MixerCase> cases;
  const auto add = [&cases](SsdShape ssd, std::int64_t width, std::int64_t chunk,
                            std::int64_t tokens) -> MixerCase& {
    MixerCase c;
    c.shape.ssd = ssd;
    c.shape.width = width;
    c.shape.chunk = chunk;
    c.tokens = tokens;
    return cases.emplace_back(c);
  };
  add({1, 1, 1, 1}, 1, 1, 1);
  add({1, 1, 1, 1}, 2, 4, 3);
  add({3, 5, 3, 7}, 3, 8, 19);
  add({4, 16, 2, 16}, 4, 16, 33);
  add({4, 32, 1, 16}, 4, 32, 70);
  add({2, 64, 1, 64}, 4, 64, 65);
  add({6, 17, 2, 33}, 5, 13, 40);
  add({2, 9, 1, 100}, 2, 31, 64);
  add({5, 3, 5, 8}, 7, 16, 5);  // fewer tokens than taps
  add({4, 8, 1, 48}, 4, 128, 130);
  add({3, 40, 1, 5}, 4, 7, 22).bias = false;
  add({3, 12, 1, 5}, 4, 7, 22).skip = false;
  for (const Gate gate : {Gate::kNormFirst, Gate::kNoNorm}) {
    add({4, 10, 2, 6}, 4, 8, 20).shape.gate = gate;
  }
  return cases;
}

std::vector<MixerCase> mixer_cuts() {
  std::vector<MixerCase> cases;
  MixerCase c;
  c.batch = 3;
  c.tokens = 37;
  cases.push_back(c);
  c.with_states = false;
  cases.push_back(c);
  c.with_states = true;
  c.lengths = {37, 5, 0};
  cases.push_back(c);
  c.lengths = {2, 36, 1};  // shorter than the taps
  cases.push_back(c);
  c.lengths.clear();
  c.segments = {0, 1, 2, 12, 20, 36};
  cases.push_back(c);
  c.segments = {0, 17};
  c.lengths = {37, 18, 3};
  c.shape.ssd = {4, 16, 2, 16};
  cases.push_back(c);
  return cases;
}

std::vector<MixerCase> mixer_limits() {
  std::vector<MixerCase> cases;
  MixerCase c;
  c.shape.dt_low = 0.2;
  c.shape.dt_high = 0.6;
  c.tokens = 30;
  cases.push_back(c);
  c.shape.dt_low = 0.5;
  c.shape.dt_high = 0.5;
  cases.push_back(c);
  c.shape.dt_low = 0.0;
  c.shape.dt_high = std::numeric_limits<double>::infinity();
  cases.push_back(c);
  return cases;
}

template <class T>
MixerRun<T> run_mixer_forward(const KernelTableOf<T>& kernels, const ReferenceMixerInput& in) {
  const Operands<T> o(in);
  MixerRun<T> run;
  forward(kernels, in, o, run);
  return run;
}

MixerRun<float> run_mixer_rows(const KernelTable& kernels, const ReferenceMixerInput& in,
                               const float* proj, std::int64_t stride) {
  Operands<float> o(in);
  o.batch.proj = proj;
  o.batch.proj_row = stride;
  MixerRun<float> run;
  forward(kernels, in, o, run);
  return run;
}

template <class T>
MixerRun<T> run_mixer(const KernelTableOf<T>& kernels, const ReferenceMixerInput& in,
                      const ReferenceMixerOutput& dout) {
  const Operands<T> o(in);
  const MixerShape& s = in.shape;
  MixerRun<T> run;
  forward(kernels, in, o, run);
  const std::vector<T> up = cast<T>(dout.out);
  const std::vector<T> up_conv = cast<T>(dout.conv_next);
  const std::vector<T> up_ssm = cast<T>(dout.ssm_next);
  run.dproj = unwritten<T>(in.batch * in.tokens * s.proj_width());
  run.dconv.assign(in.conv.size(), T(0));
  run.dconv_bias.assign(in.conv_bias.size(), T(0));
  run.ddt_bias.assign(in.dt_bias.size(), T(0));
  run.dA.assign(in.A.size(), T(0));
  run.dD.assign(in.D.size(), T(0));
  run.dnorm.assign(in.norm.size(), T(0));
  run.dconv_state = unwritten<T>(in.batch * s.channels() * s.width);
  run.dssm_state = unwritten<T>(in.batch * state_size(s.ssd));
  mixer_backward(
      kernels, s, o.weights, o.plan, o.batch,
      {run.chunk_states.data(), run.rstd.data(), up.data(), up_conv.data(), up_ssm.data()},
      {run.dproj.data(), run.dconv.data(), or_null(run.dconv_bias), run.ddt_bias.data(),
       run.dA.data(), or_null(run.dD), run.dnorm.data(), run.dconv_state.data(),
       run.dssm_state.data()});
  return run;
}

template MixerRun<float> run_mixer_forward(const KernelTable&, const ReferenceMixerInput&);
template MixerRun<double> run_mixer_forward(const KernelTableOf<double>&,
                                            const ReferenceMixerInput&);
template MixerRun<float> run_mixer(const KernelTable&, const ReferenceMixerInput&,
                                   const ReferenceMixerOutput&);
template MixerRun<double> run_mixer(const KernelTableOf<double>&, const ReferenceMixerInput&,
                                    const ReferenceMixerOutput&);

}  // namespace foxhunt::kernels
