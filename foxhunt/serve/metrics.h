#pragma once
// The counters as Prometheus text, and a page that shows it on this machine alone.
//
// A page of own code instead of an HTTP library: one thread, one request at a time, bounded bytes
// and seconds, nothing that the serving thread waits for.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "foxhunt/serve/counters.h"

namespace foxhunt::serve {

/// What does not change while a model is served.
struct MetricsInfo {
  std::string model;  ///< engine::Plan::model_id()
  std::string product{};
  std::string weights{};  ///< "fp32"
  std::string kernels{};
  std::string version{};  ///< of this program
};

/// Text format 0.0.4. `now` is the wall clock in ns, for ages.
std::string metrics_text(const Counters& counters, const MetricsInfo& info, std::int64_t now);

class MetricsPage {
 public:
  /// Listens on 127.0.0.1; port 0: any free one. Answers GET /metrics with page(). The thread takes
  /// no signals. Errors  IoError: the port is taken.
  MetricsPage(std::uint16_t port, std::function<std::string()> page);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  void run();
  void answer(int fd) const;

  std::function<std::string()> page_;
  int listener_ = -1;
  int stop_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace foxhunt::serve
