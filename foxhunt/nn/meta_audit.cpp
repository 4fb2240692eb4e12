// Compiled with NDEBUG in every build (see CMakeLists.txt): without it RecordFunction::inputs()
// asserts on a byte that the release library never sets, the exception is only logged, and
// operations are missed.
#include "foxhunt/nn/meta_audit.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

/// LibTorch calls plain functions, from any thread: what they find has to lie here.
struct Findings {
  std::mutex mutex;
  bool taken = false;
  std::set<std::string> mixed;
  std::set<std::string> transfers;
  std::int64_t operations = 0;
};

Findings& findings() {
  static Findings found;
  return found;
}

struct Argument {
  std::size_t index;
  at::Device device;
  std::string shape;
};

std::string shape_of(const at::Tensor& t) {
  return fmt::format("[{}]", fmt::join(t.sizes(), ", "));
}

/// Tensors with dimensions; one without is legal beside any device when it lies on the CPU.
void collect(const c10::IValue& value, std::size_t index, std::vector<Argument>& found) {
  if (value.isTensor()) {
    const at::Tensor& t = value.toTensor();
    if (t.defined() && !(t.is_cpu() && t.dim() == 0))
      found.push_back({index, t.device(), shape_of(t)});
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) collect(item, index, found);
  }
}

/// The device an argument names, whether it is a tensor or a device.
std::optional<at::Device> device_of(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined()) return value.toTensor().device();
  if (value.isDevice()) return value.toDevice();
  return std::nullopt;
}

bool stalls(std::string_view name) {
  constexpr std::string_view kNames[] = {"aten::_local_scalar_dense", "aten::nonzero",
                                         "aten::masked_select",       "aten::_unique2",
                                         "aten::unique_dim",          "aten::equal"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// "aten::copy_ meta[4] -> cpu" where `name` copies between devices, "aten::nonzero cuda:0" where
/// it waits, else "".
std::string transfer_of(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
  if (inputs.empty()) return "";
  const auto arrow = [&](const c10::IValue& from, const c10::IValue& to) -> std::string {
    const auto source = device_of(from);
    const auto target = device_of(to);
    if (!source || !target || *source == *target) return "";
    return fmt::format("{} {}{} -> {}", name, source->str(), shape_of(from.toTensor()),
                       target->str());
  };
  if (name == "aten::copy_" && inputs.size() >= 2) return arrow(inputs[1], inputs[0]);
  if (name == "aten::_to_copy" && inputs.size() >= 4) return arrow(inputs[0], inputs[3]);
  const auto device = device_of(inputs[0]);
  if (stalls(name) && device && !device->is_cpu()) return fmt::format("{} {}", name, device->str());
  return "";
}

bool copies(std::string_view name) { return name == "aten::copy_" || name == "aten::_to_copy"; }

/// The operation with the inputs that lie elsewhere than the first accelerator's or, among CPU
/// tensors, nowhere: "".
std::string mixed_of(std::string_view name, const std::vector<Argument>& arguments) {
  const auto elsewhere = std::find_if(arguments.begin(), arguments.end(),
                                      [](const Argument& a) { return !a.device.is_cpu(); });
  if (elsewhere == arguments.end()) return "";
  std::string strays;
  for (const Argument& a : arguments) {
    if (a.device != elsewhere->device)
      strays += fmt::format(" arg{}={}{}", a.index, a.device.str(), a.shape);
  }
  return strays.empty() ? "" : std::string(name) + strays;
}

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const auto inputs = function.inputs();
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) collect(inputs[i], i, arguments);
  std::string mixed = copies(name) ? "" : mixed_of(name, arguments);
  std::string transfer = transfer_of(name, inputs);
  Findings& found = findings();
  const std::lock_guard lock(found.mutex);
  ++found.operations;
  if (!mixed.empty()) found.mixed.insert(std::move(mixed));
  if (!transfer.empty()) found.transfers.insert(std::move(transfer));
  return nullptr;
}

}  // namespace

MetaAudit::MetaAudit() : handle_(0) {
  Findings& found = findings();
  {
    const std::lock_guard lock(found.mutex);
    if (found.taken)
      throw Error(ExitCode::kFailure, "[meta_audit] another audit is running; only one can");
    found.taken = true;
    found.mixed.clear();
    found.transfers.clear();
    found.operations = 0;
  }
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(&on_enter).needsInputs(true));
}

MetaAudit::~MetaAudit() {
  at::removeCallback(handle_);
  const std::lock_guard lock(findings().mutex);
  findings().taken = false;
}

std::set<std::string> MetaAudit::mixed() const {
  const std::lock_guard lock(findings().mutex);
  return findings().mixed;
}

std::set<std::string> MetaAudit::transfers() const {
  const std::lock_guard lock(findings().mutex);
  return findings().transfers;
}

std::int64_t MetaAudit::operations() const {
  const std::lock_guard lock(findings().mutex);
  return findings().operations;
}

}  // namespace foxhunt::nn
