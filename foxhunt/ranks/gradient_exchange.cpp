#include "foxhunt/ranks/gradient_exchange.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::ranks {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

/// Slices begin on cache lines.
constexpr std::int64_t kAlign = 16;
/// Elements whose tree is completed at once: all nodes of them stay in the cache.
constexpr std::int64_t kPiece = 4096;

double seconds_since(steady_clock::time_point start) {
  return duration<double>(steady_clock::now() - start).count();
}

std::size_t as_size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

GradientExchange::GradientExchange(Ranks& ranks, std::int64_t lanes,
                                   std::vector<std::int64_t> sizes, std::int64_t bucket_bytes,
                                   Gradient gradient, Place place)
    : ranks_(ranks),
      lanes_(lanes),
      sizes_(std::move(sizes)),
      gradient_(std::move(gradient)),
      place_(std::move(place)),
      squares_(sizes_.size()) {
  const std::int64_t size = ranks_.size();
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (elements == 0) buckets_.push_back({.first = i, .end = i, .slice = 0});
    bucket_of_.push_back(buckets_.size() - 1);
    elements += sizes_[i];
    Bucket& bucket = buckets_.back();
    bucket.end = i + 1;
    bucket.slice = ((elements + size - 1) / size + kAlign - 1) / kAlign * kAlign;
    if (elements * static_cast<std::int64_t>(sizeof(float)) >= bucket_bytes) elements = 0;
  }
  zeros_.resize(as_size(sizes_.empty() ? 0 : std::ranges::max(sizes_)));
  ready_.resize(buckets_.size());
  thread_ = std::thread([this] { serve(); });
}

GradientExchange::~GradientExchange() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GradientExchange::start(std::int64_t used) {
  std::vector<LaneRange> all;
  node_counts_.clear();
  for (int r = 0; r < ranks_.size(); ++r) {
    LaneRange range = lanes_of(r, ranks_.size(), lanes_);
    range = {std::min(range.begin, used), std::min(range.end, used)};
    const std::vector<LaneRange> nodes = nodes_of(range, used);
    if (r == ranks_.rank()) own_nodes_ = nodes;
    node_counts_.push_back(static_cast<std::int64_t>(nodes.size()));
    all.insert(all.end(), nodes.begin(), nodes.end());
  }
  additions_ = additions(all, used);
  all_nodes_ = all.size();
  const std::lock_guard lock(mutex_);
  std::ranges::fill(ready_, 0);
  done_ = 0;
  error_ = nullptr;
  running_ = true;
}

void GradientExchange::ready(std::size_t bucket) {
  {
    const std::lock_guard lock(mutex_);
    ready_[bucket] = 1;
  }
  changed_.notify_all();
}

double GradientExchange::finish(const std::vector<std::size_t>& order) {
  const auto start = steady_clock::now();
  std::unique_lock lock(mutex_);
  std::ranges::fill(ready_, 1);
  changed_.notify_all();
  changed_.wait(lock, [this] { return done_ == buckets_.size() || error_; });
  running_ = false;
  waited_ += seconds_since(start);
  if (error_) std::rethrow_exception(error_);
  double squares = 0;
  for (const std::size_t index : order) squares += squares_[index];
  return squares;
}

void GradientExchange::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] {
      return stop_ || (running_ && !error_ && done_ < buckets_.size() && ready_[done_] != 0);
    });
    if (stop_) return;
    const Bucket& bucket = buckets_[done_];
    lock.unlock();
    const auto start = steady_clock::now();
    std::exception_ptr error;
    try {
      exchange(bucket);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_ += seconds_since(start);
    error_ = error;
    if (!error) ++done_;
    changed_.notify_all();
  }
}

/// send_ [rank][own node][slice]: sums of this rank's nodes, cut into the ranks' slices.
void GradientExchange::add_own_nodes(const Bucket& bucket) {
  const auto& table = kernels::default_kernels<float>();
  const std::int64_t slice = bucket.slice;
  const auto nodes = static_cast<std::int64_t>(own_nodes_.size());
  send_.resize(as_size(ranks_.size() * nodes * slice));
  std::vector<const float*> lanes;
  std::vector<const float*> moved;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const LaneRange range = own_nodes_[as_size(node)];
    const auto place_of = [&](std::int64_t element) {
      return send_.data() + (element / slice * nodes + node) * slice + element % slice;
    };
    std::int64_t at = 0;  // element of the bucket
    for (std::size_t i = bucket.first; i < bucket.end; ++i) {
      lanes.clear();
      for (std::int64_t lane = range.begin; lane < range.end; ++lane) {
        const float* gradient = gradient_(lane, i);
        lanes.push_back(gradient != nullptr ? gradient : zeros_.data());
      }
      for (std::int64_t from = 0; from < sizes_[i];) {
        const std::int64_t count = std::min(sizes_[i] - from, slice - (at + from) % slice);
        moved.clear();
        for (const float* lane : lanes) moved.push_back(lane + from);
        table.sum_parts(count, range.size(), moved.data(), place_of(at + from));
        from += count;
      }
      at += sizes_[i];
    }
    for (; at < slice * ranks_.size(); ++at) *place_of(at) = 0.0F;
  }
}

/// receive_ [node][slice] -> the root's sum in front.
void GradientExchange::finish_slice(std::int64_t slice) {
  const auto& table = kernels::default_kernels<float>();
  for (std::int64_t from = 0; from < slice; from += kPiece) {
    const std::int64_t count = std::min(kPiece, slice - from);
    for (const auto& [into, other] : additions_) {
      float* sum = receive_.data() + static_cast<std::int64_t>(into) * slice + from;
      const float* parts[] = {sum,
                              receive_.data() + static_cast<std::int64_t>(other) * slice + from};
      table.sum_parts(count, 2, parts, sum);
    }
  }
}

void GradientExchange::exchange(const Bucket& bucket) {
  const auto& table = kernels::default_kernels<float>();
  const std::int64_t slice = bucket.slice;
  const int size = ranks_.size();
  add_own_nodes(bucket);
  receive_.resize(all_nodes_ * as_size(slice));
  std::vector<std::int64_t> sent(as_size(size),
                                 static_cast<std::int64_t>(own_nodes_.size()) * slice);
  std::vector<std::int64_t> received;
  for (const std::int64_t count : node_counts_) received.push_back(count * slice);
  ranks_.all_to_all(send_, sent, receive_, received);
  finish_slice(slice);
  gathered_.resize(as_size(size * slice));
  ranks_.all_gather(std::span(receive_).first(as_size(slice)), gathered_);
  bytes_ += static_cast<std::int64_t>(sizeof(float)) * (size - 1) *
            (static_cast<std::int64_t>(own_nodes_.size()) + 1) * slice;
  const float* from = gathered_.data();
  for (std::size_t i = bucket.first; i < bucket.end; ++i) {
    squares_[i] = table.sum_parts(sizes_[i], 1, &from, place_(i));
    from += sizes_[i];
  }
}

}  // namespace foxhunt::ranks
