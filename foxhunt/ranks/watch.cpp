#include "foxhunt/ranks/watch.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace foxhunt::ranks {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kVerdict = "verdict";

std::string beat_of(int rank) { return fmt::format("beat/{}", rank); }

}  // namespace

struct Watch::State {
  std::unique_ptr<Board> board;
  int rank, size;
  WatchOptions options;

  std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  bool stopped = false;
  bool explaining = false;
  std::string to_tell;
  std::string verdict;                              ///< on the board
  std::vector<std::string> beats;                   ///< last one seen of each watched rank
  std::vector<steady_clock::time_point> beat_seen;  ///< when it was new
  steady_clock::time_point board_seen = steady_clock::now();
  bool verdict_set = false;  ///< by this rank, on the board
  int threads = 2;

  State(std::unique_ptr<Board> b, int r, int s, WatchOptions o)
      : board(std::move(b)), rank(r), size(s), options(std::move(o)) {
    beats.resize(static_cast<std::size_t>(size));
    beat_seen.assign(static_cast<std::size_t>(size), steady_clock::now());
  }

  /// Rank 0 watches all, the others rank 0: the board is asked a few times a second a rank.
  bool watches(int other) const { return other != rank && (rank == 0 || other == 0); }

  std::string lost(int other, std::string_view why) const {
    return fmt::format("rank {} of {} was lost: {}", other, size, why);
  }

  /// Silent for `limit`: the verdict, else "".
  std::string judge(milliseconds limit, std::string_view more) const {
    const auto now = steady_clock::now();
    const auto text = [&](std::string_view what) {
      return fmt::format("{} for {:.1f} s{}", what, std::chrono::duration<double>(limit).count(),
                         more);
    };
    if (now - board_seen > limit) {
      if (rank != 0) return lost(0, text("where the ranks meet nobody answered"));
      return fmt::format("where the {} ranks meet {}", size, text("nobody answered"));
    }
    for (int other = 0; other < size; ++other) {
      if (watches(other) && now - beat_seen[static_cast<std::size_t>(other)] > limit)
        return lost(other, text("no sign of life"));
    }
    return {};
  }

  /// One round with the board. It can hang: the lock is not held meanwhile.
  void round(std::int64_t number) {
    board->set(beat_of(rank), fmt::format("{}", number));
    const std::string found = board->get(kVerdict);
    std::vector<std::string> now(beats.size());
    for (int other = 0; other < size; ++other) {
      if (watches(other)) now[static_cast<std::size_t>(other)] = board->get(beat_of(other));
    }
    std::string tell;
    {
      const std::lock_guard lock(mutex);
      board_seen = steady_clock::now();
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i] == beats[i]) continue;
        beats[i] = now[i];
        beat_seen[i] = board_seen;
      }
      if (verdict.empty()) verdict = found;
      if (found.empty()) tell = !to_tell.empty() ? to_tell : verdict;
    }
    if (!tell.empty()) {
      board->set(kVerdict, tell);
      const std::lock_guard lock(mutex);
      verdict = tell;
      verdict_set = true;
    }
    changed.notify_all();
  }

  void beat() {
    std::unique_lock lock(mutex);
    for (std::int64_t number = 1; !stopped; ++number) {
      lock.unlock();
      try {
        round(number);
      } catch (const std::exception&) {  // the board is gone: judge() sees by its age
      }
      lock.lock();
      const auto wake = [this] { return stopped || (!to_tell.empty() && verdict.empty()); };
      changed.wait_for(lock, explaining ? options.beat / 5 : options.beat, wake);
    }
  }

  void look() {
    std::unique_lock lock(mutex);
    while (!stopped && !explaining) {
      std::string found = verdict;
      if (found.empty()) found = judge(options.silence, "");
      if (!found.empty() && to_tell.empty()) {
        if (verdict.empty()) to_tell = found;
        changed.notify_all();
        // The others read it on the board within a second; whoever serves the board stays so long.
        changed.wait_for(lock, options.host_of_board ? 3 * options.beat : options.beat,
                         [this] { return stopped || explaining; });
        if (stopped || explaining) return;
        lock.unlock();
        if (options.lost) options.lost(found);
        return;
      }
      changed.wait_for(lock, options.beat / 5);
    }
  }
};

Watch::Watch(std::unique_ptr<Board> board, int rank, int size, WatchOptions options)
    : state_(std::make_shared<State>(std::move(board), rank, size, std::move(options))) {
  state_->board->set(beat_of(rank), "0");
  if (rank == 0) state_->board->set(kVerdict, "");
  // Detached, as a board that does not answer must not keep a process from ending.
  const auto run = [this](void (State::*work)()) {
    std::thread([state = state_, work] {
      (*state.*work)();
      const std::lock_guard lock(state->mutex);
      --state->threads;
      state->changed.notify_all();
    }).detach();
  };
  run(&State::beat);
  run(&State::look);
}

Watch::~Watch() {
  stop();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, state_->options.beat, [this] { return state_->threads == 0; });
}

void Watch::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

std::string Watch::explain(const std::string& what) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.explaining = true;
  s.changed.notify_all();
  const auto limit = 3 * s.options.beat;
  const auto give_up = steady_clock::now() + 3 * limit;
  while (s.verdict.empty() && steady_clock::now() < give_up) {
    const std::string found = s.judge(limit, fmt::format(" ({})", what));
    if (!found.empty()) {
      if (s.to_tell.empty()) s.to_tell = found;
      s.changed.notify_all();
      if (s.rank != 0) {
        s.verdict = found;
        break;
      }
    }
    s.changed.wait_for(lock, s.options.beat / 10);
  }
  if (s.options.host_of_board && s.verdict_set) {  // long enough for the others to read it
    s.changed.wait_for(lock, 2 * s.options.beat, [] { return false; });
  }
  return !s.verdict.empty() ? s.verdict : fmt::format("one of {} ranks was lost: {}", s.size, what);
}

void Watch::tell(const std::string& why) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.explaining = true;  // what happens to the others now is this rank's doing
  if (s.to_tell.empty()) s.to_tell = fmt::format("rank {} of {} ended: {}", s.rank, s.size, why);
  s.changed.notify_all();
  const auto wait = s.options.host_of_board ? 3 * s.options.beat : 2 * s.options.beat;
  s.changed.wait_for(lock, wait, [&s] { return !s.verdict.empty(); });
  if (s.options.host_of_board) s.changed.wait_for(lock, 2 * s.options.beat, [] { return false; });
}

}  // namespace foxhunt::ranks
