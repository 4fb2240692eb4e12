#include "foxhunt/market/dbn/upgrade.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market::dbn {
namespace {

constexpr int kTarget = 3;

/// What fills a field that the older version lacks. Fields not named here are 0.
struct Default {
  std::string_view field;
  std::int64_t value;
};
constexpr Default kDefaults[] = {
    {"leg_price", std::numeric_limits<std::int64_t>::max()},
    {"leg_delta", std::numeric_limits<std::int64_t>::max()},
    {"leg_side", 'N'},
    {"stype_in", 0xFF},
    {"stype_out", 0xFF},
    {"code", 0xFF},
    {"is_last", 0xFF},
};

struct Move {
  Field from, to;
};
/// A version 3 record with every default in it, and what is moved there.
struct Plan {
  std::vector<std::byte> blank;
  std::vector<Move> moves;
};

Plan make_plan(const DbnRecordKind& kind, int version) {
  Plan plan;
  plan.blank.resize(kind.sizes[kTarget - 1]);
  const std::span<std::byte> blank(plan.blank);
  store(blank, 0, static_cast<std::uint8_t>(blank.size() / kDbnLengthUnit));
  const auto old_fields = fields_of(kind.rtype, version);
  for (const Field& to : fields_of(kind.rtype, kTarget)) {
    if (const Field* from = find_field(old_fields, to.name)) {
      plan.moves.push_back({*from, to});
      continue;
    }
    const auto* filled = std::ranges::find(kDefaults, to.name, &Default::field);
    if (filled != std::end(kDefaults)) {
      std::memcpy(blank.data() + to.at, &filled->value, to.size);
    }
  }
  return plan;
}

/// nullptr where version 3 has the same layout.
const Plan* plan_of(int rtype, int version) {
  struct Known {
    int rtype, version;
    Plan plan;
  };
  static const std::vector<Known> kPlans = [] {
    std::vector<Known> plans;
    for (const int changed : {rtype::kDefinition, rtype::kError, rtype::kSymbolMapping,
                              rtype::kSystem, rtype::kStatistics}) {
      const DbnRecordKind& kind = *find_dbn_record_kind(changed);
      for (int from = 1; from < kTarget; ++from) {
        if (kind.sizes[static_cast<std::size_t>(from - 1)] == kind.sizes[kTarget - 1]) continue;
        plans.push_back({changed, from, make_plan(kind, from)});
      }
    }
    return plans;
  }();
  const auto at = std::ranges::find_if(
      kPlans, [&](const Known& k) { return k.rtype == rtype && k.version == version; });
  return at == kPlans.end() ? nullptr : &at->plan;
}

void move_text(std::span<const std::byte> from, std::span<std::byte> to) {
  const auto end = std::find(from.begin(), from.end(), std::byte{0});
  const auto n = std::min(static_cast<std::size_t>(end - from.begin()), to.size());
  std::copy_n(from.begin(), n, to.begin());
}

/// A number that grew: the widest value of the old type means "undefined" in both.
void widen(std::span<const std::byte> from, std::span<std::byte> to, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from.data(), from.size());
  if (is_signed) {
    const std::size_t unused = 64 - 8 * from.size();
    const auto most = std::numeric_limits<std::int64_t>::max() >> unused;
    auto value = static_cast<std::int64_t>(bits << unused) >> unused;
    if (value == most) value = std::numeric_limits<std::int64_t>::max() >> (64 - 8 * to.size());
    bits = static_cast<std::uint64_t>(value);
  }
  std::memcpy(to.data(), &bits, to.size());
}

}  // namespace

RawRecord Upgrader::operator()(const RawRecord& record) {
  RawRecord upgraded = record;
  upgraded.version = kTarget;
  const Plan* plan = record.version < kTarget ? plan_of(record.rtype, record.version) : nullptr;
  if (plan == nullptr) return upgraded;
  std::copy(plan->blank.begin(), plan->blank.end(), bytes_.begin());
  const auto target = std::span(bytes_).first(plan->blank.size());
  for (const Move& move : plan->moves) {
    const auto from = record.bytes.subspan(move.from.at, move.from.size);
    const auto to = target.subspan(move.to.at, move.to.size);
    if (move.to.type == FieldType::kText) {
      move_text(from, to);
    } else if (from.size() == to.size()) {
      std::copy(from.begin(), from.end(), to.begin());
    } else {
      widen(from, to, move.to.type == FieldType::kSigned);
    }
  }
  upgraded.bytes = target;
  return upgraded;
}

}  // namespace foxhunt::market::dbn
