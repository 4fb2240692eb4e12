#include "foxhunt/ranks/file_board.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {

FileBoard::FileBoard(std::filesystem::path folder, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), patience_(patience) {
  std::filesystem::create_directories(folder_);
}

std::filesystem::path FileBoard::file_of(std::string name) const {
  std::ranges::replace(name, '/', '-');
  return folder_ / name;
}

void FileBoard::set(const std::string& name, const std::string& text) {
  const std::filesystem::path file = file_of(name);
  const std::string temporary = fmt::format("{}.{}.new", file.string(), ::getpid());
  std::ofstream out(temporary);
  out << text;
  out.close();
  if (!out) throw IoError(fmt::format("{}: cannot be written", temporary));
  std::filesystem::rename(temporary, file);
}

std::string FileBoard::get(const std::string& name) {
  const auto give_up = std::chrono::steady_clock::now() + patience_;
  while (true) {
    std::ifstream in(file_of(name));
    if (in) {
      std::ostringstream text;
      text << in.rdbuf();
      return text.str();
    }
    if (std::chrono::steady_clock::now() > give_up)
      throw IoError(fmt::format("{}: was never written", file_of(name).string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace foxhunt::ranks
