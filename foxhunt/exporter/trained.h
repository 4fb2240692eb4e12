#pragma once
// The trained half: a run's best model and what it answers to records, in LibTorch.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/bundle/bundle.h"
#include "foxhunt/market/record.h"
#include "foxhunt/nn/mamba2.h"

namespace foxhunt::exporter {

/// What the trained model says to a list of records that starts from nothing.
struct TrainedAnswers {
  std::vector<std::uint8_t> ready;   ///< [records]
  std::vector<std::uint8_t> starts;  ///< [records] 1: a sequence begins here
  std::vector<float> outputs;        ///< [sum of ready, K]
};

/// Features record by record, then every sequence at once through LibTorch's operations in float32.
TrainedAnswers answers_of(nn::Mamba2SSM& model, const bundle::ModelContext& context,
                          std::span<const market::Bar> bars);
TrainedAnswers answers_of(nn::Mamba2SSM& model, const bundle::ModelContext& context,
                          std::span<const market::OrderEvent> events);

std::map<std::string, std::vector<float>> weights_of(const nn::Mamba2SSM& model);

}  // namespace foxhunt::exporter
