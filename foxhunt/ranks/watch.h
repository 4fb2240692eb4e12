#pragma once
// Notices ranks that died or fell silent, whatever this rank is doing meanwhile: a sign of life a
// second on a board that all ranks can read.
//
// A process that dies closes its connections, and the next exchange fails at once; but a host that
// lost power, a cut network or a stopped process close nothing. A long validation or a slow disk
// must not look like that, so exchanges wait for as long as it takes and the watch alone decides.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace foxhunt::ranks {

/// Texts by name that every rank can set and get; any thread of one rank at a time.
class Board {
 public:
  virtual ~Board() = default;
  virtual void set(const std::string& name, const std::string& text) = 0;
  /// Of a name that was set. Errors  any exception: the board cannot be reached.
  virtual std::string get(const std::string& name) = 0;
};

struct WatchOptions {
  std::chrono::milliseconds silence{20'000};  ///< after which a rank counts as lost
  std::chrono::milliseconds beat{1'000};      ///< between signs of life
  bool host_of_board = false;                 ///< this process serves the board
  /// Called once, on a thread of the watch, with "rank 1 of 2 was lost: ..."; usually ends the
  /// process, as the main thread may wait for the lost rank for ever.
  std::function<void(const std::string&)> lost{};
};

class Watch {
 public:
  /// Collective: returns at once, but get() of the board must wait for a name to be set until all
  /// ranks have come here.
  Watch(std::unique_ptr<Board> board, int rank, int size, WatchOptions options);
  /// Stops the signs of life. A thread that hangs in the board is left behind.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// An exchange failed with `what`: says which rank is to blame, once that is known (a few
  /// seconds). From then on lost() is not called.
  std::string explain(const std::string& what);
  /// Tells the others why this rank ends, before it does.
  void tell(const std::string& why);
  /// From now on nobody is missed: the work is done.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace foxhunt::ranks
