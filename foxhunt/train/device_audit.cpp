// Runs the trainer itself under the observer, and turns what it saw into names.
#include "foxhunt/train/device_audit.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/meta_audit.h"
#include "foxhunt/nn/meta_operations.h"
#include "foxhunt/train/device_audit_loop.h"
#include "foxhunt/train/gru_baseline.h"
#include "foxhunt/train/machine_choice.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/synthetic_data.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 26;  ///< of a made-up batch on the host

std::string dtype_name(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kLong:
      return "int64";
    case at::kBFloat16:
      return "bfloat16";
    default:
      return c10::toString(type);
  }
}

std::string first_line(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

void append(std::vector<AuditedTensor>& to, std::vector<AuditedTensor> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

NamedParameters gradients_of(const NamedParameters& parameters) {
  NamedParameters out;
  for (const auto& [name, tensor] : parameters) {
    if (tensor.grad().defined()) out.emplace_back(name, tensor.grad());
  }
  return out;
}

/// A batch as the trainer brings it to the device.
std::vector<AuditedTensor> list_batch(const AuditedLoop& loop) {
  const TrainingData& data = loop.data;
  std::vector<Window> windows = training_windows(data.windows, data.set.sequences, data.split);
  windows.resize(std::min(windows.size(), static_cast<std::size_t>(loop.config.batch_size)));
  Batch batch;
  BatchFiller(data.set, data.split, data.normalizer, Part::kTrain).fill(windows, 0, batch);
  const DeviceBatch on = upload(batch, 0, batch.B, {}, loop.model.device());
  return list_tensors("loop",
                      {{"batch.x", on.x},
                       {"batch.classes", on.targets.classes},
                       {"batch.values", on.targets.values},
                       {"batch.weights", on.targets.weights}},
                      loop.model.device());
}

/// The parts of an audit that grow while the trainer runs.
class Watch {
 public:
  explicit Watch(const AuditedLoop& loop)
      : loop_(loop),
        home_(loop.model.device()),
        batch_(list_batch(loop)),
        audit_(!home_.is_cpu()),
        report_{.program = loop.program, .device = home_.str()} {}

  /// False: parameters lie elsewhere, so that not even a trainer can be made.
  bool list_model() {
    const NamedParameters parameters = loop_.model.parameters();
    append(report_.tensors, list_tensors("model", parameters, home_));
    const bool right = std::none_of(report_.tensors.begin(), report_.tensors.end(),
                                    [](const AuditedTensor& t) { return t.stray; });
    NamedParameters others;
    for (const auto& [path, tensor] : loop_.members) {
      const bool registered =
          std::any_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
            return parameter.first == path && parameter.second.is_same(tensor);
          });
      if (tensor.defined() && !registered) others.emplace_back(path, tensor);
    }
    append(report_.tensors, list_tensors("model", others, home_));
    append(report_.tensors, list_tensors("state", loop_.state, home_));
    for (const auto& [path, tensor] : others) {
      add_stray(path,
                fmt::format("{} is not the parameter of that name: it is never trained", path));
    }
    name("", parameters);
    name("", others);
    name("", loop_.state);
    return right;
  }

  void run() {
    WindowTrainer trainer(loop_.model, loop_.data, loop_.config, Rng(1));
    name("", loop_.model.parameters());  // the optimiser has moved them into its own buffer
    if (home_.is_meta()) {
      trainer.set_scalar_reader([this](const at::Tensor& t) { return read_nothing(t); });
    }
    WindowTrainer::Hooks hooks;
    hooks.step_done = [&] { step_done(trainer); };
    trainer.fit(hooks, ProgressMode::kOff);
    NamedParameters best;
    for (const auto& [path, tensor] : trainer.best_weights())
      best.emplace_back("best." + path, tensor);
    append(report_.tensors, list_tensors("loop", best, home_));
  }

  void failed(const std::string& what) { error_ = what; }

  DeviceAudit finish() {
    report_.operations = audit_.operations();
    for (const auto& [device, count] : audit_.operands())
      report_.operands.emplace_back(device, count);
    for (const AuditedTensor& t : report_.tensors) {
      if (t.stray) {
        add_stray(t.name, fmt::format("{} of the {} lies on {}, the model on {}", t.name, t.part,
                                      t.device, report_.device));
      }
    }
    for (const nn::MixedOperand& m : audit_.mixed_operands()) add_mixed(m);
    for (const nn::Crossing& c : audit_.crossings()) add_crossing(c);
    for (const AuditedCrossing* read : {&read_step_, &read_loss_}) {
      if (read->count > 0) report_.crossings.push_back(*read);
    }
    if (!error_.empty()) add_stray("the step", fmt::format("the step ended there: {}", error_));
    return std::move(report_);
  }

 private:
  void name(const std::string& before, const NamedParameters& tensors) {
    for (const auto& [path, tensor] : tensors) audit_.name(tensor, before + path);
  }

  void step_done(const WindowTrainer& trainer) {
    ++report_.steps;
    const NamedParameters gradients = gradients_of(loop_.model.parameters());
    const NamedParameters moments = trainer.optimizer().state();
    name("gradient of ", gradients);
    name("", moments);
    if (report_.steps > 1) return;
    append(report_.tensors, list_tensors("gradient", gradients, home_));
    append(report_.tensors, list_tensors("optimiser", moments, home_));
    append(report_.tensors, batch_);
  }

  /// The meta device has no values to read. Ones are finite and let the step go on.
  std::vector<double> read_nothing(const at::Tensor& tensor) {
    const auto count = static_cast<std::size_t>(tensor.numel());
    AuditedCrossing& read = count == 1 ? read_loss_ : read_step_;
    read.what =
        count == 1 ? "the validation loss to the host" : "loss and gradient norm to the host";
    read.operation = "read";
    read.from = tensor.device().str();
    read.to = "cpu";
    ++read.count;
    read.bytes += static_cast<std::int64_t>(tensor.nbytes());
    if (!tensor.is_meta())
      add_stray("loss or gradient norm", fmt::format("loss or gradient norm lies on {}, the model "
                                                     "on meta",
                                                     tensor.device().str()));
    return std::vector<double>(count, 1.0);
  }

  void add_mixed(const nn::MixedOperand& m) {
    const std::string where = fmt::format("{} argument {}", m.operation, m.argument);
    const bool named = !m.owner.empty() && m.owner.rfind("made by ", 0) != 0;
    std::string text =
        fmt::format("{}: {}{} among operands on {}", where, m.device, m.shape, report_.device);
    if (!m.owner.empty())
      text += named ? fmt::format("; it is {}", m.owner) : fmt::format("; {}", m.owner);
    if (!m.beside.empty()) text += fmt::format("; beside {}", m.beside);
    add_stray(named ? m.owner.substr(0, m.owner.find(" through ")) : where, text);
  }

  void add_crossing(const nn::Crossing& c) {
    report_.crossings.push_back({c.declared, c.operation, c.from, c.to, c.count, c.bytes});
    if (!c.declared.empty()) return;
    std::string text = c.to == "host"
                           ? fmt::format("{} makes the host wait for {}", c.operation, c.from)
                           : fmt::format("{} moves {} bytes from {} to {}", c.operation,
                                         c.bytes / c.count, c.from, c.to);
    text += fmt::format(", {} times", c.count);
    if (!c.owner.empty()) text += fmt::format("; of {}", c.owner);
    if (!c.after.empty()) text += fmt::format("; behind {}", c.after);
    const bool named = !c.owner.empty() && c.owner.rfind("made by ", 0) != 0;
    add_stray(named ? c.owner.substr(0, c.owner.find(" through "))
                    : fmt::format("{} argument 0", c.operation),
              text);
  }

  void add_stray(const std::string& owner, const std::string& text) {
    report_.strays.push_back({owner, text});
  }

  const AuditedLoop& loop_;
  at::Device home_;
  std::vector<AuditedTensor> batch_;  ///< listed before the observer looks
  nn::MetaAudit audit_;
  DeviceAudit report_;
  AuditedCrossing read_step_, read_loss_;
  std::string error_;
};

