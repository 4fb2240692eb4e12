// Headline numbers after every look at these rows is counted (evaluation/report/trials.h).
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

std::string signed_html(const Reading& reading, double scale) {
  return reading ? evaluation::signed_number_text(*reading, scale) : not_available(reading.reason);
}

}  // namespace

std::string trials_block(const Json& evaluation) {
  const Json* trials = find(evaluation, {"trials"});
  if (trials == nullptr) return {};
  const Reading count = number(*trials, {"count"});
  const std::string title = "<h3>After every look is counted</h3>\n";
  if (!count) return title + hint("Headline numbers are " + not_available(count.reason));
  const Json* deflated = find(evaluation, {"deflated"});
  std::vector<std::vector<std::string>> rows;
  if (deflated != nullptr && deflated->is_object()) {
    for (const auto& [metric, d] : deflated->items()) {
      const Reading gain = number(d, {"gain"});
      const double scale = std::abs(gain.or_else(0));
      rows.push_back(
          {fmt::format("{} over {}", defined_name(metric), escape(text(d, {"baseline"}, "0"))),
           signed_html(gain, scale), number_html(number(d, {"standard_error"}), scale),
           number_html(number(d, {"chance"}), scale), signed_html(number(d, {"deflated"}), scale),
           number_html(number(d, {"probability"}), 1)});
    }
  }
  return fmt::format(
      "{}<p class=\"lead\">{:.0f} {} been tried on these rows, this one included: what the best of "
      "them shows by chance is taken off.</p>\n{}",
      title, *count, *count == 1 ? "set of weights has" : "sets of weights have",
      table({"", "gain", "standard error", "by chance", defined_as("deflated", "deflated"),
             "probability that it is real"},
            rows));
}

}  // namespace foxhunt::report
