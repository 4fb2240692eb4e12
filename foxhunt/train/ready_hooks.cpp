#include "foxhunt/train/ready_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace foxhunt::train {
namespace {

// Autograd works a graph of the CPU on the thread that called backward(). Were it another one, the
// bucket would go out at the end of the step instead: later, but the same bits.
thread_local bool last_round = false;

}  // namespace

LastRound::LastRound(bool is_last) { last_round = is_last; }
LastRound::~LastRound() { last_round = false; }

struct ReadyHooks::Hook final : torch::autograd::PostAccumulateGradHook {
  Hook(ReadyHooks& o, std::size_t b) : owner(o), bucket(b) {}
  void operator()(const at::Tensor& /*parameter*/) override {
    if (!last_round) return;
    if (owner.missing_[bucket].fetch_sub(1) == 1) owner.exchange_.ready(bucket);
  }
  ReadyHooks& owner;
  std::size_t bucket;
};

ReadyHooks::ReadyHooks(ranks::GradientExchange& exchange,
                       std::vector<std::vector<at::Tensor>> lanes)
    : exchange_(exchange),
      lanes_(std::move(lanes)),
      parameters_(exchange.buckets(), 0),
      missing_(exchange.buckets()) {
  for (std::size_t i = 0; i < lanes_.at(0).size(); ++i) {
    const std::size_t bucket = exchange_.bucket_of(i);
    ++parameters_[bucket];
    for (const std::vector<at::Tensor>& lane : lanes_)
      torch::autograd::impl::set_post_acc_grad_hooks(lane[i],
                                                     std::make_unique<Hook>(*this, bucket));
  }
}

ReadyHooks::~ReadyHooks() {
  for (const std::vector<at::Tensor>& lane : lanes_) {
    for (const at::Tensor& parameter : lane)
      torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

void ReadyHooks::start(std::int64_t lanes) {
  for (std::size_t b = 0; b < missing_.size(); ++b) missing_[b] = lanes * parameters_[b];
}

}  // namespace foxhunt::train
