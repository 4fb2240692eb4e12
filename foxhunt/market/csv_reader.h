#pragma once
// CSV as a Reader: bars, trades and top of book, in Databento's own layouts or with any names of
// the time and volume columns (CsvFormat).

#include <memory>

#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {

/// What a row becomes is decided by the header: open, high, low, close are bars; price, size are
/// trades; with bid_px_00 … ask_ct_00 beside them mbp-1. gzip is unpacked on the way.
///
/// A CSV file says little about itself, so info() grows while rows are read: symbols and mappings
/// (by UTC date, from the column symbol or CsvFormat::symbol; ids are counted from 1 where there is
/// no column instrument_id), start and end. The first row is read at once: info().schema is right
/// before next().
///
/// Errors  ConfigError: settings that are not possible; FormatError with file:line:column, value
/// and rule;
///         DataError: truncated, when options.strict.
std::unique_ptr<Reader> make_csv_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options);

}  // namespace foxhunt::market
