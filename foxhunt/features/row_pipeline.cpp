#include "foxhunt/features/row_pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "foxhunt/base/error.h"

namespace foxhunt::features {
namespace {

std::variant<FeaturePipeline, BookPipeline> make(const FeatureConfig& features,
                                                 const std::optional<BookFeatureConfig>& book,
                                                 const market::Calendar& calendar,
                                                 const market::Contract& contract) {
  if (book && !features.plugins.empty()) {
    throw ConfigError(
        fmt::format("[features] plugins = ['{}'] takes bars, but [book] makes rows of order events",
                    fmt::join(features.plugins, "', '")));
  }
  if (book) return BookPipeline(*book, calendar, contract);
  return FeaturePipeline(features, calendar, contract);
}

}  // namespace

RowPipeline::RowPipeline(const FeatureConfig& features,
                         const std::optional<BookFeatureConfig>& book,
                         const market::Calendar& calendar, const market::Contract& contract)
    : inner_(make(features, book, calendar, contract)) {}

const Schema& RowPipeline::schema() const noexcept {
  return std::visit([](const auto& inner) -> const Schema& { return inner.schema(); }, inner_);
}
std::int64_t RowPipeline::width() const noexcept {
  return std::visit([](const auto& inner) { return inner.width(); }, inner_);
}

PushResult RowPipeline::push(const market::Bar& bar, std::span<float> row) {
  auto* const bars = std::get_if<FeaturePipeline>(&inner_);
  if (bars == nullptr) return {.status = Status::kBadBar};
  const PushResult result = bars->push(bar, row);
  note(bar, result);
  return result;
}
PushResult RowPipeline::push(const market::OrderEvent& event, std::span<float> row) {
  auto* const book = std::get_if<BookPipeline>(&inner_);
  return book == nullptr ? PushResult{.status = Status::kBadBar} : book->push(event, row);
}
PushResult RowPipeline::push_unchecked(const market::Bar& bar, std::span<float> row) noexcept {
  auto* const bars = std::get_if<FeaturePipeline>(&inner_);
  if (bars == nullptr) return {.status = Status::kBadBar};
  const PushResult result = bars->push_unchecked(bar, row);
  note(bar, result);
  return result;
}
PushResult RowPipeline::push_unchecked(const market::OrderEvent& event,
                                       std::span<float> row) noexcept {
  return push(event, row);
}

void RowPipeline::note(const market::Bar& bar, const PushResult& result) noexcept {
  if (result.status != Status::kReady && result.status != Status::kWarmingUp &&
      result.status != Status::kNotFinite) {
    return;
  }
  of_bars_ = {.start = bar.start, .available_at = bar.end(), .price = bar.close};
}

const RowMoment& RowPipeline::moment() const noexcept {
  const auto* const book = std::get_if<BookPipeline>(&inner_);
  return book == nullptr ? of_bars_ : book->moment();
}
const market::Session& RowPipeline::session() const noexcept {
  return std::visit([](const auto& inner) -> const market::Session& { return inner.session(); },
                    inner_);
}
const PushCounters& RowPipeline::counters() const noexcept {
  return std::visit([](const auto& inner) -> const PushCounters& { return inner.counters(); },
                    inner_);
}
std::span<const std::int64_t> RowPipeline::not_finite() const noexcept {
  const auto* const bars = std::get_if<FeaturePipeline>(&inner_);
  return bars == nullptr ? std::span<const std::int64_t>{} : bars->not_finite();
}
std::string RowPipeline::summary() const {
  return std::visit([](const auto& inner) { return inner.summary(); }, inner_);
}

void RowPipeline::reset() noexcept {
  of_bars_ = {};
  std::visit([](auto& inner) { inner.reset(); }, inner_);
}
void RowPipeline::load_libraries_anew() {
  if (auto* const bars = std::get_if<FeaturePipeline>(&inner_)) bars->load_libraries_anew();
}
void RowPipeline::save(ByteWriter& to) const {
  std::visit([&](const auto& inner) { inner.save(to); }, inner_);
}
void RowPipeline::restore(ByteReader& from) {
  std::visit([&](auto& inner) { inner.restore(from); }, inner_);
}

}  // namespace foxhunt::features
