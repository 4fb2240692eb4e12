#pragma once
// A program that answers a line for every line it is given, for benchmarks beside others.

#include <string>
#include <vector>

namespace foxhunt::columns {

class PeerProcess {
 public:
  /// Starts `command`, which inherits the cores that this thread may run on.
  /// Errors  UsageError: it cannot be started.
  explicit PeerProcess(const std::vector<std::string>& command);
  /// Closes its input and waits for its end.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// The answer to one line, without its newline. Errors  UsageError: the program ended.
  std::string ask(const std::string& line);

 private:
  std::string name_;
  int to_ = -1;
  int from_ = -1;
  int pid_ = -1;
};

}  // namespace foxhunt::columns
