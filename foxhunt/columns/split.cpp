#include "foxhunt/columns/split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/columns/dbn_io.h"
#include "foxhunt/columns/part_metadata.h"
#include "foxhunt/columns/symbol_table.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;
using market::dbn::RawRecord;

constexpr std::int64_t kTellEvery = std::int64_t{1} << 16U;
constexpr std::uint64_t kDay = 86'400'000'000'000;

std::string stem_of(const fs::path& input) {
  fs::path name = input.filename();
  if (name.extension() == ".zst") name = name.stem();
  if (name.extension() == ".dbn") name = name.stem();
  return name.string();
}

/// Which part a record belongs to, with the number that its metadata is made from.
class Keys {
 public:
  Keys(SplitBy by, const market::DbnMetadata& metadata, const std::string& file)
      : by_(by), symbols_(market::to_stream_info(metadata, file)) {}

  /// Equal numbers are equal parts, but for symbols, whose text alone says it.
  std::string key(const RawRecord& record) {
    std::uint32_t id = 0;
    std::memcpy(&id, record.bytes.data() + 4, sizeof id);
    switch (by_) {
      case SplitBy::kDay:
        return to_string(Date{
            std::chrono::sys_days{std::chrono::days{static_cast<int>(index_time(record) / kDay)}}});
      case SplitBy::kSymbol: {
        const std::string_view symbol = symbols_.find(id, index_time(record));
        return symbol.empty() ? fmt::format("id-{}", id) : std::string(symbol);
      }
      case SplitBy::kInstrument:
        return fmt::format("{}", id);
      case SplitBy::kSchema:
        break;
    }
    const std::string_view name = market::rtype_name(record.rtype);
    return name == "unknown" ? fmt::format("rtype-{}", record.rtype) : std::string(name);
  }

  /// A number that decides the key together with its neighbours' (day, id, type).
  std::uint64_t mark(const RawRecord& record) const {
    std::uint32_t id = 0;
    std::memcpy(&id, record.bytes.data() + 4, sizeof id);
    if (by_ == SplitBy::kDay) return index_time(record) / kDay;
    if (by_ == SplitBy::kInstrument) return id;
    if (by_ == SplitBy::kSchema) return static_cast<std::uint64_t>(record.rtype);
    return (index_time(record) / kDay) << 32U | id;
  }

 private:
  SplitBy by_;
  SymbolTable symbols_;
};

/// A file name may not leave its folder.
std::string file_name(std::string key) {
  std::ranges::replace_if(
      key, [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20; },
      '_');
  return key;
}

class Splitter {
 public:
  Splitter(const fs::path& input, const fs::path& folder, const SplitOptions& options,
           const std::function<void(std::int64_t)>& progress)
      : input_(input), folder_(folder), options_(options), progress_(progress) {}

  SplitReport run() {
    make_folder(folder_);
    do {
      read();
    } while (!waiting_.empty());
    if (report_.records == 0) {
      throw DataError(fmt::format("{}: no record matches", input_.string()));
    }
    return std::move(report_);
  }

 private:
  struct Part {
    std::size_t index;  ///< in report_.parts
    std::unique_ptr<RecordSink> sink;
  };

  /// One reading of the input: fills as many parts as may be open at once.
  void read() {
    const bool first = report_.parts.empty();
    std::unordered_map<std::string, Part> open;
    const auto source = open_dbn(input_, {});
    Keys keys(options_.by, source->metadata(), input_.string());
    const std::vector<std::string> wanted = std::move(waiting_);
    waiting_.clear();
    waiting_set_.clear();
    for (const std::string& key : wanted) {
      if (open.size() < options_.most_open) {
        begin(key, source->metadata(), open);
      } else {
        wait_for(key);
      }
    }
    std::uint64_t mark = 0;
    Part* part = nullptr;
    bool known = false;
    bool left_out = false;
    for (RawRecord record; source->next(record);) {
      if (const std::uint64_t now = keys.mark(record); !known || now != mark) {
        known = true;
        mark = now;
        const std::string key = keys.key(record);
        left_out = !is_wanted(key);
        part = left_out ? nullptr : find(key, first, source->metadata(), open);
      }
      if (part == nullptr) {
        if (first && left_out) ++report_.left_out;
        continue;
      }
      part->sink->write(record);
      ++report_.parts[part->index].records;
      if (++report_.records % kTellEvery == 0) {
        if (progress_) progress_(report_.records);
        if (interrupted()) throw InterruptedError("[split] stopped");
      }
    }
    report_.truncated = source->truncated();
    if (report_.truncated && !options_.allow_truncated) {
      throw DataError(fmt::format("{}: is cut short (--allow-truncated splits what is whole)",
                                  input_.string()));
    }
    if (first) require_all_found();
    for (auto& [key, finished] : open) finished.sink->finish();
  }

  bool is_wanted(const std::string& key) const {
    return options_.only.empty() || std::ranges::find(options_.only, key) != options_.only.end();
  }

  Part* find(const std::string& key, bool first, const market::DbnMetadata& metadata,
             std::unordered_map<std::string, Part>& open) {
    if (const auto at = open.find(key); at != open.end()) return &at->second;
    if (!first) return nullptr;  // written before, or waiting
    if (open.size() < options_.most_open) return begin(key, metadata, open);
    wait_for(key);
    return nullptr;
  }

  Part* begin(const std::string& key, const market::DbnMetadata& metadata,
              std::unordered_map<std::string, Part>& open) {
    const fs::path file = folder_ / fmt::format("{}.{}.dbn{}", stem_of(input_), file_name(key),
                                                options_.compress ? ".zst" : "");
    if (!options_.overwrite && fs::exists(file)) {
      throw DataError(fmt::format("{}: exists already (--overwrite replaces it)", file.string()));
    }
    const auto of_part = part_metadata(metadata, options_.by, key);
    auto sink = dbn_sink(file, of_part, options_.level);
    report_.parts.push_back({key, file, 0});
    return &open.emplace(key, Part{report_.parts.size() - 1, std::move(sink)}).first->second;
  }

  void wait_for(const std::string& key) {
    if (waiting_set_.insert(key).second) waiting_.push_back(key);
  }

  void require_all_found() const {
    std::vector<std::string> missing;
    for (const std::string& key : options_.only) {
      const bool found =
          waiting_set_.contains(key) ||
          std::ranges::find(report_.parts, key, &SplitPart::key) != report_.parts.end();
      if (!found) missing.push_back(key);
    }
    if (!missing.empty()) {
      throw DataError(
          fmt::format("{}: no record of {}", input_.string(), fmt::join(missing, ", ")));
    }
  }

  fs::path input_;
  fs::path folder_;
  SplitOptions options_;
  std::function<void(std::int64_t)> progress_;
  SplitReport report_;
  std::vector<std::string> waiting_;  ///< keys for the next reading, in order
  std::unordered_set<std::string> waiting_set_;
};

}  // namespace

SplitReport split_file(const fs::path& input, const fs::path& folder, const SplitOptions& options,
                       const std::function<void(std::int64_t)>& progress) {
  return Splitter(input, folder, options, progress).run();
}

}  // namespace foxhunt::columns
