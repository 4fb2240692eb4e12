#pragma once
// Records in memory as a reader hands them out: what a proof changed goes the way that a file goes.

#include <span>

#include "foxhunt/market/reader.h"

namespace foxhunt::proofs {

/// Says nothing about symbols, so every record is one of the product. Lifetime  that of `records`.
template <class Record>
class MemoryReader final : public market::Reader {
 public:
  explicit MemoryReader(std::span<const Record> records) : records_(records) {}

  const market::StreamInfo& info() const override { return info_; }
  const market::ReadStats& stats() const override { return stats_; }
  const market::Record* next() override {
    if (stats_.records == static_cast<std::int64_t>(records_.size())) return nullptr;
    record_ = records_[static_cast<std::size_t>(stats_.records++)];
    return &record_;
  }

 private:
  std::span<const Record> records_;
  market::StreamInfo info_{};
  market::ReadStats stats_{};
  market::Record record_{};
};

}  // namespace foxhunt::proofs
