#include "foxhunt/base/json_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "foxhunt/base/json.h"

namespace foxhunt {
namespace {

/// nlohmann's event interface: an event that answers false ends the parse.
class Watch {
 public:
  using Json = nlohmann::json;

  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(Json::number_integer_t /*value*/) { return true; }
  bool number_unsigned(Json::number_unsigned_t /*value*/) { return true; }
  bool number_float(Json::number_float_t /*value*/, const std::string& /*text*/) { return true; }
  bool string(const std::string& /*value*/) { return true; }
  bool binary(const Json::binary_t& /*value*/) { return true; }
  bool start_object(std::size_t /*size*/) {
    keys_.emplace_back();
    return enter();
  }
  bool end_object() {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) { return enter(); }
  bool end_array() {
    --depth_;
    return true;
  }
  bool key(const std::string& name) {
    if (keys_.back().insert(name).second) return true;
    problem_ = fmt::format("has the key '{}' twice", name);
    return false;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    problem_ = fmt::format("is not JSON: {}", error.what());
    return false;
  }

  const std::string& problem() const { return problem_; }

 private:
  bool enter() {
    if (++depth_ <= kMaxJsonDepth) return true;
    problem_ = fmt::format("nests deeper than {} levels", kMaxJsonDepth);
    return false;
  }

  int depth_ = 0;
  std::vector<std::unordered_set<std::string>> keys_;  ///< of the objects that are open
  std::string problem_;
};

}  // namespace

std::string json_problem(std::string_view text) {
  // nlohmann's lexer takes a NUL for the end of the text and looks at nothing behind it.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return fmt::format("is not JSON: byte {} is NUL", nul);
  Watch watch;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &watch)) return "";
  return watch.problem();
}

}  // namespace foxhunt
