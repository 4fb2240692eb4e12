#pragma once
// The sum of gradients over the lanes of all ranks, bucket by bucket, while the backward pass still
// runs.
//
// Every rank adds up the nodes of the lane tree that lie in its lanes, sends each rank its slice of
// them, completes the tree for its own slice and gathers the finished slices: about twice the bytes
// of the parameters a step, like a ring, but in an order of additions that does not depend on the
// number of ranks. A thread of its own does all that, bucket after bucket in a fixed order.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "foxhunt/ranks/lane_tree.h"
#include "foxhunt/ranks/ranks.h"

namespace foxhunt::ranks {

class GradientExchange {
 public:
  /// Gradient of parameter `index` in lane `lane` (of all lanes); null: zeros. Called on the
  /// exchange's thread, for lanes of this rank whose backward pass has gone by the parameter.
  using Gradient = std::function<const float*(std::int64_t lane, std::size_t index)>;
  /// Where the sum of parameter `index` goes.
  using Place = std::function<float*(std::size_t index)>;

  /// `sizes`: elements of each parameter, in the order in which their gradients become ready. A
  /// bucket holds whole parameters, `bucket_bytes` at least (the last one less). The same on all
  /// ranks.
  GradientExchange(Ranks& ranks, std::int64_t lanes, std::vector<std::int64_t> sizes,
                   std::int64_t bucket_bytes, Gradient gradient, Place place);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  std::size_t buckets() const { return buckets_.size(); }
  std::size_t bucket_of(std::size_t index) const { return bucket_of_[index]; }

  /// A step begins, whose batch fills the lanes [0, used). Between start() and finish() nobody else
  /// may use the ranks.
  void start(std::int64_t used);
  /// All lanes of this rank have their gradients for this bucket. From any thread.
  void ready(std::size_t bucket);
  /// Every bucket is ready (again, if need be); returns when all sums are in place. The answer is
  /// the sum of their squares, parameter by parameter in the order of `order` (an index each).
  /// Errors  LostRankError.
  double finish(const std::vector<std::size_t>& order);

  /// Seconds since the beginning: exchanging, and of those, not hidden behind the backward pass.
  double busy_seconds() const { return busy_; }
  double waited_seconds() const { return waited_; }
  /// Bytes this rank sent so far.
  std::int64_t bytes_sent() const { return bytes_; }

 private:
  struct Bucket {
    std::size_t first = 0, end = 0;  ///< parameters
    std::int64_t slice = 0;          ///< elements a rank finishes
  };
  void serve();
  void exchange(const Bucket& bucket);
  void add_own_nodes(const Bucket& bucket);
  void finish_slice(std::int64_t slice);

  Ranks& ranks_;
  std::int64_t lanes_;
  std::vector<std::int64_t> sizes_;
  Gradient gradient_;
  Place place_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;
  std::vector<float> zeros_;

  // Of a step: written by start() while the thread rests.
  std::vector<LaneRange> own_nodes_;
  std::vector<std::int64_t> node_counts_;  ///< of every rank
  std::vector<std::pair<std::size_t, std::size_t>> additions_;
  std::size_t all_nodes_ = 0;

  std::vector<float> send_, receive_, gathered_;
  std::vector<double> squares_;  ///< a parameter
  double busy_ = 0, waited_ = 0;
  std::int64_t bytes_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> ready_;
  std::size_t done_ = 0;  ///< buckets of the step that were exchanged
  bool running_ = false, stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace foxhunt::ranks
