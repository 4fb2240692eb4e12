#pragma once
// A shared library with a user's columns (foxhunt_features.h), found, checked and loaded.
//
// What is loaded are the bytes that were hashed: they are read once, kept in memory and loaded from
// there, so that a file that is replaced meanwhile changes nothing. The same bytes are loaded once
// in a process, however many streams use them, and stay as long as one does.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "foxhunt/features/foxhunt_features.h"
#include "foxhunt/features/schema.h"

namespace foxhunt::features {

class FeatureLibrary {
 public:
  /// The library that a configuration names, found as find_feature_library() does.
  /// Errors  ConfigError naming the file and the rule: not there, no shared library, no
  ///         foxhunt_features_v1, another abi, a table that check_feature_table() refuses.
  /// Cost    the file is read and hashed each time, loaded the first time.
  static std::shared_ptr<const FeatureLibrary> open(const std::string& configured);

  /// The same bytes loaded a second time: variables of the library start anew, as in another
  /// process.
  std::shared_ptr<const FeatureLibrary> loaded_anew() const;

  const foxhunt_features& table() const noexcept { return *table_; }
  const Library& id() const noexcept { return id_; }
  /// Its columns, as a schema lists them.
  std::vector<Column> columns() const;

  ~FeatureLibrary();
  FeatureLibrary(const FeatureLibrary&) = delete;
  FeatureLibrary& operator=(const FeatureLibrary&) = delete;

 private:
  struct Image;  ///< the bytes as they are loaded
  FeatureLibrary(std::string file, std::string sha256, const std::string& bytes);

  std::string file_;  ///< for messages
  std::unique_ptr<Image> image_;
  const foxhunt_features* table_ = nullptr;
  Library id_;
};

/// `configured` where there is such a file; else a file of its name in the first folder of the
/// environment variable FOXHUNT_PLUGINS (separated by colons) that has one.
/// Errors  ConfigError naming the file and the folders.
std::filesystem::path find_feature_library(const std::string& configured);

/// Holds a table to the rules of foxhunt_features.h. Errors  ConfigError naming `file`, the place
/// and the rule.
void check_feature_table(const foxhunt_features* table, const std::string& file);

/// That the files named in `plugins` hold the bytes that a schema's columns were made with: so that
/// no others are ever loaded to serve. Reads them; loads nothing.
/// Errors  ConfigError: a file is not there. DataError naming the file and both hashes.
void require_libraries(const std::vector<std::string>& plugins, const Schema& made_with);

}  // namespace foxhunt::features
