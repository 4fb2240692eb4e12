#include "foxhunt/ranks/plain_reason.h"

#include <fmt/format.h>

#include <regex>

namespace foxhunt::ranks {

std::string plain_reason(std::string_view message) {
  std::string text(message.substr(0, message.find('\n')));
  // "[enforce fail at a/b.cc:12] ", "[../gloo/transport/tcp/pair.cc:534] ", "a/b.cc:12: "
  static const std::regex place(
      R"(^\s*(\[[^\]]*\.(cc|cpp|h):\d+\]|\S+\.(cc|cpp|h):\d+:?)[.:]?\s*)");
  text = std::regex_replace(text, place, "");
  static const std::regex closed(R"(.*Connection closed by peer \[([^\]]*)\].*)");
  static const std::regex broke(
      R"(.*(?:Read|Write|Send|Recv)\w* error \[([^\]]*)\](?::\d+)?: (.*))");
  static const std::regex silent(R"(.*Timed out waiting (\d+)ms for (recv|send) operation.*)");
  std::smatch found;
  if (std::regex_match(text, found, closed))
    return fmt::format("the connection to {} was closed", found[1].str());
  if (std::regex_match(text, found, broke))
    return fmt::format("the connection to {} broke: {}", found[1].str(), found[2].str());
  if (std::regex_match(text, found, silent)) {
    return fmt::format("nothing {} for {} ms", found[2].str() == "recv" ? "came" : "could be sent",
                       found[1].str());
  }
  return text;
}

}  // namespace foxhunt::ranks
