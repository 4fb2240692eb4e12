#include "foxhunt/market/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvRows::CsvRows(std::unique_ptr<ByteSource> source, char delimiter, bool whole_lines)
    : source_(std::move(source)),
      delimiter_(delimiter),
      whole_lines_(whole_lines),
      buffer_(kChunk) {
  while (end_ < kByteOrderMark.size() && fill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    begin_ = kByteOrderMark.size();
    bytes_ = static_cast<std::int64_t>(begin_);
  }
}

void CsvRows::fail(std::int64_t column, const std::string& message) const {
  throw FormatError(fmt::format("{}:{}:{}: {}", source_->name(), line_, column, message));
}

/// Reads on behind the bytes that are not yet taken, as much as there is, so that a row of a pipe
/// is a row as soon as its newline was written; false when there is nothing more.
bool CsvRows::fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  buffer_.resize(end_ + kChunk);
  const std::size_t got =
      source_->read_some(std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  end_ += got;
  at_end_ = got == 0;
  return got > 0;
}

/// Where the row at begin_ ends: its newline, or end_ at the end of the file. A newline inside
/// quotes belongs to its field; a doubled quote toggles twice, so it needs no case of its own.
std::size_t CsvRows::find_row_end() {
  std::size_t at = 0;  // from begin_, which fill() moves
  bool quoted = false;
  for (;;) {
    for (; begin_ + at < end_; ++at) {
      const char c = buffer_[begin_ + at];
      if (c == '"') quoted = !quoted;
      if (c == '\n' && !quoted) return begin_ + at;
    }
    if (at > kMaxRowBytes) {
      fail(1, fmt::format("the row is longer than {} bytes (a quote that is never closed?)",
                          kMaxRowBytes));
    }
    if (!fill()) return end_;
  }
}

/// Takes the quoted field that starts behind the quote at `at`; gives the place behind its end.
std::size_t CsvRows::take_quoted(std::size_t at, std::size_t end) {
  const auto column = static_cast<std::int64_t>(at - begin_) + 1;
  std::size_t from = at + 1;
  std::size_t to = from;  // doubled quotes shrink in place
  for (;;) {
    if (from == end) fail(column, "the quote that opens this field is never closed");
    if (buffer_[from] == '"') {
      if (from + 1 == end || buffer_[from + 1] != '"') break;
      ++from;
    }
    buffer_[to++] = buffer_[from++];
  }
  ++from;
  if (from != end && buffer_[from] != delimiter_) {
    fail(static_cast<std::int64_t>(from - begin_) + 1, "text behind a closing quote");
  }
  fields_.push_back({std::string_view(buffer_.data() + at + 1, to - at - 1), column});
  return from;
}

void CsvRows::split(std::size_t end) {
  fields_.clear();
  for (std::size_t at = begin_;; ++at) {
    if (at < end && buffer_[at] == '"') {
      at = take_quoted(at, end);
    } else {
      const std::size_t start = at;
      for (; at < end && buffer_[at] != delimiter_; ++at) {
        if (buffer_[at] == '"') {
          fail(static_cast<std::int64_t>(at - begin_) + 1,
               "a quote inside a field that does not begin with one");
        }
      }
      fields_.push_back({std::string_view(buffer_.data() + start, at - start),
                         static_cast<std::int64_t>(start - begin_) + 1});
    }
    if (at == end) return;
  }
}

bool CsvRows::next() {
  for (;;) {
    line_ = next_line_;
    const std::size_t end = find_row_end();
    const bool has_newline = end < end_;
    if (!has_newline && end == begin_) return false;
    if (!has_newline && (whole_lines_ || source_->truncated())) {
      rest_bytes_ = static_cast<std::int64_t>(end_ - begin_);
      begin_ = end_;
      return false;
    }
    const std::string_view row(buffer_.data() + begin_, end - begin_);
    next_line_ += std::ranges::count(row, '\n') + 1;
    bytes_ += static_cast<std::int64_t>(row.size()) + (has_newline ? 1 : 0);
    const bool carriage_return = row.ends_with('\r');
    const bool empty = row.size() == (carriage_return ? 1U : 0U);
    if (!empty) split(carriage_return ? end - 1 : end);
    begin_ = has_newline ? end + 1 : end;  // the fields stay where they are until the next call
    if (!empty) return true;
  }
}

}  // namespace foxhunt::market
