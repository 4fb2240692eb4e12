#include "foxhunt/features/normalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::features {
namespace {

/// Interquartile range of a standard normal distribution.
constexpr double kNormalIqr = 1.3489795003921634;

double quantile(const std::vector<float>& sorted, double p) {
  const double at = static_cast<double>(sorted.size() - 1) * p;
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return (1.0 - part) * sorted[below] + part * sorted[above];
}

/// Root mean squared distance from `center`.
double deviation(const std::vector<float>& values, double center) {
  double sum = 0;
  for (const float value : values) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

ColumnScale fit_column(const std::string& name, std::vector<float> values) {
  std::sort(values.begin(), values.end());
  ColumnScale column{.name = name, .center = static_cast<float>(quantile(values, 0.5))};
  const auto take = [&column](double scale, ScaleRule rule) {
    // As float, since a scale may be too small for one.
    if (!(static_cast<float>(scale) > 0.0F)) return false;
    column.scale = static_cast<float>(scale);
    column.rule = rule;
    return true;
  };
  const double iqr = quantile(values, 0.75) - quantile(values, 0.25);
  if (!take(iqr / kNormalIqr, ScaleRule::kIqr)) {
    take(deviation(values, column.center), ScaleRule::kDeviation);
  }
  return column;
}

}  // namespace

std::int64_t Normalizer::apply(std::span<const float> raw, std::span<float> out) const {
  const std::size_t width = columns_.size();
  if (raw.size() != out.size() || (width == 0 ? !raw.empty() : raw.size() % width != 0)) {
    throw ShapeError(fmt::format("[normalizer] {} values in, {} out, but rows have {} columns",
                                 raw.size(), out.size(), width));
  }
  const auto limit = static_cast<float>(clip_);
  std::int64_t not_finite = 0;
  for (std::size_t row = 0; row < raw.size(); row += width) {
    for (std::size_t c = 0; c < width; ++c) {
      const float value = raw[row + c];
      if (!std::isfinite(value)) ++not_finite;
      const float z = (value - columns_[c].center) / columns_[c].scale;
      out[row + c] = std::isnan(z) ? 0.0F : std::clamp(z, -limit, limit);
    }
  }
  return not_finite;
}

void Normalizer::require_schema(const Schema& schema) const {
  const std::size_t n = std::min(schema.columns.size(), columns_.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (schema.columns[i].name == columns_[i].name) continue;
    throw ConfigError(fmt::format("[normalizer] column {} is '{}', but it was fitted on '{}'", i,
                                  schema.columns[i].name, columns_[i].name));
  }
  if (schema.columns.size() != columns_.size()) {
    throw ConfigError(fmt::format("[normalizer] rows have {} columns, but it was fitted on {}",
                                  schema.columns.size(), columns_.size()));
  }
  if (schema.hash() != schema_hash_) {
    throw ConfigError(
        fmt::format("[normalizer] the columns have the names that it was fitted on, but other "
                    "units, warm-ups or libraries: schema {} instead of {}",
                    schema.hash(), schema_hash_));
  }
}

NormalizerFit::NormalizerFit(const Schema& schema, FitRange allowed)
    : schema_(schema), allowed_(allowed), values_(schema.columns.size()) {}

void NormalizerFit::add(UnixNanos available_at, std::span<const float> row) {
  if (available_at < allowed_.first || available_at > allowed_.last) {
    throw ConfigError(
        fmt::format("[normalizer] a row of {} is not of the training interval {} to {}: "
                    "it may not be fitted on",
                    to_string(available_at), to_string(allowed_.first), to_string(allowed_.last)));
  }
  if (row.size() != values_.size()) {
    throw ShapeError(fmt::format("[normalizer] the row has {} values, but there are {} columns",
                                 row.size(), values_.size()));
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (std::isfinite(row[i])) continue;
    throw DataError(fmt::format("[normalizer] column '{}' is {} at {}, but it must be finite",
                                schema_.columns[i].name, row[i], to_string(available_at)));
  }
  for (std::size_t i = 0; i < row.size(); ++i) values_[i].push_back(row[i]);
  if (is_null(seen_.first) || available_at < seen_.first) seen_.first = available_at;
  if (is_null(seen_.last) || available_at > seen_.last) seen_.last = available_at;
}

Normalizer NormalizerFit::finish(double clip) const {
  if (!(clip > 0.0)) {
    throw ConfigError(fmt::format("[normalizer] clip = {}, but it must be positive", clip));
  }
  if (is_null(seen_.first)) throw DataError("[normalizer] there is no row to fit on");
  Normalizer fitted;
  fitted.clip_ = clip;
  fitted.range_ = seen_;
  fitted.schema_hash_ = schema_.hash();
  for (std::size_t i = 0; i < values_.size(); ++i) {
    fitted.rows_ = static_cast<std::int64_t>(values_[i].size());
    fitted.columns_.push_back(fit_column(schema_.columns[i].name, values_[i]));
  }
  return fitted;
}

}  // namespace foxhunt::features
