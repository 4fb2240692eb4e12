#include "foxhunt/model/mamba2_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::model {
namespace {

void add_size_errors(const Mamba2Config& c, std::vector<std::string>& errors) {
  const std::int64_t inner = c.d_inner();
  if (inner % c.headdim != 0) {
    errors.push_back(fmt::format("headdim = {} does not divide expand * d_model = {} * {} = {}",
                                 c.headdim, c.expand, c.d_model, inner));
    return;  // without whole heads there are no groups of heads
  }
  if (c.n_heads() % c.ngroups != 0) {
    errors.push_back(
        fmt::format("ngroups = {} does not divide the {} heads (expand * d_model / headdim)",
                    c.ngroups, c.n_heads()));
  }
}

void add_order_error(std::vector<std::string>& errors, const char* low_name, double low,
                     const char* high_name, double high) {
  if (low > high)
    errors.push_back(fmt::format("{} = {} is above {} = {}", low_name, low, high_name, high));
}

}  // namespace

Mamba2Config Mamba2Config::default_hft() { return {}; }

Mamba2Config Mamba2Config::standard() {
  Mamba2Config config;
  config.d_model = 256;
  config.n_layer = 6;
  config.d_state = 64;
  config.headdim = 64;
  return config;
}

std::vector<std::string> Mamba2Config::errors() const {
  Mamba2Config copy = *this;
  std::vector<std::string> errors = config::range_errors(config::fields_of(copy));
  const auto in_range = [](std::int64_t value, std::int64_t max) {
    return value >= 1 && value <= max;
  };
  if (in_range(d_model, 8192) && in_range(expand, 16) && in_range(headdim, 1024) &&
      in_range(ngroups, 1024)) {
    add_size_errors(*this, errors);
  }
  if (std::isinf(dt_limit_min))
    errors.emplace_back("dt_limit_min = inf, but the lower limit must be finite");
  if (dt_limit_max == 0.0)
    errors.emplace_back("dt_limit_max = 0, but then no step ever moves the state");
  add_order_error(errors, "dt_limit_min", dt_limit_min, "dt_limit_max", dt_limit_max);
  add_order_error(errors, "dt_init_min", dt_init_min, "dt_init_max", dt_init_max);
  add_order_error(errors, "dt_init_floor", dt_init_floor, "dt_init_max", dt_init_max);
  add_order_error(errors, "a_init_min", a_init_min, "a_init_max", a_init_max);
  return errors;
}

void Mamba2Config::validate() const {
  const std::vector<std::string> all = errors();
  if (!all.empty()) throw ConfigError(fmt::format("[mamba2] {}", fmt::join(all, "\n[mamba2] ")));
}

}  // namespace foxhunt::model
