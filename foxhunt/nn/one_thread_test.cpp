// Every test of this program runs on one thread: small tensors gain nothing from more, and the
// threads of tests that run side by side would wait for each other.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace foxhunt::nn {
namespace {

struct OneThread : testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};

const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
}  // namespace foxhunt::nn
