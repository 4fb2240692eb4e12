// The training step as it is trained, and its floor, interleaved round by round.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "foxhunt/base/error.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/bench.h"
#include "foxhunt/train/lanes.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kFeatures = 32;
constexpr std::int64_t kClasses3 = 3;

/// After a pause: OpenMP's threads spin on for a while after LibTorch's last operation, on cores
/// that the next program needs.
double milliseconds(const std::function<void()>& work) {
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

Spread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back()};
}

/// The line `key` of /proc/self/status in bytes; 0 where there is none.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

/// Highest resident memory while `work` runs, over what was resident before; -1 where unknown.
std::int64_t peak_over_base(const std::function<void()>& work) {
  ::malloc_trim(0);
  {
    std::ofstream reset("/proc/self/clear_refs");
    reset << "5";
    reset.flush();
    if (!reset) {
      work();
      return -1;
    }
  }
  const std::int64_t before = status_bytes("VmRSS:");
  work();
  return status_bytes("VmHWM:") - before;
}

/// A model with its optimiser and lanes, fed the same batch over and over.
class Program {
 public:
  Program(const SsdBenchShape& shape, nn::Kernels kernels, Precision precision,
          std::int64_t threads, std::int64_t lanes)
      : precision_(precision), threads_(threads), model_(config_of(shape), head(), at::kCPU) {
    at::set_num_threads(static_cast<int>(threads));
    model_.initialise(1);
    model_.use_kernels(kernels);
    sequence_ = std::make_unique<Mamba2SequenceModel>(model_, 0.1, 1e3);
    optimizer_ = std::make_unique<Optimizer>(sequence_->parameters(), OptimizerConfig{});
    lanes_ = std::make_unique<Lanes>(*sequence_, *optimizer_, lanes, shape.batch, threads);
    Rng rng(7);
    batch_.B = shape.batch;
    batch_.T = shape.tokens;
    batch_.F = kFeatures;
    for (std::int64_t i = 0; i < shape.batch * shape.tokens; ++i) {
      for (std::int64_t f = 0; f < kFeatures; ++f) {
        batch_.features.push_back(static_cast<float>(rng.normal()));
      }
      batch_.classes.push_back(static_cast<std::int64_t>(rng.below(kClasses3)));
      batch_.values.push_back(0.0F);
      batch_.mask.push_back(1.0F);
    }
  }

  void step() {
    // Lanes are the threads of the one program, operations of the other, as in training.
    at::set_num_threads(lanes_->size() == 1 ? static_cast<int>(threads_) : 1);
    optimizer_->zero_grad();
    const double divisor = weight_sum(batch_, {});
    const std::vector<at::Tensor> losses = lanes_->run_slices(
        batch_.B, [&](SequenceModel& model, std::int64_t begin, std::int64_t end) {
          return accumulate(model, upload(batch_, begin, end - begin, {}, model.device()), divisor,
                            precision_);
        });
    const at::Tensor loss = Team().sum_of_lanes(losses, lanes_->total(), lanes_->used(batch_.B));
    const at::Tensor norm = optimizer_->grad_norm();
    loss_ = loss.item<double>();
    optimizer_->clip(norm);
    optimizer_->step(1e-3);
    sequence_->after_step();
  }

  double loss() const { return loss_; }
  std::int64_t lanes() const { return lanes_->size(); }
  std::int64_t parameters() const { return model_.performance_metrics().parameters; }

 private:
  static model::Mamba2Config config_of(const SsdBenchShape& shape) {
    model::Mamba2Config config;
    config.d_model = shape.d_model;
    config.n_layer = shape.layers;
    config.d_state = shape.d_state;
    config.headdim = shape.headdim;
    config.dt_limit_min = 1e-6;
    config.dt_limit_max = 1.0;
    return config;
  }
  static model::HeadConfig head() { return {.n_features = kFeatures, .n_classes = kClasses3}; }

  Precision precision_;
  std::int64_t threads_;
  nn::Mamba2SSM model_;
  std::unique_ptr<Mamba2SequenceModel> sequence_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Lanes> lanes_;
  Batch batch_;
  double loss_ = 0;
};

