#include "foxhunt/proofs/compare.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace foxhunt::proofs {
namespace {

/// Walks the entries of a scope.
class Cursor {
 public:
  Cursor(const Entries& entries, Scope scope) : entries_(entries), scope_(scope) { settle(); }
  bool done() const { return i_ == entries_.size(); }
  std::size_t place() const { return i_; }
  UnixNanos decided_at() const { return entries_.decided_at[i_]; }
  UnixNanos known_at() const { return entries_.known_at[i_]; }
  void next() {
    ++i_;
    settle();
  }

 private:
  void settle() {
    while (i_ < entries_.size() && (entries_.known_at[i_] > scope_.known_until ||
                                    entries_.decided_at[i_] < scope_.decided_from)) {
      ++i_;
    }
  }
  const Entries& entries_;
  Scope scope_;
  std::size_t i_ = 0;
};

}  // namespace

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

std::optional<Counterexample> first_difference(const Series& series, const Entries& before,
                                               const Entries& after, Scope scope,
                                               std::int64_t& compared) {
  const auto entry = [&](UnixNanos at, const char* was, const char* is) {
    return Counterexample{.column = fmt::format("{} (the row itself)", series.name),
                          .at = at,
                          .before = was,
                          .after = is};
  };
  Cursor a(before, scope);
  Cursor b(after, scope);
  for (; !a.done() || !b.done(); a.next(), b.next()) {
    if (b.done() || (!a.done() && a.decided_at() < b.decided_at()))
      return entry(a.decided_at(), "present", "absent");
    if (a.done() || b.decided_at() < a.decided_at())
      return entry(b.decided_at(), "absent", "present");
    if (a.known_at() != b.known_at()) {
      return Counterexample{.column = fmt::format("{} (known at)", series.name),
                            .at = a.decided_at(),
                            .before = to_string(a.known_at()),
                            .after = to_string(b.known_at())};
    }
    const std::size_t width = series.width();
    for (std::size_t c = 0; c < width; ++c) {
      const float was = before.values[a.place() * width + c];
      const float is = after.values[b.place() * width + c];
      ++compared;
      if (same_bits(was, is)) continue;
      return Counterexample{
          .column = fmt::format("{}.{}", series.name, series.schema.columns[c].name),
          .at = a.decided_at(),
          .before = value_text(was),
          .after = value_text(is)};
    }
  }
  return std::nullopt;
}

}  // namespace foxhunt::proofs
