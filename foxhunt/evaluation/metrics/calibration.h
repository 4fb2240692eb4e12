#pragma once
// Does what was called 40 % happen in 40 % of the cases? Reliability bins of one class against the
// rest.
//
// The bins hold about equally many rows each (equal predictions stay together). Market
// probabilities crowd near the class prior: ten bins of equal width would put nearly all rows in
// two of them and show nothing.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/evaluation/metrics/row_matrix.h"
#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/metrics/weights.h"

namespace foxhunt::evaluation {

/// Which bin each row's probability falls in; made once, used under any weights.
class CalibrationBins {
 public:
  /// `probability` [N] of one class, finite. `n_bins` >= 1; fewer come out when there are too few
  /// distinct values.
  CalibrationBins(std::span<const double> probability, std::size_t n_bins);

  std::size_t size() const { return size_; }
  std::span<const std::uint32_t> bin_of_row() const { return bin_of_row_; }

 private:
  std::size_t size_ = 0;
  std::vector<std::uint32_t> bin_of_row_;
};

struct CalibrationBin {
  double rows = 0;    ///< rows in the bin (their weight)
  Value predicted;    ///< mean probability of the class; undefined without rows
  Value observed;     ///< share of rows in which the class occurred
  Interval interval;  ///< of `observed`, when whoever made the report computed one
};

struct ClassCalibration {
  std::vector<CalibrationBin> bins;  ///< ascending in probability
  /// Expected calibration error of this class: mean over rows of |predicted - observed| of the
  /// row's bin. It never falls to 0 on finite data: a perfect forecast still shows about sqrt(p (1
  /// - p) / rows of a bin).
  Value ece;
};

/// `occurred` [N]: 1 where the row's true class is this one.
ClassCalibration calibrate(const CalibrationBins& bins, std::span<const double> probability,
                           std::span<const std::uint8_t> occurred, Weights w = {});

/// The calibration of every class of a forecaster, with the bins fixed once.
class Calibrator {
 public:
  /// `p` [N, K] and `truth` [N] have passed check_probabilities().
  Calibrator(RowMatrix p, std::span<const int> truth, std::size_t n_bins);

  std::size_t n_classes() const { return classes_.size(); }
  std::size_t n_bins(std::size_t k) const { return classes_[k].bins.size(); }
  /// [K]
  std::vector<ClassCalibration> at(Weights w = {}) const;

 private:
  struct Class {
    std::vector<double> probability;
    std::vector<std::uint8_t> occurred;
    CalibrationBins bins;
  };
  std::vector<Class> classes_;
};

/// Plain mean of the classes' errors (classwise ECE, Kull et al. 2019).
Value expected_calibration_error(std::span<const ClassCalibration> classes);

}  // namespace foxhunt::evaluation
