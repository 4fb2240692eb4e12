#include "foxhunt/train/device_audit.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <ostream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/nn/meta_audit.h"
#include "foxhunt/train/device_audit_loop.h"
#include "foxhunt/train/synthetic_data.h"

namespace foxhunt::train {

static void PrintTo(const Stray& stray, std::ostream* out) {
  *out << stray.owner << ": " << stray.text;
}

namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

const auto kMeta = at::TensorOptions(at::kMeta).dtype(at::kFloat);
const auto kCpu = at::TensorOptions(at::kCPU).dtype(at::kFloat);

auto stray_of(const std::string& owner) { return Contains(Field(&Stray::owner, owner)); }
auto stray_text(const std::string& part) { return Contains(Field(&Stray::text, HasSubstr(part))); }

ExperimentConfig small() {
  ExperimentConfig config;
  config.hyper.model.d_model = 16;
  config.hyper.model.n_layer = 2;
  config.hyper.model.headdim = 16;
  config.hyper.model.d_state = 8;
  config.windows = {.length = 40, .burn_in = 8};
  config.hyper.train.batch_size = 2;
  return config;
}

TEST(DeviceAudit, EveryConfigurationOfTheRepositoryTrainsOnOneDevice) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().string());
    ++files;
    ExperimentConfig config;
    load_experiment(config, {entry.path().string()}, {});
    for (const DeviceAudit& audit : audit_devices(config, {})) {
      SCOPED_TRACE(audit.program);
      EXPECT_TRUE(audit.passed()) << to_text({audit}, false);
      EXPECT_EQ(audit.steps, 2);
      EXPECT_GT(audit.operations, 500);
      EXPECT_THAT(audit.tensors, Not(Contains(Field(&AuditedTensor::stray, true))));
      for (const char* part : {"model", "gradient", "optimiser", "loop"})
        EXPECT_THAT(audit.tensors, Contains(Field(&AuditedTensor::part, part)));
      // Two uploads of four tensors and one for validation; two reads of two numbers, one of one.
      for (const AuditedCrossing& c : audit.crossings) EXPECT_NE(c.what, "") << c.operation;
    }
  }
  EXPECT_GE(files, 2);
}

TEST(DeviceAudit, EveryHeadTrainsOnOneDevice) {
  for (const HeadChoice head :
       {HeadChoice::kAuto, HeadChoice::kRegression, HeadChoice::kQuantiles}) {
    ExperimentConfig config = small();
    config.hyper.head.kind = head;
    config.label.kind =
        head == HeadChoice::kAuto ? bundle::LabelKind::kDirection : bundle::LabelKind::kReturn;
    config.hyper.train.class_weights = head == HeadChoice::kAuto;
    for (const DeviceAudit& audit : audit_devices(config, {}))
      EXPECT_TRUE(audit.passed()) << to_text({audit}, false);
  }
}

TEST(DeviceAudit, ListsEveryParameterWithItsGradientAndMoments) {
  const std::vector<DeviceAudit> audits = audit_devices(small(), {.baseline = false});
  ASSERT_EQ(audits.size(), 1U);
  std::int64_t model = 0, gradient = 0, moments = 0;
  for (const AuditedTensor& t : audits[0].tensors) {
    if (t.part == "model") model += t.bytes;
    if (t.part == "gradient") gradient += t.bytes;
    if (t.part == "optimiser" && t.name.rfind("exp_avg", 0) == 0) moments += t.bytes;
  }
  EXPECT_GT(model, 0);
  EXPECT_EQ(gradient, model);
  EXPECT_EQ(moments, 2 * model);
  EXPECT_THAT(
      audits[0].tensors,
      Contains(AllOf(Field(&AuditedTensor::name, "backbone.layers.1.mixer.dt_bias"),
                     Field(&AuditedTensor::shape, std::vector<std::int64_t>{2}),
                     Field(&AuditedTensor::dtype, "float32"), Field(&AuditedTensor::device, "meta"),
                     Field(&AuditedTensor::bytes, 8))));
}

