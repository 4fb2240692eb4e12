#include "foxhunt/features/user_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace foxhunt::features {
namespace {

constexpr std::size_t kBlock = sizeof(UserMemory::Block);

}  // namespace

void UserMemory::forget() noexcept { std::ranges::fill(state, Block{}); }

void UserMemory::reset() noexcept {
  forget();
  std::ranges::fill(not_finite, 0);
}

UserColumns::UserColumns(const std::vector<std::string>& plugins) {
  for (const std::string& plugin : plugins) {
    const Part& part = parts_.emplace_back(FeatureLibrary::open(plugin), blocks_, width_);
    blocks_ += (part.library->table().state_bytes + kBlock - 1) / kBlock;
    width_ += part.library->table().n_columns;
  }
}

std::vector<Column> UserColumns::columns() const {
  std::vector<Column> all;
  for (const Part& part : parts_) {
    const std::vector<Column> some = part.library->columns();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

UserMemory UserColumns::new_memory() const {
  return {.state = std::vector<UserMemory::Block>(blocks_),
          .not_finite = std::vector<std::int64_t>(width_)};
}

void UserColumns::load_anew() {
  for (Part& part : parts_) part.library = part.library->loaded_anew();
}

std::byte* UserColumns::state_of(const Part& part, UserMemory& memory) noexcept {
  const bool has_state = part.library->table().state_bytes > 0;
  return has_state ? memory.state[part.block].bytes.data() : nullptr;
}

void UserColumns::push(const market::Bar& bar, const market::Session& session, Price tick,
                       UserMemory& memory, std::span<float> out) const noexcept {
  const foxhunt_feature_bar shown{.start_ns = count(bar.start),
                                  .span_ns = bar.span.count(),
                                  .open = bar.open.nano,
                                  .high = bar.high.nano,
                                  .low = bar.low.nano,
                                  .close = bar.close.nano,
                                  .volume = bar.volume,
                                  .tick = tick.nano,
                                  .session_open_ns = count(session.open),
                                  .session_close_ns = count(session.close),
                                  .reserved = 0};
  // What a library does not write must not be what it wrote last.
  std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
  for (const Part& part : parts_)
    part.library->table().push(state_of(part, memory), &shown, &out[part.column]);
}

std::string UserColumns::identity() const {
  std::string text;
  for (const Part& part : parts_) {
    text += fmt::format("library = {}, {} bytes of state\n", part.library->id().text(),
                        part.library->table().state_bytes);
  }
  return text;
}

void UserColumns::save(const UserMemory& memory, ByteWriter& to) const {
  to.list(std::span<const std::int64_t>(memory.not_finite));
  for (const Part& part : parts_) {
    const std::size_t size = part.library->table().state_bytes;
    to.value(std::uint64_t{size});
    for (std::size_t at = 0; at < size; at += kBlock) {
      const std::span<const std::byte> block(memory.state[part.block + at / kBlock].bytes);
      to.raw(block.first(std::min(kBlock, size - at)));
    }
  }
}

void UserColumns::restore(ByteReader& from, UserMemory& memory) const {
  memory = new_memory();
  from.list(std::span(memory.not_finite));
  for (const Part& part : parts_) {
    const std::size_t size = part.library->table().state_bytes;
    const auto there = from.value<std::uint64_t>();
    if (there != size) {
      from.fail(fmt::format("a state of {} bytes for library '{}', which has {}", there,
                            part.library->id().name, size));
    }
    for (std::size_t at = 0; at < size; at += kBlock) {
      const auto bytes = from.raw(std::min(kBlock, size - at));
      std::ranges::copy(bytes, memory.state[part.block + at / kBlock].bytes.begin());
    }
  }
}

}  // namespace foxhunt::features
