// The matrix products of the projections by every kernel table and by LibTorch's library.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>

#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/train/bench.h"

namespace foxhunt::train {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

GemmBenchRow run_row(const GemmBenchShape& s, std::int64_t repeats) {
  const at::Tensor a = s.turned ? at::ones({s.depth, s.m}) : at::ones({s.m, s.depth});
  const at::Tensor b = at::ones({s.depth, s.n});
  const at::Tensor c = at::empty({s.m, s.n});
  const at::Tensor left = s.turned ? a.t() : a;
  std::vector<std::pair<std::string, std::function<void()>>> programs;
  for (const kernels::KernelTable* table : kernels::built_kernels()) {
    if (!table->runs_here()) continue;
    programs.emplace_back(table->name, [&, table] {
      table->gemm({s.m, s.n, s.depth, a.const_data_ptr<float>(), s.turned ? 1 : s.depth,
                   s.turned ? s.m : 1, b.const_data_ptr<float>(), s.n, c.mutable_data_ptr<float>(),
                   s.n, false});
    });
  }
  const kernels::Bf16Kernels& bf16 = kernels::default_bf16_kernels();
  const std::int64_t pairs = kernels::bf16_pairs(s.depth);
  std::vector<std::uint32_t> a16(static_cast<std::size_t>(s.m * pairs));
  std::vector<std::uint32_t> b16(static_cast<std::size_t>(kernels::bf16_panels_size(s.depth, s.n)));
  const auto pack = [&] {
    (s.turned ? bf16.pack_turned
              : bf16.pack_rows)({s.turned ? s.depth : s.m, s.turned ? s.m : s.depth,
                                 a.const_data_ptr<float>(), s.turned ? s.m : s.depth, a16.data()});
    bf16.pack_panels({s.depth, s.n, b.const_data_ptr<float>(), s.n, b16.data()});
  };
  const auto product = [&] {
    bf16.gemm({s.m, s.n, pairs, a16.data(), s.turned ? 1 : pairs, s.turned ? s.m : 1, b16.data(),
               c.mutable_data_ptr<float>(), s.n, false});
  };
  programs.emplace_back("bf16", product);
  programs.emplace_back("with packing", [&] { pack(), product(); });
  programs.emplace_back("library", [&] { at::mm_out(const_cast<at::Tensor&>(c), left, b); });
  std::vector<std::vector<double>> times(programs.size());
  for (std::int64_t i = 0; i < repeats; ++i) {
    for (std::size_t p = 0; p < programs.size(); ++p) {
      times[p].push_back(seconds(programs[p].second));
    }
  }
  GemmBenchRow row{.shape = s};
  for (std::size_t p = 0; p < programs.size(); ++p) {
    std::sort(times[p].begin(), times[p].end());
    const double flop = 2.0 * static_cast<double>(s.m * s.n * s.depth);
    row.gflops.emplace_back(programs[p].first, flop / times[p][times[p].size() / 2] / 1e9);
  }
  return row;
}

}  // namespace

std::vector<GemmBenchRow> bench_gemm(std::int64_t repeats) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  std::vector<GemmBenchRow> rows;
  for (const GemmBenchShape& shape : std::vector<GemmBenchShape>{
           {"hft in_proj forward", 128, 292, 64, false},
           {"hft in_proj dx", 128, 64, 292, false},
           {"hft in_proj dweight", 292, 64, 128, true},
           {"hft out_proj forward", 128, 64, 128, false},
           {"hft out_proj dx", 128, 128, 64, false},
           {"hft out_proj dweight", 64, 128, 128, true},
           {"middle in_proj forward", 512, 1160, 256, false},
           {"middle in_proj dx", 512, 256, 1160, false},
           {"middle in_proj dweight", 1160, 256, 512, true},
           {"middle out_proj forward", 512, 256, 512, false},
           {"hft chunk C B^T", 32, 32, 16, false},
           {"hft chunk M U", 32, 32, 32, false},
           {"hft chunk B^T W", 16, 128, 32, true},
           {"middle chunk M U", 32, 64, 32, false},
           {"middle chunk B^T W", 64, 512, 32, true},
       }) {
    rows.push_back(run_row(shape, repeats));
  }
  at::set_num_threads(before);
  return rows;
}

}  // namespace foxhunt::train
