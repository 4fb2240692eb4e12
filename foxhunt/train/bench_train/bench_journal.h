#pragma once
// What a training benchmark has measured, one line a visit, so that one that was cut off goes on.
// Torch-free.

#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/train/bench_train/bench_case.h"

namespace foxhunt::train {

/// A text file of JSON lines: what was measured (machine, binary, settings), then one line a visit
/// or case that was left out. A kill loses the line that was being written, and no other.
class BenchJournal {
 public:
  /// Takes over the whole lines of a file that begins with `identity` and cuts off what follows
  /// them. Another file there is renamed to NAME.old and a new one begun; `fresh`: even so.
  /// Errors  IoError naming the file and the reason.
  BenchJournal(std::filesystem::path path, const std::string& identity, bool fresh);

  /// Puts what was measured earlier into the records of the same keys; how many visits.
  std::int64_t restore(std::vector<CaseRecord>& records) const;
  const std::string& replaced() const { return replaced_; }  ///< why an old file went; "" none

  /// The last visit of the record. Durable when it returns. Errors  IoError.
  void add_visit(const CaseRecord& record);
  void add_left_out(const CaseRecord& record);

 private:
  void append(const std::string& line);

  std::filesystem::path path_;
  std::string replaced_;
  std::vector<std::string> lines_;  ///< without the first
};

}  // namespace foxhunt::train
