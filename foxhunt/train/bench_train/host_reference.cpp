#include "foxhunt/train/bench_train/host_reference.h"

#include <cstring>

#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::train {

HostReference::HostReference(int threads) : pool_(threads) {
  constexpr auto kElements = static_cast<std::size_t>(kSide * kSide);
  for (int i = 0; i < threads; ++i) {
    rooms_.push_back({.a = std::vector<float>(kElements, 0.5F),
                      .b = std::vector<float>(kElements, 0.25F),
                      .c = std::vector<float>(kElements, 1.0F),
                      .from = std::vector<char>(kBytes, 1),
                      .to = std::vector<char>(kBytes, 2)});
  }
}

void HostReference::piece(Room& room, std::int64_t index) {
  kernels::default_kernels<float>().gemm({.m = kSide,
                                          .n = kSide,
                                          .depth = kSide,
                                          .a = room.a.data(),
                                          .a_row = kSide,
                                          .a_col = 1,
                                          .b = room.b.data(),
                                          .b_row = kSide,
                                          .c = room.c.data(),
                                          .c_row = kSide,
                                          .accumulate = false});
  constexpr auto kShare = static_cast<std::size_t>(kBytes / kPieces);
  const std::size_t from = kShare * static_cast<std::size_t>(index % kPieces);
  std::memcpy(room.to.data() + from, room.from.data() + from, kShare);
}

void HostReference::run_one() {
  for (std::int64_t i = 0; i < kPieces; ++i) piece(rooms_.front(), i);
}

void HostReference::run_all() {
  pool_.run(kPieces * threads(), [this](std::int64_t task, int worker) {
    piece(rooms_[static_cast<std::size_t>(worker)], task);
  });
}

}  // namespace foxhunt::train
