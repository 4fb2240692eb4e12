#pragma once
// What stands in front of the records of several DBN files, as one.

#include <span>
#include <string>

#include "foxhunt/market/dbn_metadata.h"

namespace foxhunt::columns {

struct NamedMetadata {
  std::string name;  ///< of the file, for messages
  market::DbnMetadata metadata;
};

/// Dataset, ts_out and stype_out must be the same everywhere. A schema or stype_in that differs
/// becomes mixed; the range spans all; symbols are joined in their order. A symbol that one file
/// resolved and another did not is partial. Intervals of one symbol are joined by date.
/// Errors  DataError naming both files and the value: another dataset, ts_out, stype_out, or two
///         meanings of one symbol on one day.
market::DbnMetadata unite(std::span<const NamedMetadata> files);

}  // namespace foxhunt::columns
