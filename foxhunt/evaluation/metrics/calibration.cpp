#include "foxhunt/evaluation/metrics/calibration.h"

#include <cmath>
#include <utility>

#include "foxhunt/evaluation/metrics/ranks.h"

namespace foxhunt::evaluation {

CalibrationBins::CalibrationBins(std::span<const double> probability, std::size_t n_bins)
    : bin_of_row_(probability.size()) {
  const Ordering ascending(probability);
  const std::size_t n = probability.size();
  std::size_t begin = 0;  // of the group of equals
  std::size_t share = 0;  // of the current bin: 0 .. n_bins - 1
  for (const std::size_t end : ascending.group_ends()) {
    const std::size_t middle = begin + (end - begin) / 2;
    const std::size_t group_share = middle * n_bins / n;  // a group goes where its middle lies
    if (size_ == 0 || group_share != share) ++size_;
    share = group_share;
    for (std::size_t i = begin; i < end; ++i) {
      bin_of_row_[ascending.order()[i]] = static_cast<std::uint32_t>(size_ - 1);
    }
    begin = end;
  }
}

ClassCalibration calibrate(const CalibrationBins& bins, std::span<const double> probability,
                           std::span<const std::uint8_t> occurred, Weights w) {
  std::vector<double> rows(bins.size(), 0.0);
  std::vector<double> predicted(bins.size(), 0.0);
  std::vector<double> observed(bins.size(), 0.0);
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const std::size_t b = bins.bin_of_row()[i];
    const double wi = weight(w, i);
    rows[b] += wi;
    predicted[b] += wi * probability[i];
    if (occurred[i] != 0) observed[b] += wi;
  }
  ClassCalibration result;
  double error = 0;
  double total = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    constexpr const char* kEmpty = "no rows in the bin";
    error += std::abs(predicted[b] - observed[b]);
    total += rows[b];
    result.bins.push_back({.rows = rows[b],
                           .predicted = Value::ratio(predicted[b], rows[b], kEmpty),
                           .observed = Value::ratio(observed[b], rows[b], kEmpty),
                           .interval = Interval::undefined("not computed")});
  }
  result.ece = Value::ratio(error, total, "no rows");
  return result;
}

Calibrator::Calibrator(RowMatrix p, std::span<const int> truth, std::size_t n_bins) {
  for (std::size_t k = 0; k < p.cols; ++k) {
    std::vector<double> probability(p.rows());
    std::vector<std::uint8_t> occurred(p.rows());
    for (std::size_t i = 0; i < p.rows(); ++i) {
      probability[i] = p.at(i, k);
      occurred[i] = static_cast<std::size_t>(truth[i]) == k ? 1 : 0;
    }
    CalibrationBins bins(probability, n_bins);
    classes_.push_back({std::move(probability), std::move(occurred), std::move(bins)});
  }
}

std::vector<ClassCalibration> Calibrator::at(Weights w) const {
  std::vector<ClassCalibration> result;
  result.reserve(classes_.size());
  for (const Class& c : classes_) result.push_back(calibrate(c.bins, c.probability, c.occurred, w));
  return result;
}

Value expected_calibration_error(std::span<const ClassCalibration> classes) {
  double sum = 0;
  for (const ClassCalibration& c : classes) {
    if (!c.ece) return c.ece;
    sum += *c.ece;
  }
  return Value::ratio(sum, static_cast<double>(classes.size()), "no classes");
}

}  // namespace foxhunt::evaluation
