#include "foxhunt/bundle/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foxhunt/base/number_text.h"

namespace foxhunt::bundle {
namespace {

constexpr std::array<std::string_view, 3> kClassNames{"down", "flat", "up"};

/// Prices exactly as in the file: no rounding through a double.
std::string price_text(Price price) {
  return price.is_null() ? "null" : decimal_text(price, /*keeps_point=*/true);
}

}  // namespace

std::string_view class_name(std::int64_t index) {
  return kClassNames.at(static_cast<std::size_t>(index));
}

std::vector<double> meaning_of(std::span<const float> outputs, const model::HeadConfig& head) {
  std::vector<double> values(outputs.begin(), outputs.end());
  if (head.kind != model::HeadKind::kClassification) return values;
  const double top = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& v : values) sum += v = std::exp(v - top);
  for (double& v : values) v /= sum;
  return values;
}

std::string answer_line(const AnswerRow& row, std::span<const double> meaning,
                        const model::HeadConfig& head) {
  std::string line = fmt::format(R"({{"time":"{}","bar_start":"{}","symbol":"{}","close":{})",
                                 to_string(row.available_at), to_string(row.bar_start), row.symbol,
                                 price_text(row.close));
  switch (head.kind) {
    case model::HeadKind::kClassification: {
      for (std::size_t k = 0; k < meaning.size(); ++k) {
        line +=
            fmt::format(R"(,"p_{}":{:.9g})", class_name(static_cast<std::int64_t>(k)), meaning[k]);
      }
      const auto best = std::max_element(meaning.begin(), meaning.end()) - meaning.begin();
      line += fmt::format(R"(,"prediction":"{}")", class_name(best));
      break;
    }
    case model::HeadKind::kQuantiles:
      for (std::size_t q = 0; q < meaning.size(); ++q)
        line += fmt::format(R"(,"q{}":{:.9g})", head.quantiles[q], meaning[q]);
      break;
    case model::HeadKind::kRegression:
    case model::HeadKind::kTokens:
      line += fmt::format(R"(,"value":{:.9g})", meaning.front());
      break;
  }
  return line + "}";
}

}  // namespace foxhunt::bundle
