#pragma once
// The columns of a user's libraries inside of a pipeline, and what they remember. Inside of the
// room only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/feature_library.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/record.h"

namespace foxhunt::features {

/// What the host keeps for the libraries of one stream.
struct UserMemory {
  struct alignas(64) Block {
    std::array<std::byte, 64> bytes;
  };
  std::vector<Block> state{};              ///< of all libraries, each from the start of a block on
  std::vector<std::int64_t> not_finite{};  ///< [columns] rows that a column spoiled

  void forget() noexcept;  ///< a sequence starts
  void reset() noexcept;
};

class UserColumns {
 public:
  UserColumns() = default;
  /// Errors  as FeatureLibrary::open.
  explicit UserColumns(const std::vector<std::string>& plugins);

  bool empty() const noexcept { return parts_.empty(); }
  std::size_t width() const noexcept { return width_; }
  std::vector<Column> columns() const;
  UserMemory new_memory() const;
  void load_anew();

  /// Every library takes the bar; `out` [width] holds a value for each column. No allocation.
  void push(const market::Bar& bar, const market::Session& session, Price tick, UserMemory& memory,
            std::span<float> out) const noexcept;

  /// What a state is of, a line a library.
  std::string identity() const;
  void save(const UserMemory& memory, ByteWriter& to) const;
  /// Errors  FormatError: another size.
  void restore(ByteReader& from, UserMemory& memory) const;

 private:
  struct Part {
    std::shared_ptr<const FeatureLibrary> library;
    std::size_t block = 0;   ///< first of its state
    std::size_t column = 0;  ///< first of its columns
  };
  static std::byte* state_of(const Part& part, UserMemory& memory) noexcept;

  std::vector<Part> parts_{};
  std::size_t blocks_ = 0;
  std::size_t width_ = 0;
};

}  // namespace foxhunt::features
