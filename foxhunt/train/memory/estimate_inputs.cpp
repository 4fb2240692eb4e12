#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "foxhunt/market/reader.h"
#include "foxhunt/train/memory/estimate.h"
#include "foxhunt/train/sequences.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kAssumedRows = 100'000;
/// Minutes of a session of index futures.
constexpr std::int64_t kAssumedSequence = 1'380;

/// Bytes of all files; -1 where one is not there.
std::int64_t bytes_of(const std::vector<std::string>& files) {
  std::int64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code code;
    const auto size = fs::file_size(file, code);
    if (code) return -1;
    bytes += static_cast<std::int64_t>(size);
  }
  return files.empty() ? -1 : bytes;
}

}  // namespace

DataFacts data_facts(const ExperimentConfig& config, std::int64_t rows, std::int64_t most_bytes) {
  DataFacts facts;
  std::string why;
  const std::int64_t bytes = bytes_of(config.data.files);
  if (rows > 0) {
    why = "as told";
  } else if (bytes < 0) {
    why = "a file of data.files is not there";
  } else if (bytes > most_bytes) {
    why = "the files are too large to be read for an estimate";
  } else {
    SequenceBuilder builder({.product = config.data.product, .symbol = config.data.symbol},
                            config.features, config.label, config.book_settings());
    for (const std::string& path : config.data.files)
      builder.add(*market::open_reader(path, {.csv = config.data.csv}));
    for (const Sequence& sequence : builder.finish().sequences) {
      facts.rows += sequence.length();
      facts.longest = std::max(facts.longest, sequence.length());
    }
    facts.source = fmt::format("{} rows, the longest sequence {}: counted in data.files",
                               facts.rows, facts.longest);
    return facts;
  }
  facts.rows = rows > 0 ? rows : kAssumedRows;
  facts.longest = std::min(facts.rows, kAssumedSequence);
  facts.source =
      fmt::format("{} rows in sequences of {}: assumed ({})", facts.rows, facts.longest, why);
  return facts;
}

}  // namespace foxhunt::train
