#include "foxhunt/evaluation/report/text_table.h"

#include <algorithm>

namespace foxhunt::evaluation {
namespace {

/// Characters on the screen: bytes that do not continue a UTF-8 sequence.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  if (rows.empty() || rows.front().empty()) return {};
  const std::size_t columns = rows.front().size();
  std::vector<std::size_t> widths(columns, 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text;
  std::size_t first = 1;
  do {
    std::size_t end = first;
    std::size_t used = widths[0];
    while (end < columns && (end == first || used + 2 + widths[end] <= width))
      used += 2 + widths[end++];
    if (first > 1) text += '\n';
    for (const auto& row : rows) {
      std::string line = row[0] + std::string(widths[0] - width_of(row[0]), ' ');
      for (std::size_t c = first; c < end; ++c)
        line += std::string(2 + widths[c] - width_of(row[c]), ' ') + row[c];
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    first = end;
  } while (first < columns);
  return text;
}

std::string wrap(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool blank = line.find_first_not_of(' ') == std::string::npos;
    if (!blank && width_of(line) + 1 + width_of(word) > width) {
      result += line + '\n';
      line = std::string(indent, ' ') + word;
    } else {
      line += (blank ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return result + line + '\n';
}

}  // namespace foxhunt::evaluation
