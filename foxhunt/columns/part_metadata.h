#pragma once
// The metadata of one part of a file that is split.

#include <string>

#include "foxhunt/columns/split.h"
#include "foxhunt/market/dbn_metadata.h"

namespace foxhunt::columns {

/// `key` as split_file() makes it. By symbol and instrument the lists name only what the part
/// holds; by day and schema they stay whole, since the query they belong to does.
market::DbnMetadata part_metadata(const market::DbnMetadata& whole, SplitBy by,
                                  const std::string& key);

}  // namespace foxhunt::columns
