#pragma once
// What a Mamba-2 model is, as numbers. Definition and letters: docs/mamba2.md of the design notes,
// mamba_ssm's names.
//
//   D d_model · E expand · P headdim · N d_state · G ngroups · W d_conv · L n_layer
//   d_inner = E D · H heads = d_inner / P · conv channels = d_inner + 2 G N

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace foxhunt::model {

/// Where the gate meets the norm behind the state space.
enum class GateNorm {
  kGateFirst,  ///< rms(y * silu(z)) * w            (mamba_ssm's default)
  kNormFirst,  ///< rms(y) * w * silu(z)            (norm_before_gate)
  kNone,       ///< y * silu(z), no weight          (rmsnorm=False)
};

struct Mamba2Config {
  std::int64_t d_model = 64;
  std::int64_t n_layer = 4;
  std::int64_t d_state = 16;
  std::int64_t headdim = 32;
  std::int64_t expand = 2;
  std::int64_t ngroups = 1;
  std::int64_t d_conv = 4;
  std::int64_t chunk_size = 0;  ///< no result depends on it beyond rounding; 0: see chunk()
  double dt_limit_min =
      0.0;  ///< limits of the step size, after softplus, in every path and in the gradient
  double dt_limit_max = std::numeric_limits<double>::infinity();
  double dt_init_min = 0.001;
  double dt_init_max = 0.1;
  double dt_init_floor = 1e-4;
  double a_init_min = 1.0;
  double a_init_max = 16.0;
  double norm_eps = 1e-5;
  GateNorm gate_norm = GateNorm::kGateFirst;
  bool conv_bias = true;
  bool proj_bias = false;
  bool has_d = true;

  std::int64_t d_inner() const { return expand * d_model; }
  std::int64_t n_heads() const { return d_inner() / headdim; }
  std::int64_t conv_channels() const { return d_inner() + 2 * ngroups * d_state; }
  /// Where nobody has chosen: 32, which was fastest on CPUs at P 32, N 16.
  std::int64_t chunk() const { return chunk_size > 0 ? chunk_size : 32; }
  std::int64_t in_proj_width() const { return 2 * d_inner() + 2 * ngroups * d_state + n_heads(); }

  /// Small enough to answer in microseconds on one core: D 64, L 4, N 16, P 32.
  static Mamba2Config default_hft();
  /// D 256, L 6, N 64, P 64: trains within 4 GB.
  static Mamba2Config standard();

  /// Everything that is wrong, one a line: ranges and sizes that do not divide. Empty: all well.
  std::vector<std::string> errors() const;
  /// Errors  ConfigError with all of errors().
  void validate() const;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("d_model", c.d_model, 1, 8192, "channels of the residual stream (D)");
    key("n_layer", c.n_layer, 1, 256, "layers (L)");
    key("d_state", c.d_state, 1, 1024, "state size of a head (N)");
    key("headdim", c.headdim, 1, 1024, "channels of a head (P); divides expand * d_model");
    key("expand", c.expand, 1, 16, "inner width over d_model (E)");
    key("ngroups", c.ngroups, 1, 1024,
        "groups of heads that share B and C (G); divides the number of heads");
    key("d_conv", c.d_conv, 1, 64, "width of the causal convolution (W)");
    key("chunk_size", c.chunk_size, 0, 4096,
        "chunk of the windowed form (Q); 0: chosen for the machine when a run begins");
    key("dt_limit_min", c.dt_limit_min, 0.0, std::numeric_limits<double>::infinity(),
        "lower limit of the step size");
    key("dt_limit_max", c.dt_limit_max, 0.0, std::numeric_limits<double>::infinity(),
        "upper limit of the step size");
    key("dt_init_min", c.dt_init_min, 1e-8, 100.0, "smallest initial step size");
    key("dt_init_max", c.dt_init_max, 1e-8, 100.0, "largest initial step size");
    key("dt_init_floor", c.dt_init_floor, 0.0, 100.0, "floor of the initial step size");
    key("a_init_min", c.a_init_min, 1e-8, 1e6, "smallest initial decay rate |A|");
    key("a_init_max", c.a_init_max, 1e-8, 1e6, "largest initial decay rate |A|");
    key("norm_eps", c.norm_eps, 1e-12, 1.0, "epsilon of every RMS norm");
    key.choice("gate_norm", c.gate_norm,
               {{"gate_first", GateNorm::kGateFirst},
                {"norm_first", GateNorm::kNormFirst},
                {"none", GateNorm::kNone}},
               "order of gate and norm behind the state space");
    key("conv_bias", c.conv_bias, "bias of the convolution");
    key("proj_bias", c.proj_bias, "bias of in_proj and out_proj");
    key("has_d", c.has_d, "skip weight D of a head");
  }
  friend bool operator==(const Mamba2Config&, const Mamba2Config&) = default;
};

}  // namespace foxhunt::model
