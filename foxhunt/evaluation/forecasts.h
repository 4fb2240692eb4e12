#pragma once
// What one forecaster said about each row.

#include <string>
#include <vector>

namespace foxhunt::evaluation {

struct Forecasts {
  std::string name;  ///< "model", "prior", "persistence", "logistic", "random-walk", "gru", …
  std::vector<double>
      values;  ///< [N, K] class probabilities, [N] numbers or [N, Q] quantiles, row-major
};

}  // namespace foxhunt::evaluation
