#include "foxhunt/columns/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/columns/dbn_io.h"
#include "foxhunt/columns/metadata_union.h"
#include "foxhunt/market/dbn/stream.h"

namespace foxhunt::columns {
namespace {

using market::dbn::RawRecord;

constexpr std::uint64_t kNoTime = ~std::uint64_t{0};
constexpr std::int64_t kTellEvery = std::int64_t{1} << 16U;

struct Input {
  std::unique_ptr<RecordSource> source;
  RawRecord record{};
  std::uint64_t time = 0;  ///< by which the record is ordered: never before the one before it
  std::int64_t records = 0;
  std::int64_t back_steps = 0;

  bool next() {
    if (!source->next(record)) return false;
    ++records;
    const std::uint64_t now = index_time(record);
    if (now == kNoTime) return true;  // undefined: stays with its neighbour
    if (now < time) ++back_steps;
    time = std::max(time, now);
    return true;
  }
};

/// The next input to take from lies in front.
class Queue {
  auto later() const {
    return [this](std::size_t a, std::size_t b) {
      return std::pair(inputs_[a].time, a) > std::pair(inputs_[b].time, b);
    };
  }

 public:
  explicit Queue(std::vector<Input>& inputs) : inputs_(inputs) {}
  bool empty() const { return heap_.empty(); }
  void push(std::size_t input) {
    heap_.push_back(input);
    std::ranges::push_heap(heap_, later());
  }
  std::size_t pop() {
    std::ranges::pop_heap(heap_, later());
    const std::size_t input = heap_.back();
    heap_.pop_back();
    return input;
  }

 private:
  std::vector<Input>& inputs_;
  std::vector<std::size_t> heap_;
};

}  // namespace

MergeReport merge_files(const std::vector<std::filesystem::path>& inputs,
                        const std::filesystem::path& out, const MergeOptions& options,
                        const std::function<void(std::int64_t)>& progress) {
  std::vector<Input> open;
  std::vector<NamedMetadata> named;
  for (const auto& path : inputs) {
    open.push_back({.source = open_dbn(path, {})});
    named.push_back({path.string(), open.back().source->metadata()});
  }
  const market::DbnMetadata metadata = unite(named);
  const auto sink = dbn_sink(out, metadata, options.level);
  MergeReport report{.partial = metadata.partial, .not_found = metadata.not_found};
  Queue queue(open);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i].next()) queue.push(i);
  }
  while (!queue.empty()) {
    const std::size_t at = queue.pop();
    Input& input = open[at];
    sink->write(input.record);
    if (report.records++ == 0) report.first = index_time(input.record);
    report.last = index_time(input.record);
    if (input.next()) queue.push(at);
    if (report.records % kTellEvery == 0) {
      if (progress) progress(report.records);
      if (interrupted()) throw InterruptedError("[merge] stopped; nothing was written");
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    report.of_file.push_back(open[i].records);
    report.back_steps += open[i].back_steps;
    if (!open[i].source->truncated()) continue;
    report.truncated = true;
    if (!options.allow_truncated) {
      throw DataError(
          fmt::format("{}: is cut short after {} records (--allow-truncated merges what is whole)",
                      inputs[i].string(), open[i].records));
    }
  }
  if (report.records == 0) throw DataError("[merge] the inputs hold no records");
  sink->finish();
  return report;
}

}  // namespace foxhunt::columns