TEST(DeviceAudit, OnTheCpuNothingCrosses) {
  for (const DeviceAudit& audit : audit_devices(small(), {.device = "cpu"})) {
    EXPECT_TRUE(audit.passed()) << to_text({audit}, false);
    EXPECT_TRUE(audit.crossings.empty());
  }
}

TEST(DeviceAudit, ADeviceThatIsNotThereIsAnError) {
  EXPECT_THROW(audit_devices(small(), {.device = "cuda:99"}), Error);
  EXPECT_THROW(audit_devices(small(), {.device = "tpu"}), UsageError);
}

/// Linear, with one thing planted in it.
class Planted final : public SequenceModel {
 public:
  enum class Plant { kNothing, kCpuParameter, kCpuTable, kCpuIndex, kItem, kCopy, kState };

  Planted(const model::HeadConfig& head, Plant plant) : head_(head), plant_(plant) {
    const auto bias = plant == Plant::kCpuParameter ? kCpu : kMeta;
    parameters_ = {{"head.weight", at::zeros({head.n_outputs(), head.n_features}, kMeta)},
                   {"layers.3.mixer.dt_bias", at::zeros({head.n_outputs()}, bias)}};
    for (auto& [name, tensor] : parameters_) tensor.requires_grad_();
    table = at::ones({head.n_outputs()}, kCpu);
  }

  at::Device device() const override { return at::Device(at::kMeta); }
  const model::HeadConfig& head() const override { return head_; }
  NamedParameters parameters() override { return parameters_; }
  at::Tensor answer(const at::Tensor& x) override { return forward(x); }
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor bias = parameters_[1].second;
    if (plant_ == Plant::kCpuTable) bias = at::cat({bias, table}).narrow(0, 0, bias.size(0));
    if (plant_ == Plant::kCpuIndex)
      bias = at::index(bias, {at::arange(bias.size(0), at::TensorOptions(at::kLong))});
    if (plant_ == Plant::kState) bias = at::cat({bias, table.exp()}).narrow(0, 0, bias.size(0));
    return at::linear(x, parameters_[0].second, bias);
  }
  void after_step() override {
    const at::NoGradGuard no_grad;
    if (plant_ == Plant::kItem) parameters_[1].second.sum().item<double>();
    if (plant_ == Plant::kCopy) parameters_[1].second.to(at::kCPU);
  }

  at::Tensor table;

 private:
  model::HeadConfig head_;
  Plant plant_;
  NamedParameters parameters_;
};

struct Prepared {
  ExperimentConfig config = small();
  SyntheticData made = synthetic_data(config, 4, 40);
  TrainingData data{
      .set = made.set, .split = made.split, .normalizer = made.normalizer, .windows = made.windows};
  model::HeadConfig head{.n_features = feature_width(config), .n_classes = 3};
  Prepared() { config.hyper.train.epochs = 1; }
};

DeviceAudit audit(Planted::Plant plant) {
  const Prepared p;
  Planted model(p.head, plant);
  NamedParameters state;
  if (plant == Planted::Plant::kState) state.emplace_back("state.layers.3.table", model.table);
  return audit_loop({.model = model,
                     .data = p.data,
                     .config = p.config.hyper.train,
                     .program = "planted",
                     .state = state});
}

TEST(DeviceAudit, WithoutAPlantTheToyPasses) {
  const DeviceAudit seen = audit(Planted::Plant::kNothing);
  EXPECT_TRUE(seen.passed()) << to_text({seen}, true);
}

TEST(DeviceAudit, NamesAParameterThatLiesOnTheCpu) {
  const DeviceAudit seen = audit(Planted::Plant::kCpuParameter);
  EXPECT_THAT(seen.strays, stray_of("layers.3.mixer.dt_bias"));
  EXPECT_EQ(seen.steps, 0);
  const auto json = nlohmann::json::parse(to_json({seen}));
  EXPECT_FALSE(json["passed"]);
  EXPECT_EQ(json["programs"][0]["strays"][0]["owner"], "layers.3.mixer.dt_bias");
}

