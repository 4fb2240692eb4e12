#include "foxhunt/evaluation/resampling/deflation.h"

#include <numbers>

#include <boost/math/distributions/normal.hpp>

namespace foxhunt::evaluation {

double expected_best(std::int64_t trials) {
  if (trials <= 1) return 0;
  const auto n = static_cast<double>(trials);
  const boost::math::normal standard;
  // complement: 1 - 1/N has no digits left where N is large.
  const double nth = boost::math::quantile(boost::math::complement(standard, 1 / n));
  const double further =
      boost::math::quantile(boost::math::complement(standard, 1 / (n * std::numbers::e)));
  return (1 - std::numbers::egamma) * nth + std::numbers::egamma * further;
}

Deflated deflate(const Value& gain, const Value& standard_error, std::int64_t trials) {
  Deflated result{.gain = gain,
                  .standard_error = standard_error,
                  .chance = standard_error,
                  .deflated = gain,
                  .probability = gain};
  if (!standard_error && gain) {
    result.deflated = result.probability = standard_error;
    return result;
  }
  if (standard_error) result.chance = Value::of(*standard_error * expected_best(trials));
  if (!gain) return result;
  result.deflated = Value::of(*gain - *result.chance);
  result.probability =
      *standard_error > 0
          ? Value::of(boost::math::cdf(boost::math::normal(), *result.deflated / *standard_error))
          : Value::undefined("the resamples do not differ");
  return result;
}

}  // namespace foxhunt::evaluation
