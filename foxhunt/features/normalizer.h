#pragma once
// Robust z-scores: (value - median) / scale, cut off at +-clip. Fitted once, on training rows, and
// then a constant.
//
// A normaliser carries the interval of the rows it saw and the hash of their schema. It travels
// with the model, so that whoever serves it scales as training did, and whoever doubts it can see
// that no later row had a part in it.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/features/schema.h"

namespace foxhunt::features {

/// How the scale of a column was found.
enum class ScaleRule : std::uint8_t {
  kIqr,        ///< interquartile range / 1.349: the standard deviation, were the column normal
  kDeviation,  ///< quartiles are equal: root mean squared distance from the median
  kConstant,   ///< all values are equal: 1, so that the column becomes 0
};

struct ColumnScale {
  std::string name;
  float center = 0;  ///< median
  float scale = 1;   ///< > 0
  ScaleRule rule = ScaleRule::kConstant;
};

/// Times [first, last], both inclusive, at which rows became known (the end of their bar).
struct FitRange {
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;
};

class Normalizer {
 public:
  std::int64_t width() const { return static_cast<std::int64_t>(columns_.size()); }
  const std::vector<ColumnScale>& columns() const { return columns_; }
  double clip() const { return clip_; }
  const FitRange& fitted_on() const { return range_; }  ///< of the rows that it saw
  std::int64_t fitted_rows() const { return rows_; }
  const std::string& schema_hash() const { return schema_hash_; }

  /// Normalises any number of rows: `raw` and `out` are [rows, F] and may be the same memory.
  /// An infinite value becomes +-clip and a NaN 0, which is the median: an unknown value says
  /// nothing. The answer counts both; rows of the pipeline have none. Errors  ShapeError when the
  /// sizes differ or are no multiple of F.
  std::int64_t apply(std::span<const float> raw, std::span<float> out) const;

  /// Errors  ConfigError naming the first column that differs, unless rows of `schema` are what
  /// this was fitted on.
  void require_schema(const Schema& schema) const;

  /// Reads back to the same values, bit for bit.
  std::string to_json() const;
  /// Errors  FormatError naming the field and the rule.
  static Normalizer from_json(const std::string& text);

 private:
  friend class NormalizerFit;
  Normalizer() = default;

  std::vector<ColumnScale> columns_;
  double clip_ = 0;
  FitRange range_;
  std::int64_t rows_ = 0;
  std::string schema_hash_;
};

/// Collects training rows, then fits. Memory 4 F bytes a row.
class NormalizerFit {
 public:
  /// `allowed`: the training interval; a row from outside of it is refused.
  NormalizerFit(const Schema& schema, FitRange allowed);

  /// Errors  ConfigError when the row is not from the training interval, ShapeError when it is not
  /// [F], DataError when
  ///         a value is not finite (the column is named).
  void add(UnixNanos available_at, std::span<const float> row);

  /// `clip` > 0. Quartiles are interpolated between order statistics, h = (n - 1) p (Hyndman and
  /// Fan's type 7). Errors  DataError without rows, ConfigError for a clip that is not positive.
  Normalizer finish(double clip) const;

 private:
  Schema schema_;
  FitRange allowed_;
  FitRange seen_;
  std::vector<std::vector<float>> values_;  ///< [F][rows]
};

}  // namespace foxhunt::features
