#pragma once
// Views as rows of CSV. Inside of the room only.

#include <cstddef>
#include <string>

#include "foxhunt/book/view.h"

namespace foxhunt::book {

/// ts_recv,ts_event,publisher_id,instrument_id,sequence,maybe_bad_book,bad_ts_recv, then
/// bid_px_00,bid_sz_00,bid_ct_00,ask_px_00,ask_sz_00,ask_ct_00 and so on. Times in nanoseconds, ""
/// where null; prices as decimals; an empty level has no price and size 0.
std::string view_header(std::size_t levels);
std::string view_row(const DepthView& view, std::size_t levels);

}  // namespace foxhunt::book
