#pragma once
// The columns that a feature config asks for, and what such a config must fulfil. Inside of the
// room only.

#include <vector>

#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::features {

/// In the order in which the pipeline writes them, `user`'s behind foxhunt's own.
/// Errors  ConfigError: a name that is there already, naming its library.
Schema make_schema(const FeatureConfig& config, const std::vector<Column>& user);

/// Errors  ConfigError with everything that is wrong, one a line.
void require_usable(FeatureConfig config, const market::Contract& contract);

}  // namespace foxhunt::features
