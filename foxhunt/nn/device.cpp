#include "foxhunt/nn/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <limits>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

constexpr const char* kInstallLine = "scripts/setup --cuda installs what is missing";

/// The folder libtorch_cpu was loaded from: libtorch_cuda of the same build lies beside it.
std::filesystem::path torch_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &info) == 0 ||
      info.dli_fname == nullptr)
    return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

/// Loads libtorch_cuda once; the reason why not, or "".
const std::string& load_cuda() {
  static const std::string problem = []() -> std::string {
    const std::filesystem::path beside = torch_folder() / "libtorch_cuda.so";
    const bool there = std::filesystem::exists(beside);
    // RTLD_GLOBAL: its registrations are looked up by name. Never closed.
    if (::dlopen(there ? beside.c_str() : "libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr)
      return "";
    const char* reason = ::dlerror();
    return reason != nullptr ? reason : "libtorch_cuda.so cannot be loaded";
  }();
  return problem;
}

/// Asks the driver, which LibTorch has opened by now. Falls back to the bare number.
std::string gpu_name(int index) {
  std::string number = fmt::format("cuda:{}", index);
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return number;
  const auto get_device = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
  const auto get_name =
      reinterpret_cast<int (*)(char*, int, int)>(::dlsym(driver, "cuDeviceGetName"));
  const auto get_memory =
      reinterpret_cast<int (*)(std::size_t*, int)>(::dlsym(driver, "cuDeviceTotalMem_v2"));
  int device = 0;
  std::array<char, 256> name{};
  std::size_t bytes = 0;
  if (get_device == nullptr || get_name == nullptr || get_memory == nullptr ||
      get_device(&device, index) != 0 ||
      get_name(name.data(), static_cast<int>(name.size()), device) != 0 ||
      get_memory(&bytes, device) != 0) {
    return number;
  }
  return fmt::format("{} {} ({} GiB)", number, name.data(), bytes >> 30U);
}

int cuda_devices() { return static_cast<int>(torch::cuda::device_count()); }

}  // namespace

std::string DeviceSpec::text() const {
  return kind == DeviceKind::kCpu ? "cpu" : fmt::format("cuda:{}", index);
}

DeviceSpec parse_device(std::string_view text) {
  if (text == "cpu") return {};
  if (text == "cuda") return {DeviceKind::kCuda, 0};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.substr(0, kPrefix.size()) == kPrefix) {
    const std::string_view digits = text.substr(kPrefix.size());
    int index = -1;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const bool whole =
        code == std::errc() && end == digits.data() + digits.size() && digits.front() != '-';
    // LibTorch numbers devices in 8 bits.
    if (whole && index <= std::numeric_limits<std::int8_t>::max())
      return {DeviceKind::kCuda, index};
  }
  throw UsageError(fmt::format("[device] '{}' is no device; choose cpu, cuda or cuda:INDEX", text));
}

void open_device(const DeviceSpec& device) {
  if (device.kind == DeviceKind::kCpu) return;
  const CudaReport report = cuda_report();
  if (!report.available)
    throw DeviceError(fmt::format("[device] {}: {}", device.text(), report.reason));
  if (device.index >= cuda_devices()) {
    throw DeviceError(fmt::format("[device] {}: this machine has {} GPU{}, the last is cuda:{}",
                                  device.text(), cuda_devices(), cuda_devices() == 1 ? "" : "s",
                                  cuda_devices() - 1));
  }
}

CudaReport cuda_report() {
  CudaReport report;
  if (const std::string& problem = load_cuda(); !problem.empty()) {
    report.reason =
        fmt::format("LibTorch's CUDA half cannot be loaded ({}); {}", problem, kInstallLine);
    return report;
  }
  try {
    const int count = cuda_devices();
    if (count == 0)
      report.reason =
          "no NVIDIA driver or no GPU is visible on this machine; nvidia-smi should list one";
    for (int i = 0; i < count; ++i) report.gpus.push_back(gpu_name(i));
    report.available = count > 0;
  } catch (const c10::Error& error) {  // e.g. a driver older than the libraries
    report.reason = error.what_without_backtrace();
    report.reason = report.reason.substr(0, report.reason.find('\n'));
  }
  return report;
}

std::string torch_version() { return TORCH_VERSION; }
int torch_threads() { return at::get_num_threads(); }

void set_torch_threads(int count) {
  if (count < 1) throw UsageError(fmt::format("[device] {} threads, but must be 1 or more", count));
  at::set_num_threads(count);
}

}  // namespace foxhunt::nn
