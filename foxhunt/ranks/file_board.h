#pragma once
// A board that is a folder, a file a name: for ranks of one host.

#include <chrono>
#include <filesystem>

#include "foxhunt/ranks/watch.h"

namespace foxhunt::ranks {

class FileBoard final : public Board {
 public:
  /// Creates the folder. get() waits up to `patience` for a name to be set.
  FileBoard(std::filesystem::path folder, std::chrono::milliseconds patience);
  void set(const std::string& name, const std::string& text) override;
  std::string get(const std::string& name) override;

 private:
  std::filesystem::path file_of(std::string name) const;
  std::filesystem::path folder_;
  std::chrono::milliseconds patience_;
};

}  // namespace foxhunt::ranks
