#include "foxhunt/config/value_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

namespace foxhunt::config {

std::string quoted_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

namespace {

/// A TOML float: always with a point or an exponent.
std::string float_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);  // shortest form that reads back exactly
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string list_text(const std::vector<T>& items) {
  std::vector<std::string> texts;
  for (const T& item : items) {
    if constexpr (std::is_same_v<T, std::string>) {
      texts.push_back(quoted_text(item));
    } else if constexpr (std::is_same_v<T, double>) {
      texts.push_back(float_text(item));
    } else {
      texts.push_back(fmt::format("{}", item));
    }
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

struct ValueText {
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(const std::int64_t* v) const { return fmt::format("{}", *v); }
  std::string operator()(const double* v) const { return float_text(*v); }
  std::string operator()(const std::string* v) const { return quoted_text(*v); }
  template <class T>
  std::string operator()(const std::vector<T>* v) const {
    return list_text(*v);
  }
  std::string operator()(const Choice& c) const { return quoted_text(c.names.at(c.get())); }
};

struct TypeText {
  std::string operator()(const bool*) const { return "boolean"; }
  std::string operator()(const std::int64_t*) const { return "integer"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::string*) const { return "string"; }
  std::string operator()(const std::vector<std::int64_t>*) const { return "list of integers"; }
  std::string operator()(const std::vector<double>*) const { return "list of numbers"; }
  std::string operator()(const std::vector<std::string>*) const { return "list of strings"; }
  std::string operator()(const Choice& c) const {
    return fmt::format("one of {}", fmt::join(c.names, ", "));
  }
};

}  // namespace

std::string value_text(const Field& field) { return std::visit(ValueText{}, field.target); }
std::string type_text(const Field& field) { return std::visit(TypeText{}, field.target); }

std::string number_text(double value) { return fmt::format("{}", value); }

std::string range_text(const Field& field) {
  if (std::isinf(field.min) && std::isinf(field.max)) return "";
  return fmt::format("[{}, {}]", number_text(field.min), number_text(field.max));
}

}  // namespace foxhunt::config
