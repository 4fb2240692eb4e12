#pragma once
// A text file that is written line by line and appears whole or not at all.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "foxhunt/base/price.h"

namespace foxhunt::series {

class RowsFile {
 public:
  /// Errors  IoError where the folder cannot be written.
  explicit RowsFile(std::filesystem::path path);
  ~RowsFile();  ///< without commit() an earlier file stays as it was
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;

  void line(std::string_view text) { out_ << text << '\n'; }
  /// Errors  IoError (disk full).
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::ofstream out_;
};

/// "4321.25", "4321.0": exact, with one decimal at least; "" for null.
std::string decimal_text(Price price);

}  // namespace foxhunt::series
