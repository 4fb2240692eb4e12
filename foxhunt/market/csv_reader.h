#pragma once
// CSV as a Reader.

#include <memory>

#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {

std::unique_ptr<Reader> make_csv_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options);

}  // namespace foxhunt::market