/// What the modules of a model compute with, by the paths of its parameters.
NamedParameters members_of(nn::Mamba2SSM& model) {
  NamedParameters all;
  for (std::int64_t i = 0; i < model.config().n_layer; ++i) {
    const nn::SSDLayer& layer = model.layer(i);
    const std::string path = fmt::format("backbone.layers.{}.mixer.", i);
    all.emplace_back(path + "dt_bias", layer.dt_bias);
    all.emplace_back(path + "A_log", layer.A_log);
    all.emplace_back(path + "D", layer.D);
    all.emplace_back(path + "in_proj.weight", layer.in_proj->weight);
    all.emplace_back(path + "in_proj.bias", layer.in_proj->bias);
    all.emplace_back(path + "conv1d.weight", layer.conv1d->weight);
    all.emplace_back(path + "conv1d.bias", layer.conv1d->bias);
    if (layer.norm) all.emplace_back(path + "norm.weight", layer.norm->weight);
    all.emplace_back(path + "out_proj.weight", layer.out_proj->weight);
    all.emplace_back(path + "out_proj.bias", layer.out_proj->bias);
  }
  return all;
}

/// What is watched: two steps of whole batches, one sequence to validate on.
ExperimentConfig shortened(ExperimentConfig config, at::Device device, DeviceAudit& notes) {
  TrainConfig& train = config.hyper.train;
  train.epochs = 1;
  train.patience = 0;
  const std::int64_t values = config.windows.length * feature_width(config);
  train.batch_size = std::max<std::int64_t>(
      1, std::min(train.batch_size, kMostValues / std::max<std::int64_t>(values, 1)));
  if (device.is_meta()) {
    notes.note = "own GPU kernels are not on meta: LibTorch's operations stand in for them";
    if (train.precision == Precision::kBf16) {
      train.precision = Precision::kFp32;
      notes.note += "; autocast neither: fp32 instead of bf16";
    }
  }
  return config;
}