/// The products of the two projections of every layer, forward and both gradients, by LibTorch's
/// library at its own speed, outputs reused.
class Floor {
 public:
  Floor(const SsdBenchShape& s, Precision precision, std::int64_t threads)
      : layers_(s.layers), threads_(threads) {
    const std::int64_t inner = 2 * s.d_model;
    const std::int64_t width = 2 * inner + 2 * s.d_state + inner / s.headdim;
    const auto options =
        at::TensorOptions(precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat);
    const std::int64_t rows = s.batch * s.tokens;
    for (const auto& [in, out] : {std::pair{s.d_model, width}, std::pair{inner, s.d_model}}) {
      products_.push_back({at::ones({rows, in}, options), at::ones({out, in}, options),
                           at::ones({rows, out}, options), at::empty({rows, out}, options),
                           at::empty({rows, in}, options), at::empty({out, in}, options)});
    }
  }
  void run() {
    at::set_num_threads(static_cast<int>(threads_));
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      for (Product& p : products_) {
        at::mm_out(p.y, p.x, p.weight.t());
        at::mm_out(p.dx, p.dy, p.weight);
        at::mm_out(p.dweight, p.dy.t(), p.x);
      }
    }
  }

 private:
  struct Product {
    at::Tensor x, weight, dy, y, dx, dweight;
  };
  std::int64_t layers_, threads_;
  std::vector<Product> products_;
};

SsdBenchRow run_row(const SsdBenchShape& shape, std::int64_t threads, Precision precision,
                    const SsdBenchOptions& options) {
  const auto make = [&](nn::Kernels kernels) {
    return std::make_unique<Program>(shape, kernels, precision, threads, options.lanes);
  };
  SsdBenchRow row{.shape = shape.name,
                  .threads = threads,
                  .precision = precision == Precision::kBf16 ? "bf16" : "fp32",
                  .kernels = kernels::default_kernels<float>().name};
  auto native = make(nn::Kernels::kNative);
  row.native_peak_bytes = peak_over_base([&] { native->step(); });
  std::vector<double> times[3];
  if (options.native_only) {
    for (std::int64_t i = 0; i < options.repeats; ++i) {
      times[0].push_back(milliseconds([&] { native->step(); }));
    }
    row.native = spread_of(times[0]);
    return row;
  }
  auto aten = make(nn::Kernels::kAten);
  row.aten_peak_bytes = peak_over_base([&] { aten->step(); });
  Floor floor(shape, precision, threads);
  floor.run();
  for (std::int64_t i = 0; i < options.repeats; ++i) {
    times[0].push_back(milliseconds([&] { native->step(); }));
    times[1].push_back(milliseconds([&] { aten->step(); }));
    times[2].push_back(milliseconds([&] { floor.run(); }));
  }
  row.native = spread_of(times[0]);
  row.aten = spread_of(times[1]);
  row.floor = spread_of(times[2]);
  row.tokens_per_s = static_cast<double>(shape.batch * shape.tokens) / row.native.median * 1e3;
  row.parameters = native->parameters();
  row.lanes = native->lanes();
  row.native_loss = native->loss();
  row.aten_loss = aten->loss();
  return row;
}

}  // namespace

const std::vector<SsdBenchShape>& ssd_bench_shapes() {
  static const std::vector<SsdBenchShape> kShapes{
      {"hft", 32, 128, 64, 4, 16, 32},
      {"middle", 8, 512, 256, 6, 64, 64},
      {"layer", 2, 256, 256, 1, 64, 64},
  };
  return kShapes;
}

std::vector<SsdBenchRow> bench_ssd(const SsdBenchOptions& options,
                                   const std::function<void(const SsdBenchRow&)>& done) {
  std::vector<const SsdBenchShape*> shapes;
  std::vector<std::string> names;
  for (const SsdBenchShape& shape : ssd_bench_shapes()) {
    names.push_back(shape.name);
    if (options.shapes.empty() || std::find(options.shapes.begin(), options.shapes.end(),
                                            shape.name) != options.shapes.end()) {
      shapes.push_back(&shape);
    }
  }
  for (const std::string& name : options.shapes) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError(
          fmt::format("[bench] unknown shape '{}'; choose from {}", name, fmt::join(names, ", ")));
    }
  }
  keep_freed_memory();
  std::vector<SsdBenchRow> rows;
  for (const SsdBenchShape* shape : shapes) {
    for (const std::string& precision : options.precisions) {
      if (precision != "fp32" && precision != "bf16") {
        throw UsageError(
            fmt::format("[bench] unknown precision '{}'; choose from fp32, bf16", precision));
      }
      for (const std::int64_t threads : options.threads) {
        rows.push_back(run_row(*shape, threads,
                               precision == "bf16" ? Precision::kBf16 : Precision::kFp32, options));
        done(rows.back());
      }
    }
  }
  return rows;
}

}  // namespace foxhunt::train
