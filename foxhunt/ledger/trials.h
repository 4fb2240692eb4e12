#pragma once
// Evaluations in the ledger, and how many looks at the same rows they were.
//
// A data set is: SHA-256 of its files in order, product, contract, label. A trial is one set of
// weights; evaluating the same weights again is no further trial. Two evaluations looked at the
// same rows when their data set is the same and their time ranges overlap, whatever part they
// called them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/ledger/ledger.h"

namespace foxhunt::ledger {

struct DataSet {
  std::vector<std::string> files{};  ///< SHA-256 of each, in order
  std::string product{};
  std::string symbol{};
  std::string label{};  ///< its configuration, as TOML

  std::string id() const;  ///< 64 hexadecimal digits
};

struct Evaluation {
  std::string verb = "evaluate";  ///< or "walkforward", "tune"
  DataSet data{};
  std::string part{};
  std::int64_t rows = 0;
  UnixNanos first = kNullTime;  ///< decision times of the first and the last row
  UnixNanos last = kNullTime;
  std::string run{};
  std::string weights_sha256{};
  std::string config_sha256{};
  std::string git_revision{};
  std::int64_t seed = 0;
  std::string metric{};  ///< the headline
  std::optional<double> value{};
  std::string baseline{};        ///< the best one
  std::optional<double> gain{};  ///< above 0: the model is better
  std::optional<double> standard_error{};
  std::optional<double> lo{};  ///< interval of the gain
  std::optional<double> hi{};
  std::optional<double> rank_ic{};
  double seconds = 0;
};

/// How often rows were looked at.
struct TrialCount {
  std::int64_t trials = 0;   ///< weights tried on rows of the same data set that overlap
  std::int64_t related = 0;  ///< further ones on rows of the same product in the same time, with
                             ///< other files, another contract or another label
};

/// Appends it. Errors  as Ledger::append().
void record(Ledger& ledger, const Evaluation& evaluation);
TrialCount count_trials(const Ledger& ledger, const Evaluation& evaluation);

/// All evaluations in order. Errors  FormatError naming the entry.
std::vector<Evaluation> evaluations(const Ledger& ledger);

/// The data sets of `all`, each with its trials over the whole time.
struct DataSetSummary {
  DataSet data{};
  std::string id{};
  std::int64_t evaluations = 0;
  std::int64_t trials = 0;
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;
};
std::vector<DataSetSummary> data_sets(const std::vector<Evaluation>& all);

}  // namespace foxhunt::ledger
