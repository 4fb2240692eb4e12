#include "foxhunt/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace foxhunt {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kRedraw{100};
constexpr seconds kPlainEvery{5};
constexpr int kBarWidth = 24;

Progress* current = nullptr;  // the bar that is on the terminal

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
}

}  // namespace

Progress::Progress(ProgressMode mode, std::string title, std::string unit, std::int64_t total)
    : terminal_(mode == ProgressMode::kAuto && ::isatty(STDERR_FILENO) == 1),
      off_(mode == ProgressMode::kOff),
      title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      start_(steady_clock::now()),
      drawn_(terminal_ ? steady_clock::time_point{} : start_) {
  if (terminal_) current = this;
}

Progress::~Progress() {
  erase();
  if (current == this) current = nullptr;
}

std::string Progress::line(bool with_bar) const {
  const double elapsed = duration<double>(steady_clock::now() - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  std::string text = title_;
  if (with_bar && total_ > 0) {
    const auto filled = static_cast<int>(kBarWidth * std::min(done_, total_) / total_);
    text += fmt::format("  [{:#<{}}{:.<{}}]", "", filled, "", kBarWidth - filled);
  }
  text += total_ > 0 ? fmt::format("  {}/{}", done_, total_) : fmt::format("  {}", done_);
  text += fmt::format("  {:.0f} {}/s", rate, unit_);
  if (total_ > done_ && rate > 0) {
    text += "  ETA " + format_duration(static_cast<double>(total_ - done_) / rate);
  } else {
    text += "  in " + format_duration(elapsed);
  }
  return note_.empty() ? text : text + "  " + note_;
}

void Progress::update(std::int64_t done, const std::string& note) {
  done_ = done;
  note_ = note;
  if (off_ || finished_) return;
  const auto now = steady_clock::now();
  if (now - drawn_ < (terminal_ ? milliseconds(kRedraw) : milliseconds(kPlainEvery))) return;
  drawn_ = now;
  if (terminal_) {
    redraw();
  } else {
    fmt::print(stderr, "{}\n", line(/*with_bar=*/false));
  }
}

void Progress::finish() {
  if (off_ || finished_) return;
  erase();
  finished_ = true;
  fmt::print(stderr, "{}\n", line(/*with_bar=*/false));
}

void Progress::erase() {
  if (!on_screen_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  on_screen_ = false;
}

void Progress::redraw() {
  if (!terminal_ || finished_) return;
  std::string text = line(/*with_bar=*/true);
  text.resize(std::min(text.size(), static_cast<std::size_t>(terminal_width() - 1)));
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  on_screen_ = true;
}

ProgressPause::ProgressPause() {
  if (current != nullptr) current->erase();
}

ResidentSet resident_set() {
  ResidentSet set;
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  if (statm >> size >> resident) set.now = resident * ::sysconf(_SC_PAGESIZE);
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    set.peak = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  return set;
}

std::string format_bytes(std::int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 1024.0 * 1024 * 1024) return fmt::format("{:.2f} GiB", b / (1024.0 * 1024 * 1024));
  if (b >= 1024.0 * 1024) return fmt::format("{:.0f} MiB", b / (1024.0 * 1024));
  if (b >= 1024.0) return fmt::format("{:.0f} KiB", b / 1024.0);
  return fmt::format("{} B", bytes);
}

std::string format_duration(double s) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, s + 0.5));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace foxhunt
