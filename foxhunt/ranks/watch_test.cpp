// Lost ranks are found by their silence. Beats are scaled down; silence is long enough that a busy
// machine is not taken for a lost rank.
#include "foxhunt/ranks/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace foxhunt::ranks {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

struct Memory {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> texts;
  std::atomic<bool> hangs = false;  ///< as a board whose host has no power
};

class MemoryBoard final : public Board {
 public:
  MemoryBoard(std::shared_ptr<Memory> memory, std::shared_ptr<std::atomic<bool>> silent)
      : memory_(std::move(memory)), silent_(std::move(silent)) {}
  void set(const std::string& name, const std::string& text) override {
    hang();
    if (*silent_) return;
    const std::lock_guard lock(memory_->mutex);
    memory_->texts[name] = text;
    memory_->changed.notify_all();
  }
  std::string get(const std::string& name) override {
    hang();
    std::unique_lock lock(memory_->mutex);
    memory_->changed.wait(lock, [&] { return memory_->texts.contains(name); });
    return memory_->texts[name];
  }

 private:
  void hang() const {
    while (memory_->hangs) std::this_thread::sleep_for(milliseconds(1));
  }
  std::shared_ptr<Memory> memory_;
  std::shared_ptr<std::atomic<bool>> silent_;
};

/// A few ranks in this process, with watches that note what they would end the process with.
struct Job {
  explicit Job(int size, milliseconds silence = milliseconds(2000),
               milliseconds beat = milliseconds(20)) {
    for (int r = 0; r < size; ++r) {
      silent.push_back(std::make_shared<std::atomic<bool>>(false));
      said.emplace_back();
      WatchOptions options{.silence = silence, .beat = beat};
      options.lost = [this, r](const std::string& what) {
        const std::lock_guard lock(mutex);
        said[static_cast<std::size_t>(r)] = what;
        changed.notify_all();
      };
      watches.push_back(std::make_unique<Watch>(
          std::make_unique<MemoryBoard>(memory, silent.back()), r, size, options));
    }
  }
  ~Job() { memory->hangs = false; }

  std::string wait_for(std::size_t rank) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return !said[rank].empty(); });
    return said[rank];
  }

  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::vector<std::shared_ptr<std::atomic<bool>>> silent;
  std::vector<std::string> said;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Watch>> watches;
};

TEST(Watch, ASilentRankIsNamedOnAllTheOthers) {
  Job job(3);
  *job.silent[2] = true;
  EXPECT_EQ(job.wait_for(0), "rank 2 of 3 was lost: no sign of life for 2.0 s");
  EXPECT_EQ(job.wait_for(1), "rank 2 of 3 was lost: no sign of life for 2.0 s");
}

TEST(Watch, ASilentFirstRankIsNamedByTheOthers) {
  Job job(3);
  *job.silent[0] = true;
  EXPECT_THAT(job.wait_for(1), HasSubstr("rank 0 of 3 was lost: no sign of life"));
  EXPECT_THAT(job.wait_for(2), HasSubstr("rank 0 of 3 was lost: no sign of life"));
}

TEST(Watch, ABoardThatHangsIsNoticedAllTheSame) {
  Job job(2);
  job.memory->hangs = true;
  EXPECT_THAT(job.wait_for(1),
              HasSubstr("rank 0 of 2 was lost: where the ranks meet nobody answered"));
  EXPECT_THAT(job.wait_for(0), HasSubstr("where the 2 ranks meet nobody answered"));
}

TEST(Watch, NobodyIsMissedWhileAllGiveSignsOfLifeOrAfterTheWorkIsDone) {
  Job job(2);
  std::this_thread::sleep_for(milliseconds(4500));  // twice the silence, as a long validation
  EXPECT_EQ(job.said[0] + job.said[1], "");
  for (auto& watch : job.watches) watch->stop();
  *job.silent[1] = true;
  std::this_thread::sleep_for(milliseconds(3000));
  EXPECT_EQ(job.said[0] + job.said[1], "");
}

TEST(Watch, AnExchangeThatFailedIsExplainedByTheRankThatIsGone) {
  Job job(3, std::chrono::seconds(60), milliseconds(250));
  job.watches[1]->stop();  // as the process was killed
  std::string first, third;
  std::thread other([&] { third = job.watches[2]->explain("connection reset"); });
  first = job.watches[0]->explain("connection closed");
  other.join();
  EXPECT_THAT(first, HasSubstr("rank 1 of 3 was lost: no sign of life"));
  EXPECT_THAT(first, HasSubstr("(connection closed)"));
  EXPECT_EQ(third, first);  // rank 0 knows, and says it to all
  std::this_thread::sleep_for(milliseconds(1500));
  EXPECT_EQ(job.said[0] + job.said[2], "") << "who explains is not ended by the watch as well";
}

TEST(Watch, ARankThatEndsWithAnErrorSaysSoToTheOthers) {
  Job job(2, std::chrono::seconds(60));
  std::string said;
  std::thread other([&] { said = job.watches[0]->explain("connection closed"); });
  job.watches[1]->tell("disk full");
  job.watches[1]->stop();
  other.join();
  EXPECT_EQ(said, "rank 1 of 2 ended: disk full");
}

}  // namespace
}  // namespace foxhunt::ranks