TEST(DeviceAudit, SaysOperationAndArgumentOfATensorWithoutAName) {
  const DeviceAudit seen = audit(Planted::Plant::kCpuTable);
  EXPECT_THAT(seen.strays, stray_of("aten::cat argument 0"));
  EXPECT_THAT(seen.strays, stray_text("cpu[3]"));
  EXPECT_THAT(seen.strays, stray_text("beside layers.3.mixer.dt_bias"));
}

TEST(DeviceAudit, SaysWhatMadeAnIndexOnTheCpu) {
  const DeviceAudit seen = audit(Planted::Plant::kCpuIndex);
  EXPECT_THAT(seen.strays, stray_of("aten::index argument 1"));
  EXPECT_THAT(seen.strays, stray_text("made by aten::arange"));
}

TEST(DeviceAudit, NamesWhatAnUnnamedTensorCameFrom) {
  const DeviceAudit seen = audit(Planted::Plant::kState);
  EXPECT_THAT(seen.strays, stray_of("state.layers.3.table"));
  EXPECT_THAT(seen.strays, stray_text("state.layers.3.table through aten::exp"));
}

TEST(DeviceAudit, FindsAnItemInTheLoop) {
  const DeviceAudit seen = audit(Planted::Plant::kItem);
  EXPECT_THAT(seen.strays, stray_of("aten::_local_scalar_dense argument 0"));
  EXPECT_THAT(seen.strays, stray_text("makes the host wait for meta"));
}

TEST(DeviceAudit, NamesAParameterThatIsCopiedToTheHostInTheLoop) {
  const DeviceAudit seen = audit(Planted::Plant::kCopy);
  EXPECT_THAT(seen.strays, stray_of("layers.3.mixer.dt_bias"));
  EXPECT_THAT(seen.strays, stray_text("12 bytes from meta to cpu"));
}

TEST(DeviceAudit, NamesTheMemberOfALayerThatIsNotItsParameter) {
  Prepared p;
  nn::Mamba2SSM model(p.config.hyper.model, p.head, at::kMeta);
  EXPECT_TRUE(audit_mamba2(model, p.data, p.config.hyper.train).passed());
  nn::Mamba2SSM other(p.config.hyper.model, p.head, at::kMeta);
  other.layer(1).conv1d->bias = at::zeros(other.layer(1).conv1d->bias.sizes(), kCpu);
  const DeviceAudit seen = audit_mamba2(other, p.data, p.config.hyper.train);
  EXPECT_THAT(seen.strays, stray_of("backbone.layers.1.mixer.conv1d.bias"));
  EXPECT_THAT(seen.strays,
              stray_text("operands on meta; it is backbone.layers.1.mixer.conv1d.bias"));
}

TEST(DeviceAudit, MomentsOnAnotherDeviceAreStrays) {
  const at::Device home(at::kMeta);
  const auto listed = list_tensors("optimiser",
                                   {{"step.w", at::scalar_tensor(1)},
                                    {"exp_avg.w", at::zeros({2}, kMeta)},
                                    {"exp_avg_sq.w", at::zeros({2}, kCpu)}},
                                   home);
  ASSERT_EQ(listed.size(), 3U);
  EXPECT_FALSE(listed[0].stray);  // a number beside any device
  EXPECT_FALSE(listed[1].stray);
  EXPECT_TRUE(listed[2].stray);
}

TEST(DeviceAudit, TheObserverCountsACopyOnceAndTakesNamesByStorage) {
  nn::MetaAudit audit(/*follow_host=*/true);
  const at::Tensor flat = at::zeros({8}, kMeta);
  audit.name(flat.narrow(0, 0, 4), "first");
  audit.name(flat.narrow(0, 4, 4), "second");
  try {
    flat.narrow(0, 5, 2).to(at::kCPU);
  } catch (const c10::Error&) {  // meta has no data
  }
  const auto crossings = audit.crossings();
  ASSERT_EQ(crossings.size(), 1U);
  EXPECT_EQ(crossings[0].owner, "second");
  EXPECT_EQ(crossings[0].count, 1);
  EXPECT_EQ(crossings[0].bytes, 8);
  EXPECT_EQ(crossings[0].declared, "");
}

}  // namespace
}  // namespace foxhunt::train
