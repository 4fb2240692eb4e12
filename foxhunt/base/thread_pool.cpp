#include "foxhunt/base/thread_pool.h"

#include <fmt/format.h>

#include <cfenv>
#include <limits>

#include "foxhunt/base/error.h"

namespace foxhunt {

/// One call of run(), on the caller's stack.
struct ThreadPool::Job {
  const std::function<void(std::int64_t, int)>& f;
  std::int64_t tasks;
  std::fenv_t environment;
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::int64_t failed_task = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr error;
};

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) {
    throw ConfigError(
        fmt::format("[thread_pool] threads = {}, but it must be at least 1", threads));
  }
  threads_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int worker = 1; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { serve(worker); });
    }
  } catch (...) {
    stop();  // a std::thread that is not joined ends the program
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(std::int64_t tasks, const std::function<void(std::int64_t, int)>& f) {
  if (tasks < 0) {
    throw ShapeError(fmt::format("[thread_pool] tasks = {}, but it must be at least 0", tasks));
  }
  if (running_.exchange(true, std::memory_order_acquire)) {
    throw Error(ExitCode::kFailure,
                "[thread_pool] run() was called while a run() of the same pool is in progress");
  }
  Job job{.f = f, .tasks = tasks, .environment = {}, .error = nullptr};
  std::fegetenv(&job.environment);
  if (tasks > 1 && !threads_.empty()) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++posted_;
    }
    wake_.notify_all();
  }
  take_tasks(job, 0);
  {
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // a thread that wakes only now finds nothing; nobody waits for it
    idle_.wait(lock, [this] { return helpers_ == 0; });
  }
  running_.store(false, std::memory_order_release);
  if (job.error) std::rethrow_exception(job.error);
}

void ThreadPool::serve(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && posted_ != seen); });
    if (stopping_) return;
    seen = posted_;
    Job& job = *job_;
    ++helpers_;
    lock.unlock();
    std::fesetenv(&job.environment);
    take_tasks(job, worker);
    lock.lock();
    if (--helpers_ == 0) idle_.notify_one();
  }
}

void ThreadPool::take_tasks(Job& job, int worker) noexcept {
  // `failed` is looked at before a task is taken, never between taking and doing it: so each task
  // below one that threw was begun too, and the lowest that throws is always among them.
  while (!job.failed.load(std::memory_order_relaxed)) {
    const std::int64_t task = job.next.fetch_add(1, std::memory_order_relaxed);
    if (task >= job.tasks) return;
    try {
      job.f(task, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      job.failed.store(true, std::memory_order_relaxed);
      if (task < job.failed_task) {
        job.failed_task = task;
        job.error = std::current_exception();
      }
    }
  }
}

}  // namespace foxhunt
