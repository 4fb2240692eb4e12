#pragma once
// What passed through a book and what was wrong with it. Data are counted, never asserted on.

#include <cstdint>
#include <string>

namespace foxhunt::book {

struct BookCounters {
  std::int64_t records = 0;  ///< = adds + cancels + modifies + clears + passive + foreign + unknown
  std::int64_t adds = 0;
  std::int64_t cancels = 0;
  std::int64_t modifies = 0;
  std::int64_t clears = 0;
  std::int64_t passive = 0;         ///< trades, fills, none: never touch the book
  std::int64_t foreign = 0;         ///< of another instrument or publisher: ignored
  std::int64_t unknown_action = 0;  ///< a letter that the format does not define: ignored

  std::int64_t events = 0;          ///< ends of events at which the book could be looked at
  std::int64_t snapshot_rows = 0;   ///< records with the snapshot flag
  std::int64_t snapshots = 0;       ///< begun
  std::int64_t open_snapshots = 0;  ///< ended by another record, not by LAST: taken as whole

  // Damage, with what the book does about it.
  std::int64_t unknown_cancel = 0;  ///< no such order: ignored
  std::int64_t unknown_modify = 0;  ///< no such order: added
  std::int64_t duplicate_add =
      0;                         ///< the id rests already: the old order leaves, the new one queues
  std::int64_t over_cancel = 0;  ///< more than rests: the order leaves
  std::int64_t other_side = 0;   ///< cancel: by id all the same; modify: moves to the new side
  std::int64_t other_price = 0;  ///< a cancel with another price than the order's: by id
  std::int64_t bad_value = 0;    ///< no price, no side, no size, too large: ignored

  std::int64_t crossed = 0;         ///< events after which best bid > best ask
  std::int64_t locked = 0;          ///< events after which they are equal
  std::int64_t maybe_bad_book = 0;  ///< records with that flag
  std::int64_t bad_ts_recv = 0;     ///< records with that flag

  std::int64_t damage() const noexcept {
    return unknown_cancel + unknown_modify + duplicate_add + over_cancel + other_side +
           other_price + bad_value + unknown_action;
  }
  /// "68792 records, 47022 events; 891 crossed": what is 0 is left out.
  std::string summary() const;
  friend bool operator==(const BookCounters&, const BookCounters&) = default;
};

/// Every counter with its name, in the order above.
struct NamedCounter {
  const char* name;
  std::int64_t BookCounters::*field;
};
inline constexpr NamedCounter kBookCounters[] = {
    {"records", &BookCounters::records},
    {"adds", &BookCounters::adds},
    {"cancels", &BookCounters::cancels},
    {"modifies", &BookCounters::modifies},
    {"clears", &BookCounters::clears},
    {"passive", &BookCounters::passive},
    {"of other instruments", &BookCounters::foreign},
    {"of unknown action", &BookCounters::unknown_action},
    {"events", &BookCounters::events},
    {"snapshot rows", &BookCounters::snapshot_rows},
    {"snapshots", &BookCounters::snapshots},
    {"snapshots without LAST", &BookCounters::open_snapshots},
    {"cancels of unknown orders", &BookCounters::unknown_cancel},
    {"modifies of unknown orders", &BookCounters::unknown_modify},
    {"duplicate adds", &BookCounters::duplicate_add},
    {"cancels of more than rests", &BookCounters::over_cancel},
    {"with another side", &BookCounters::other_side},
    {"with another price", &BookCounters::other_price},
    {"with bad values", &BookCounters::bad_value},
    {"crossed", &BookCounters::crossed},
    {"locked", &BookCounters::locked},
    {"flagged maybe-bad-book", &BookCounters::maybe_bad_book},
    {"flagged bad-ts-recv", &BookCounters::bad_ts_recv}};
static_assert(sizeof(BookCounters) == std::size(kBookCounters) * sizeof(std::int64_t));

}  // namespace foxhunt::book
