#include "foxhunt/train/bench_train/bench_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"

namespace foxhunt::train {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN.
Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double v : values) out.push_back(std::isfinite(v) ? Json(v) : Json());
  return out;
}

std::vector<double> numbers_of(const Json& array) {
  std::vector<double> out;
  for (const Json& v : array) {
    out.push_back(v.is_null() ? std::numeric_limits<double>::quiet_NaN() : v.get<double>());
  }
  return out;
}

/// Whole lines of the text, each valid JSON; ends before the first that is not.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find('\n', from);
    if (end == std::string::npos) return lines;
    std::string line = text.substr(from, end - from);
    const Json parsed = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) return lines;
    lines.push_back(std::move(line));
    from = end + 1;
  }
}

void take(const Json& line, CaseRecord& record) {
  if (line.contains("left_out")) {
    record.left_out = line["left_out"].get<std::string>();
    return;
  }
  BenchVisit visit{.seconds = numbers_of(line.at("seconds")),
                   .reference = numbers_of(line.at("reference")),
                   .reference_single = numbers_of(line.at("reference_single")),
                   .losses = numbers_of(line.at("losses")),
                   .peak_bytes = line.at("peak_bytes").get<std::int64_t>(),
                   .other_cores = line.at("other_cores").get<double>(),
                   .spent = line.at("spent").get<double>()};
  if (!visit.seconds.empty()) record.visits.push_back(std::move(visit));
}

}  // namespace

BenchJournal::BenchJournal(std::filesystem::path path, const std::string& identity, bool fresh)
    : path_(std::move(path)) {
  if (std::filesystem::exists(path_)) {
    std::vector<std::string> lines = whole_lines(read_file(path_));
    if (!fresh && !lines.empty() && lines.front() == identity) {
      std::uintmax_t bytes = 0;
      for (const std::string& line : lines) bytes += line.size() + 1;
      std::filesystem::resize_file(path_, bytes);
      lines_.assign(lines.begin() + 1, lines.end());
      return;
    }
    replaced_ = fresh           ? "measured anew, as asked"
                : lines.empty() ? "cut short before its first line was whole"
                                : "of another machine, program or setting";
    std::filesystem::path old = path_;
    old += ".old";
    std::filesystem::rename(path_, old);
  }
  append(identity);
}

std::int64_t BenchJournal::restore(std::vector<CaseRecord>& records) const {
  std::int64_t visits = 0;
  for (const std::string& text : lines_) {
    try {
      const Json line = Json::parse(text);
      const auto key = line.at("case").get<std::string>();
      const auto found = std::find_if(records.begin(), records.end(),
                                      [&](const CaseRecord& r) { return r.which.key() == key; });
      if (found == records.end()) continue;
      const std::size_t before = found->visits.size();
      take(line, *found);
      visits += static_cast<std::int64_t>(found->visits.size() - before);
    } catch (const nlohmann::json::exception& error) {
      throw FormatError(fmt::format("{}: a line holds no visit ({}); --fresh measures anew",
                                    path_.string(), error.what()));
    }
  }
  return visits;
}

void BenchJournal::add_visit(const CaseRecord& record) {
  const BenchVisit& visit = record.visits.back();
  append(Json{{"case", record.which.key()},
              {"seconds", numbers(visit.seconds)},
              {"reference", numbers(visit.reference)},
              {"reference_single", numbers(visit.reference_single)},
              {"losses", numbers(visit.losses)},
              {"peak_bytes", visit.peak_bytes},
              {"other_cores", visit.other_cores},
              {"spent", visit.spent}}
             .dump());
}

void BenchJournal::add_left_out(const CaseRecord& record) {
  append(Json{{"case", record.which.key()}, {"left_out", record.left_out}}.dump());
}

void BenchJournal::append(const std::string& line) {
  errno = 0;
  std::ofstream out(path_, std::ios::app | std::ios::binary);
  out << line << '\n';
  out.flush();
  if (!out) {
    throw IoError(fmt::format("{}: cannot be written: {}", path_.string(),
                              errno != 0 ? std::strerror(errno) : "unknown reason"));
  }
  out.close();
  sync_path(path_);
}

}  // namespace foxhunt::train
