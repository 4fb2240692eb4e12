#include "foxhunt/ranks/local_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace foxhunt::ranks {
namespace {

/// Where the threads meet: everybody shows what it offers, reads the others', and leaves.
struct Meeting {
  explicit Meeting(int count) : size(count), offers(static_cast<std::size_t>(count)) {}
  struct Offer {
    const void* data = nullptr;
    std::size_t size = 0;
    const std::int64_t* counts = nullptr;
  };
  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Offer> offers;
  int arrived = 0;
  int left = 0;
  int gone = -1;  ///< a rank that was destroyed
  bool broken = false;
};

class LocalRank final : public Ranks {
 public:
  LocalRank(std::shared_ptr<Meeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(rank) {}
  ~LocalRank() override {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->gone = rank_;
    meeting_->changed.notify_all();
  }

  int rank() const override { return rank_; }
  int size() const override { return meeting_->size; }

  void all_to_all(std::span<const float> send, std::span<const std::int64_t> send_counts,
                  std::span<float> receive, std::span<const std::int64_t> receive_counts) override {
    meet({send.data(), send.size(), send_counts.data()}, [&](const auto& offers) {
      float* to = receive.data();
      for (std::size_t q = 0; q < offers.size(); ++q) {
        const auto* from = static_cast<const float*>(offers[q].data);
        for (int p = 0; p < rank_; ++p) from += offers[q].counts[p];
        to = std::copy_n(from, receive_counts[q], to);
      }
    });
  }

  void all_gather(std::span<const float> mine, std::span<float> all) override {
    meet({mine.data(), mine.size(), nullptr}, [&](const auto& offers) {
      float* to = all.data();
      for (const auto& offer : offers)
        to = std::copy_n(static_cast<const float*>(offer.data), offer.size, to);
    });
  }

  std::vector<std::string> gather(std::string_view mine) override {
    std::vector<std::string> all;
    meet({mine.data(), mine.size(), nullptr}, [&](const auto& offers) {
      for (const auto& offer : offers)
        all.emplace_back(static_cast<const char*>(offer.data), offer.size);
    });
    return all;
  }

 private:
  void meet(const Meeting::Offer& mine,
            const std::function<void(const std::vector<Meeting::Offer>&)>& read) {
    Meeting& m = *meeting_;
    std::unique_lock lock(m.mutex);
    const auto wait = [&](const std::function<bool()>& done) {
      m.changed.wait(lock, [&] { return m.broken || done() || m.gone >= 0; });
      if (!m.broken && done()) return;
      m.broken = true;  // whoever comes later finds nobody, either
      m.changed.notify_all();
      throw LostRankError(
          fmt::format("[ranks] rank {} of {} was lost{}", m.gone, m.size, advice()));
    };
    wait([&] { return m.left == 0; });
    m.offers[static_cast<std::size_t>(rank_)] = mine;
    ++m.arrived;
    m.changed.notify_all();
    wait([&] { return m.arrived == m.size; });
    read(m.offers);
    if (++m.left == m.size) m.arrived = m.left = 0;
    m.changed.notify_all();
    wait([&] { return m.left == 0; });  // what was offered may go only when all have read it
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

}  // namespace

std::vector<std::unique_ptr<Ranks>> local_ranks(int size) {
  const auto meeting = std::make_shared<Meeting>(size);
  std::vector<std::unique_ptr<Ranks>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(std::make_unique<LocalRank>(meeting, r));
  return ranks;
}

}  // namespace foxhunt::ranks
