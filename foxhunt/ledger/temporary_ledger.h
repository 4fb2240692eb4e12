#pragma once
// For tests: a folder of this process and test that goes away with the object.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace foxhunt::ledger::test {

class Folder {
 public:
  Folder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("foxhunt-ledger-" + std::to_string(::getpid()) + "-" + info->test_suite_name() + "-" +
             info->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace foxhunt::ledger::test
