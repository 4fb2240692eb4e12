#include "foxhunt/base/log.h"

#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/progress.h"

namespace foxhunt::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    auto console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    console->set_pattern("%^%v%$");
    console->set_level(spdlog::level::info);
    spdlog::logger made("foxhunt", console);
    made.set_level(spdlog::level::debug);
    made.flush_on(spdlog::level::info);
    return made;
  }();
  return instance;
}

/// Lines, with the times at which they were written, for a file that is not there yet.
class KeptLines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void hand_to(spdlog::sinks::sink& other) {
    const std::lock_guard guard(mutex_);
    for (const auto& line : lines_) other.log(line);
    other.flush();
  }

 private:
  void sink_it_(const spdlog::details::log_msg& line) override { lines_.emplace_back(line); }
  void flush_() override {}
  std::vector<spdlog::details::log_msg_buffer> lines_;
};

}  // namespace

void set_console_level(Level level) { logger().sinks().front()->set_level(to_spdlog(level)); }

FileSink::FileSink() { logger().sinks().push_back(std::make_shared<KeptLines>()); }

FileSink::FileSink(const std::filesystem::path& path) : FileSink() { open(path); }

void FileSink::open(const std::filesystem::path& path) {
  try {
    auto sink =
        std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string(), /*truncate=*/false);
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc));
    spdlog::sink_ptr& place = logger().sinks().back();
    dynamic_cast<KeptLines&>(*place).hand_to(*sink);
    place = std::move(sink);
  } catch (const spdlog::spdlog_ex& error) {
    throw IoError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

FileSink::~FileSink() {
  logger().flush();
  logger().sinks().pop_back();
}

void write(Level level, std::string_view message) {
  const ProgressPause pause;  // a bar on the terminal steps aside for the line
  logger().log(to_spdlog(level), "{}", message);
}

}  // namespace foxhunt::log
