#include "foxhunt/kernels/cuda/trusted.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"

namespace foxhunt::kernels::cuda {
namespace {

constexpr const char* kInstead = "LibTorch's operations are used instead";

void expect(int failed, const ErrorText& error) {
  if (failed != 0) throw DeviceError(error.text);
}

/// What the process knows of its devices.
struct Memory {
  std::mutex mutex;
  Plugin plugin;
  bool opened = false;
  std::map<int, std::unique_ptr<Trust>> devices;
};
Memory& memory() {
  static Memory all;
  return all;
}

}  // namespace

Trust examine(const Plugin& plugin, int device) {
  Trust trust;
  trust.device = fmt::format("cuda:{}", device);
  const auto refuse = [&](const std::string& why) {
    trust.text =
        fmt::format("[cuda] own kernels are not used on {}: {}; {}", trust.device, why, kInstead);
    return trust;
  };
  if (plugin.table == nullptr) return refuse(plugin.problem);
  ErrorText error{};
  if (device < 0 || device >= plugin.table->device_count()) return refuse("there is no such GPU");
  if (plugin.table->device_name(device, &error) == 0)
    trust.device = fmt::format("cuda:{} {}", device, error.text);
  const SelfTestSink note = [](void* report, const char* operation, double off, double bound) {
    static_cast<SelfTestReport*>(report)->lines.push_back({operation, off, bound});
  };
  if (plugin.table->self_test(device, note, &trust.report, &error) != 0) return refuse(error.text);
  if (trust.report.lines.empty()) return refuse("the self-test tested nothing");
  const SelfTestLine& worst = trust.report.worst();
  if (!trust.report.passed()) {
    return refuse(fmt::format("self-test: {} is off by {:.2g}, allowed is {:.2g}", worst.operation,
                              worst.error, worst.bound));
  }
  trust.usable = true;
  trust.text = fmt::format(
      "[cuda] own kernels passed their self-test on {}: {} answers, closest {} "
      "with {:.2g} of {:.2g}",
      trust.device, trust.report.lines.size(), worst.operation, worst.error, worst.bound);
  return trust;
}

void Kernels::forward(const ForwardArgs<float, float>& args, On where) const {
  ErrorText error{};
  expect(table_->forward_f32(&args, where, &error), error);
}
void Kernels::forward(const ForwardArgs<Bf16, float>& args, On where) const {
  ErrorText error{};
  expect(table_->forward_bf16(&args, where, &error), error);
}
void Kernels::backward(const BackwardArgs<float, float>& args, On where) const {
  ErrorText error{};
  expect(table_->backward_f32(&args, where, &error), error);
}
void Kernels::backward(const BackwardArgs<Bf16, float>& args, On where) const {
  ErrorText error{};
  expect(table_->backward_bf16(&args, where, &error), error);
}
void Kernels::step(const StepArgs<float, float>& args, On where) const {
  ErrorText error{};
  expect(table_->step_f32(&args, where, &error), error);
}
void Kernels::step(const StepArgs<Bf16, float>& args, On where) const {
  ErrorText error{};
  expect(table_->step_bf16(&args, where, &error), error);
}

const Trust& trust_in(int device) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  if (!all.opened) {
    all.plugin = open_plugin(plugin_path());
    all.opened = true;
  }
  std::unique_ptr<Trust>& known = all.devices[device];
  if (known == nullptr) {
    known = std::make_unique<Trust>(examine(all.plugin, device));
    log::write(known->usable ? log::Level::kInfo : log::Level::kWarn, known->text);
  }
  return *known;
}

const Kernels* trusted_kernels(int device) {
  if (!trust_in(device).usable) return nullptr;
  static const Kernels kernels(memory().plugin.table);
  return &kernels;
}

}  // namespace foxhunt::kernels::cuda
