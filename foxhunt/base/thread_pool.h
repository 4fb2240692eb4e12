#pragma once
// A fixed number of threads that live as long as the pool and share out numbered tasks.
//
// Which thread takes which task is left to chance. A caller who wants the same bits from any number
// of threads cuts the work into tasks by an argument, never by size(), and lets no two tasks write
// to one place.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace foxhunt {

class ThreadPool {
 public:
  /// `threads` counts the caller of run(): a pool of 1 starts no thread.
  /// Errors  ConfigError for threads < 1; std::system_error where no more threads can be had.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// No run() may be in progress.
  ~ThreadPool();

  int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }

  /// Calls f(task, worker) once for each task in [0, tasks) and returns when all have ended. Tasks
  /// are begun in increasing order, each by the next thread that is free. `worker` in [0, size())
  /// is that thread, 0 the caller: an index for scratch memory of its own.
  ///
  /// What was written before the call is seen by every task, what tasks wrote by the caller
  /// afterwards. All tasks compute in the caller's floating-point environment (rounding, flush to
  /// zero), so that numbers do not depend on the thread. Thread-local settings of libraries, such
  /// as Torch's grad mode, are not carried over.
  ///
  /// Errors  a task that throws keeps later ones from beginning. run() rethrows the exception of
  ///         the lowest task that threw, the same one for any number of threads, after all threads
  ///         left `f`; the pool stays usable. ShapeError for tasks < 0. Error where a run() of this
  ///         pool is in progress: from inside a task or from a second thread.
  /// Cost    two locks and a wake-up call, not waited for: the caller works while the others come,
  ///         and does not wait for one that came too late. A task costs one atomic addition. One
  ///         task, or a pool of one, wakes nobody. Allocates nothing.
  void run(std::int64_t tasks, const std::function<void(std::int64_t task, int worker)>& f);

 private:
  struct Job;
  void serve(int worker);
  void take_tasks(Job& job, int worker) noexcept;
  void stop() noexcept;

  std::atomic<bool> running_ = false;
  std::mutex mutex_;              ///< guards what follows, and Job::error
  std::condition_variable wake_;  ///< a job was posted, or stopping_
  std::condition_variable idle_;  ///< helpers_ fell to 0
  Job* job_ = nullptr;            ///< null while there is nothing to join
  std::uint64_t posted_ = 0;      ///< jobs so far: a thread joins each at most once
  int helpers_ = 0;               ///< threads inside job_, the caller not counted
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace foxhunt
