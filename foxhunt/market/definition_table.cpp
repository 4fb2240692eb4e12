#include "foxhunt/market/definition_table.h"

#include <algorithm>

namespace foxhunt::market {
namespace {

UnixNanos time_of(const Definition& d) { return is_null(d.ts_recv) ? d.ts_event : d.ts_recv; }

}  // namespace

void DefinitionTable::add(std::string_view dataset, const Definition& definition) {
  const UnixNanos t = time_of(definition);
  if (is_null(t)) {
    ++undated_;
    return;
  }
  auto& list = known_[{std::string(dataset), definition.instrument.instrument_id}];
  list.insert(std::ranges::upper_bound(list, t, {}, time_of), definition);
}

const Definition* DefinitionTable::at(std::string_view dataset, std::uint32_t instrument_id,
                                      UnixNanos at) const {
  using std::chrono::days;
  const auto known = known_.find({std::string(dataset), instrument_id});
  if (is_null(at) || known == known_.end()) return nullptr;
  const auto after = std::ranges::upper_bound(known->second, at, {}, time_of);
  if (after == known->second.begin()) return nullptr;
  const Definition& newest = *std::prev(after);
  const auto age = std::chrono::floor<days>(at) - std::chrono::floor<days>(time_of(newest));
  return age > carry_ || newest.update_action == 'D' ? nullptr : &newest;
}

}  // namespace foxhunt::market
