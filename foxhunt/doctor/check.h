#pragma once
// A check: a small class that sees every record once, in the order of the file, and keeps a few
// numbers a series. Inside of the room only.

#include <memory>
#include <vector>

#include "foxhunt/doctor/findings.h"
#include "foxhunt/doctor/series.h"
#include "foxhunt/market/inspect.h"
#include "foxhunt/market/record.h"

namespace foxhunt::doctor {

/// What is known once a file is over.
struct Whole {
  const SeriesTable& series;
  const market::Inspection& inspection;
  bool is_event_bars = false;  ///< bars that end when something happened, not when time was up
};

class Check {
 public:
  explicit Check(Findings& findings) : findings_(findings) {}
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  virtual void see(const Seen& /*seen*/, const market::Bar& /*bar*/) {}
  virtual void see(const Seen& /*seen*/, const market::Trade& /*trade*/) {}
  virtual void see(const Seen& /*seen*/, const market::TopOfBook& /*top*/) {}
  virtual void see(const Seen& /*seen*/, const market::OrderEvent& /*event*/) {}
  virtual void see(const Seen& /*seen*/, const market::Definition& /*definition*/) {}
  /// Record types that no check looks at.
  template <class Other>
  void see(const Seen& /*seen*/, const Other& /*other*/) {}

  virtual void finish(const Whole& /*whole*/) {}

 protected:
  Findings& findings_;
};

/// What a check keeps of each series.
template <class State>
class PerSeries {
 public:
  State& operator[](const Series& series) {
    if (series.index >= states_.size()) states_.resize(series.index + 1);
    std::unique_ptr<State>& state = states_[series.index];
    if (state == nullptr) state = std::make_unique<State>();
    return *state;
  }
  /// nullptr for a series that was never asked for.
  State* find(const Series& series) {
    return series.index < states_.size() ? states_[series.index].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<State>> states_;
};

std::unique_ptr<Check> make_order_check(Findings& findings);
std::unique_ptr<Check> make_bar_check(Findings& findings);
std::unique_ptr<Check> make_price_check(Findings& findings);
std::unique_ptr<Check> make_volume_check(Findings& findings);
std::unique_ptr<Check> make_session_check(Findings& findings);
std::unique_ptr<Check> make_quote_check(Findings& findings);
std::unique_ptr<Check> make_trade_check(Findings& findings);
std::unique_ptr<Check> make_book_check(Findings& findings);
std::unique_ptr<Check> make_file_check(Findings& findings);

}  // namespace foxhunt::doctor
