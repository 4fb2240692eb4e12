#include "foxhunt/series/rows_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/number_text.h"

namespace foxhunt::series {

namespace fs = std::filesystem;

RowsFile::RowsFile(fs::path path) : path_(std::move(path)) {
  temporary_ =
      path_.parent_path() / fmt::format(".{}.tmp{}", path_.filename().string(), ::getpid());
  out_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!out_) throw IoError(fmt::format("{}: cannot be created", temporary_.string()));
}

RowsFile::~RowsFile() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void RowsFile::commit() {
  out_.close();
  if (!out_) throw IoError(fmt::format("{}: cannot be written", path_.string()));
  sync_path(temporary_);
  std::error_code failed;
  fs::rename(temporary_, path_, failed);
  if (failed) {
    throw IoError(fmt::format("{}: cannot be put in place: {}", path_.string(), failed.message()));
  }
  temporary_.clear();
}

// With a point even where the number is whole: a column is raw or decimal by its first value.
std::string decimal_text(Price price) { return foxhunt::decimal_text(price, /*keeps_point=*/true); }

}  // namespace foxhunt::series
