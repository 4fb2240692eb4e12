// What a trainer relies on: no operation on two devices, no hidden transfer, and a model that
// learns to remember.
#include <gmock/gmock.h>
#include <torch/nn/module.h>
#include <torch/optim/adamw.h>

#include "foxhunt/nn/bf16_test_tools.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/meta_audit.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::HeadConfig;
using model::HeadKind;
using model::Mamba2Config;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Mamba2Config small() {
  Mamba2Config c;
  c.d_model = 16;
  c.n_layer = 2;
  c.headdim = 8;
  c.d_state = 4;
  c.chunk_size = 4;
  c.dt_limit_min = 1e-6;
  c.dt_limit_max = 1.0;
  return c;
}

at::TensorOptions meta(at::ScalarType dtype = at::kFloat) {
  return at::TensorOptions(at::kMeta).dtype(dtype);
}

TEST(MetaAudit, AWholeTrainingStepStaysOnOneDevice) {
  for (const HeadKind kind : {HeadKind::kClassification, HeadKind::kTokens}) {
    HeadConfig head;
    head.kind = kind;
    head.n_features = 6;
    Mamba2SSM model(small(), head, at::kMeta);
    torch::optim::AdamW optimizer(model.parameters(), torch::optim::AdamWOptions(1e-3));
    const Tensor x = kind == HeadKind::kTokens ? at::zeros({3, 10}, meta(at::kLong))
                                               : at::zeros({3, 10, 6}, meta());
    WindowMarks marks;
    marks.seq_idx = at::zeros({3, 10}, meta(at::kLong));
    marks.lengths = at::zeros({3}, meta(at::kLong));
    Mamba2State state = model.zero_state(3);

    const MetaAudit audit;
    for (int step = 0; step < 2; ++step) {
      optimizer.zero_grad();
      const Tensor out = model.forward(x, state, step == 0 ? WindowMarks{} : marks);
      state.detach();
      Tensor loss = out.square().mean();
      Mamba2State stepped = model.zero_state(3);
      loss = loss + model.step(x.select(1, 0), stepped).square().mean();
      loss.backward();
      optimizer.step();
    }
    EXPECT_THAT(audit.mixed(), IsEmpty());
    EXPECT_THAT(audit.transfers(), IsEmpty());
    EXPECT_GT(audit.operations(), 1000) << "an audit that saw little proves little";
  }
}

TEST(MetaAudit, NamesPlantedStrays) {
  const Tensor x = at::zeros({2, 8}, meta());
  const MetaAudit audit;
  at::linear(x, at::zeros({4, 8}), at::zeros({4}, meta()));
  at::linear(x, at::zeros({4, 8}, meta()), at::zeros({4}));
  at::cat({x, at::zeros({2, 8})});
  x.index({at::zeros({2}, at::kLong)});
  EXPECT_THAT(audit.mixed(), Contains(HasSubstr("aten::addmm arg2=cpu[8, 4]")));
  EXPECT_THAT(audit.mixed(), Contains(HasSubstr("aten::addmm arg0=cpu[4]")));
  EXPECT_THAT(audit.mixed(), Contains(HasSubstr("aten::cat arg0=cpu[2, 8]")));
  EXPECT_THAT(audit.mixed(), Contains(HasSubstr("aten::index arg1=cpu[2]")));
}

TEST(MetaAudit, NamesAStrayParameterOfAModel) {
  Mamba2SSM model(small(), HeadConfig{}, at::kMeta);
  SSDLayer& layer = model.layer(1);
  layer.out_proj->weight = at::zeros({16, 32});  // stays on the CPU
  const MetaAudit audit;
  model.forward(at::zeros({3, 10, 16}, meta()));
  EXPECT_THAT(audit.mixed(), Contains(HasSubstr("cpu[32, 16]")));
}

TEST(MetaAudit, NamesTransfersAndLetsScalarsBe) {
  const Tensor x = at::zeros({4}, meta());
  const MetaAudit audit;
  x.mul(at::zeros({}));                // a CPU scalar beside any device is legal
  at::zeros({3}).sum().item<float>();  // a scalar that lies on the CPU is no transfer
  EXPECT_THAT(audit.mixed(), IsEmpty());
  EXPECT_THAT(audit.transfers(), IsEmpty());
  at::zeros({4}).to(at::kMeta);
  at::zeros({4}, meta()).copy_(at::zeros({4}));
  EXPECT_THAT(audit.transfers(), Contains("aten::_to_copy cpu[4] -> meta"));
  EXPECT_THAT(audit.transfers(), Contains("aten::copy_ cpu[4] -> meta"));
}

TEST(MetaAudit, OnlyOneLivesAtATime) {
  const MetaAudit first;
  EXPECT_THROW(MetaAudit(), Error);
}

TEST(Mamba2SSM, UnderAutocastStatesAndStepSizesStayFloat32) {
  Rng rng(42);
  Mamba2SSM model(small(), HeadConfig{}, at::kCPU);
  const Tensor x = random_tensor(rng, {4, 20, 16}, at::kFloat);
  Mamba2State plain = model.zero_state(4);
  const Tensor want = model.forward(x, plain);
  Mamba2State state = model.zero_state(4);
  ModelTrace trace;
  const Tensor out = [&] {
    const Bf16Autocast guard;
    return model.forward(x, state, {}, &trace);
  }();
  EXPECT_EQ(state.layers[0].ssm.scalar_type(), at::kFloat);
  EXPECT_EQ(state.layers[0].conv.scalar_type(), at::kFloat);
  EXPECT_EQ(trace.layers[0].dt.scalar_type(), at::kFloat);
  EXPECT_EQ(trace.layers[0].residual.scalar_type(), at::kFloat);
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  out.square().sum().backward();
  for (const Tensor& p : model.parameters()) EXPECT_TRUE(at::isfinite(p.grad()).all().item<bool>());
  EXPECT_FALSE(same_bits(out, want)) << "autocast must have had an effect";
  // bfloat16 has 8 bits: projections are right to about 0.4 %, two layers of them to a few percent.
  EXPECT_LT(distance(out, want), 0.05);
}

TEST(Mamba2SSM, LearnsToRepeatWhatItSawFiveTokensAgo) {
  // The convolution sees four tokens, so that only the state can know: without it nothing beats the
  // variance, 1.
  HeadConfig head;
  head.kind = HeadKind::kRegression;
  head.n_features = 1;
  Mamba2Config config = small();
  config.n_layer = 1;
  config.d_state = 16;
  config.chunk_size = 32;
  config.dt_init_min = 0.02;
  config.dt_init_max = 0.2;
  Mamba2SSM model(config, head, at::kCPU);
  torch::optim::AdamW optimizer(model.parameters(),
                                torch::optim::AdamWOptions(1e-2).weight_decay(0.0));
  Rng rng(41);
  const std::int64_t delay = 5;
  double error = 1.0;
  for (int step = 0; step < 200; ++step) {
    const Tensor x = random_tensor(rng, {16, 24, 1}, at::kFloat).sign();
    optimizer.zero_grad();
    const Tensor out = model.forward(x).narrow(1, delay, 24 - delay);
    const Tensor loss = (out - x.narrow(1, 0, 24 - delay)).square().mean();
    loss.backward();
    optimizer.step();
    error = loss.item<double>();
  }
  EXPECT_LT(error, 0.5);
}

}  // namespace
}  // namespace foxhunt::nn