at::Device home_of(const std::string& device) {
  if (device == "meta") return at::Device(at::kMeta);
  const nn::DeviceSpec spec = nn::parse_device(device);
  nn::open_device(spec);
  return nn::at_device(spec);
}

}  // namespace

std::vector<AuditedTensor> list_tensors(const std::string& part, const NamedParameters& tensors,
                                        at::Device home) {
  std::vector<AuditedTensor> out;
  for (const auto& [name, t] : tensors) {
    if (!t.defined()) continue;
    out.push_back({.part = part,
                   .name = name,
                   .shape = t.sizes().vec(),
                   .dtype = dtype_name(t.scalar_type()),
                   .device = t.device().str(),
                   .bytes = static_cast<std::int64_t>(t.nbytes()),
                   .stray = t.device() != home && !(t.is_cpu() && t.dim() == 0)});
  }
  return out;
}

DeviceAudit audit_loop(const AuditedLoop& loop) {
  const nn::MetaOperations operations;
  Watch watch(loop);
  if (watch.list_model()) {
    try {
      watch.run();
    } catch (const ConfigError&) {
      throw;
    } catch (const std::exception& error) {
      watch.failed(first_line(error));
    }
  }
  return watch.finish();
}

DeviceAudit audit_mamba2(nn::Mamba2SSM& model, const TrainingData& data,
                         const TrainConfig& config) {
  Mamba2SequenceModel sequence(model, config.a_min, config.a_max);
  const nn::Mamba2State zero = model.zero_state(1);
  NamedParameters state;
  for (std::size_t i = 0; i < zero.layers.size(); ++i) {
    state.emplace_back(fmt::format("state.layers.{}.conv", i), zero.layers[i].conv);
    state.emplace_back(fmt::format("state.layers.{}.ssm", i), zero.layers[i].ssm);
  }
  state.emplace_back("state.position", zero.position);
  return audit_loop({.model = sequence,
                     .data = data,
                     .config = config,
                     .program = "mamba2",
                     .state = state,
                     .members = members_of(model)});
}

std::vector<DeviceAudit> audit_devices(ExperimentConfig config, const DeviceAuditOptions& options) {
  const at::Device home = home_of(options.device);
  config.hyper.validate();
  DeviceAudit notes;
  config = shortened(std::move(config), home, notes);
  if (home.is_cpu()) choose_for_machine(config, {});
  const std::int64_t rows = config.windows.length;
  const SyntheticData made = synthetic_data(config, 2 * config.hyper.train.batch_size, rows);
  const TrainingData data{
      .set = made.set, .split = made.split, .normalizer = made.normalizer, .windows = made.windows};
  const model::HeadConfig head = config.hyper.to_head_config(
      static_cast<std::int64_t>(made.set.schema.columns.size()), config.label.kind);
  nn::Mamba2SSM model(config.hyper.to_model_config(), head, home);
  model.use_kernels(config.hyper.train.kernels);
  std::vector<DeviceAudit> audits;
  audits.push_back(audit_mamba2(model, data, config.hyper.train));
  if (options.baseline) {
    const std::int64_t parameters = model.performance_metrics().parameters;
    const auto gru = make_gru(head, parameters, home, 1);
    audits.push_back(audit_loop(
        {.model = *gru, .data = data, .config = config.hyper.train, .program = "gru baseline"}));
  }
  for (DeviceAudit& audit : audits) audit.note = notes.note;
  return audits;
}

}  // namespace foxhunt::train
