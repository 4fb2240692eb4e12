#pragma once
// The options by which a CSV file or stream is understood (market/csv_format.h), alike for every
// verb of every program that reads data.

#include "foxhunt/market/csv_format.h"

namespace CLI {
class App;
}

namespace foxhunt::cli {

void add_csv_options(CLI::App& sub, market::CsvFormat& csv);

}  // namespace foxhunt::cli
