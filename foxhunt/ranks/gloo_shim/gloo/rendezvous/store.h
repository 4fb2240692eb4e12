#pragma once
#include <chrono>
#include <string>
#include <vector>
namespace gloo::rendezvous {
/// A base for LibTorch's GlooStore; never constructed here.
struct Store {
  virtual ~Store() = default;
  virtual void set(const std::string&, const std::vector<char>&) = 0;
  virtual std::vector<char> get(const std::string&) = 0;
  virtual void wait(const std::vector<std::string>&) = 0;
  virtual void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) = 0;
};
}  // namespace gloo::rendezvous
