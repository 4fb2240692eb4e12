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
#include <unordered_map>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/nn/declared_transfer.h"

namespace foxhunt::nn {
namespace {

constexpr const char* kThrough = " through ";

using StorageRef = c10::weak_intrusive_ptr<c10::StorageImpl>;

/// A piece of a storage that has a name. The reference keeps the address from being used again, but
/// no memory alive.
struct Named {
  StorageRef storage;
  std::int64_t offset, count;
  std::string owner;
  bool followed;  ///< named by what made it, not by a person
};

/// LibTorch calls plain functions, from any thread: what they find has to lie here.
struct Findings {
  std::mutex mutex;
  bool taken = false;
  bool follow_host = false;
  std::set<std::string> mixed;
  std::set<std::string> transfers;
  std::map<std::string, MixedOperand> operands;
  std::map<std::string, Crossing> crossings;
  std::map<std::string, std::int64_t> devices;
  std::unordered_map<const c10::StorageImpl*, std::vector<Named>> names;
  std::int64_t operations = 0;
};

Findings& findings() {
  static Findings found;
  return found;
}

/// What this thread did before, and whether it is inside of a copy that was counted.
thread_local std::string last_operation;
thread_local int copies_open = 0;

const c10::StorageImpl* storage_of(const at::Tensor& t) {
  return t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr;
}

const Named* find_name(const Findings& found, const at::Tensor& t) {
  const auto at = found.names.find(storage_of(t));
  if (at == found.names.end()) return nullptr;
  const std::int64_t offset = t.storage_offset();
  for (const Named& piece : at->second) {
    if (piece.offset <= offset && offset < piece.offset + std::max<std::int64_t>(piece.count, 1))
      return &piece;
  }
  return nullptr;
}

std::string owner_of(const Findings& found, const at::Tensor& t) {
  const Named* piece = find_name(found, t);
  return piece != nullptr ? piece->owner : std::string();
}

void set_name(Findings& found, const at::Tensor& t, const std::string& owner, bool followed) {
  if (storage_of(t) == nullptr) return;
  std::vector<Named>& pieces = found.names[storage_of(t)];
  // The outermost operation that made a storage is what a person knows.
  if (followed) std::erase_if(pieces, [](const Named& piece) { return piece.followed; });
  for (Named& piece : pieces) {
    if (piece.offset == t.storage_offset() && piece.count == t.numel()) {
      piece.owner = owner;
      piece.followed = followed;
      return;
    }
  }
  pieces.push_back(
      {t.storage().getWeakStorageImpl(), t.storage_offset(), t.numel(), owner, followed});
}

struct Argument {
  std::size_t index;
  at::Tensor tensor;
  at::Device device() const { return tensor.device(); }
};

std::string shape_of(const at::Tensor& t) {
  return fmt::format("[{}]", fmt::join(t.sizes(), ", "));
}

/// Tensors with dimensions; one without is legal beside any device when it lies on the CPU.
void collect(const c10::IValue& value, std::size_t index, std::vector<Argument>& found) {
  if (value.isTensor()) {
    const at::Tensor& t = value.toTensor();
    if (t.defined() && !(t.is_cpu() && t.dim() == 0)) found.push_back({index, t});
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

/// What crosses in an operation, or waits; nothing: no source.
struct Transfer {
  at::Tensor source;
  std::string from, to, text;
};

Transfer transfer_of(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
  if (inputs.empty()) return {};
  const auto arrow = [&](const c10::IValue& from, const c10::IValue& to) -> Transfer {
    const auto source = device_of(from);
    const auto target = device_of(to);
    if (!source || !target || *source == *target) return {};
    const at::Tensor& t = from.toTensor();
    return {t, source->str(), target->str(),
            fmt::format("{} {}{} -> {}", name, source->str(), shape_of(t), target->str())};
  };
  if (name == "aten::copy_" && inputs.size() >= 2) return arrow(inputs[1], inputs[0]);
  if (name == "aten::_to_copy" && inputs.size() >= 4) return arrow(inputs[0], inputs[3]);
  const auto device = device_of(inputs[0]);
  if (stalls(name) && device && !device->is_cpu() && inputs[0].isTensor()) {
    return {inputs[0].toTensor(), device->str(), "host", fmt::format("{} {}", name, device->str())};
  }
  return {};
}

bool copies(std::string_view name) { return name == "aten::copy_" || name == "aten::_to_copy"; }

/// The inputs that lie elsewhere than the first accelerator's; among CPU tensors alone none does.
std::vector<const Argument*> strays_of(const std::vector<Argument>& arguments) {
  std::vector<const Argument*> strays;
  const auto right = std::find_if(arguments.begin(), arguments.end(),
                                  [](const Argument& a) { return !a.device().is_cpu(); });
  if (right == arguments.end()) return strays;
  for (const Argument& a : arguments) {
    if (a.device() != right->device()) strays.push_back(&a);
  }
  return strays;
}

void note_mixed(Findings& found, std::string_view name, const std::vector<Argument>& arguments) {
  const std::vector<const Argument*> strays = strays_of(arguments);
  if (strays.empty()) return;
  std::string beside;
  for (const Argument& a : arguments) {
    const bool right = std::find(strays.begin(), strays.end(), &a) == strays.end();
    if (right && beside.empty()) beside = owner_of(found, a.tensor);
  }
  std::string text;
  for (const Argument* a : strays) {
    const MixedOperand operand{.operation = std::string(name),
                               .argument = static_cast<std::int64_t>(a->index),
                               .device = a->device().str(),
                               .shape = shape_of(a->tensor),
                               .owner = owner_of(found, a->tensor),
                               .beside = beside};
    const std::string one =
        fmt::format(" arg{}={}{}", operand.argument, operand.device, operand.shape);
    text += one;
    found.operands.emplace(fmt::format("{}{} {} {}", name, one, operand.owner, operand.beside),
                           operand);
  }
  found.mixed.insert(std::string(name) + text);
}

/// Whether an operation on this thread is a copy whose inner copies are not to be counted.
bool note_transfer(Findings& found, std::string_view name, const Transfer& transfer) {
  if (!transfer.source.defined()) return false;
  found.transfers.insert(transfer.text);
  if (copies_open > 0) return false;
  const char* declared = DeclaredTransfer::current();
  Crossing one{.operation = std::string(name),
               .from = transfer.from,
               .to = transfer.to,
               .owner = owner_of(found, transfer.source),
               .declared = declared != nullptr ? declared : "",
               .after = last_operation};
  Crossing& all =
      found.crossings[fmt::format("{} {} {} {} {} {}", name, one.from, one.to, one.owner,
                                  one.declared, one.declared.empty() ? one.after : "")];
  if (all.count == 0) all = std::move(one);
  ++all.count;
  all.bytes += static_cast<std::int64_t>(transfer.source.nbytes());
  return copies(name);
}

/// Between the start and the end of one operation.
struct Open final : at::ObserverContext {
  bool copy = false;
  std::string root;  ///< named tensor on the CPU among the inputs
  std::vector<const c10::StorageImpl*> storages;
};

std::unique_ptr<at::ObserverContext> on_enter(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const auto inputs = function.inputs();
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) collect(inputs[i], i, arguments);
  const Transfer transfer = transfer_of(name, inputs);
  auto open = std::make_unique<Open>();
  Findings& found = findings();
  {
    const std::lock_guard lock(found.mutex);
    ++found.operations;
    for (const Argument& a : arguments) ++found.devices[a.device().str()];
    if (!copies(name)) note_mixed(found, name, arguments);
    open->copy = note_transfer(found, name, transfer);
    if (found.follow_host) {
      for (const Argument& a : arguments) {
        open->storages.push_back(storage_of(a.tensor));
        if (!a.tensor.is_cpu() || !open->root.empty()) continue;
        const Named* piece = find_name(found, a.tensor);
        if (piece != nullptr && !piece->followed) open->root = piece->owner;
        if (piece != nullptr && piece->followed && piece->owner.find(kThrough) != std::string::npos)
          open->root = piece->owner.substr(0, piece->owner.find(kThrough));
      }
    }
  }
  if (open->copy) ++copies_open;
  last_operation = name;
  return open;
}

/// Gives what an operation made on the CPU a name.
void on_exit(const at::RecordFunction& function, at::ObserverContext* context) {
  auto* open = static_cast<Open*>(context);
  if (open == nullptr) return;
  if (open->copy) --copies_open;
  Findings& found = findings();
  const std::lock_guard lock(found.mutex);
  if (!found.follow_host) return;
  std::vector<Argument> results;
  for (const c10::IValue& value : function.outputs()) collect(value, 0, results);
  for (const Argument& r : results) {
    const auto* storage = storage_of(r.tensor);
    const bool alias =
        std::find(open->storages.begin(), open->storages.end(), storage) != open->storages.end();
    const Named* piece = find_name(found, r.tensor);
    if (!r.tensor.is_cpu() || alias || (piece != nullptr && !piece->followed)) continue;
    set_name(found, r.tensor,
             open->root.empty() ? fmt::format("made by {}", function.name())
                                : fmt::format("{}{}{}", open->root, kThrough, function.name()),
             /*followed=*/true);
  }
}

}  // namespace

MetaAudit::MetaAudit(bool follow_host) : handle_(0) {
  Findings& found = findings();
  {
    const std::lock_guard lock(found.mutex);
    if (found.taken)
      throw Error(ExitCode::kFailure, "[meta_audit] another audit is running; only one can");
    found.taken = true;
    found.mixed.clear();
    found.transfers.clear();
    found.operands.clear();
    found.crossings.clear();
    found.devices.clear();
    found.names.clear();
    found.follow_host = follow_host;
    found.operations = 0;
  }
  handle_ = at::addGlobalCallback(
      at::RecordFunctionCallback(&on_enter, &on_exit).needsInputs(true).needsOutputs(follow_host));
}

MetaAudit::~MetaAudit() {
  at::removeCallback(handle_);
  const std::lock_guard lock(findings().mutex);
  findings().taken = false;
  findings().names.clear();
}

void MetaAudit::name(const at::Tensor& tensor, const std::string& owner) {
  const std::lock_guard lock(findings().mutex);
  if (tensor.defined()) set_name(findings(), tensor, owner, /*followed=*/false);
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

std::vector<MixedOperand> MetaAudit::mixed_operands() const {
  const std::lock_guard lock(findings().mutex);
  std::vector<MixedOperand> all;
  for (const auto& [text, operand] : findings().operands) all.push_back(operand);
  return all;
}

std::vector<Crossing> MetaAudit::crossings() const {
  const std::lock_guard lock(findings().mutex);
  std::vector<Crossing> all;
  for (const auto& [text, crossing] : findings().crossings) all.push_back(crossing);
  return all;
}

std::map<std::string, std::int64_t> MetaAudit::operands() const {
  const std::lock_guard lock(findings().mutex);
  return findings().devices;
}

}  // namespace foxhunt::nn
