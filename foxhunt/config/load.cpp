// Loading and overriding: TOML in, checked values out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <toml++/toml.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/nearest.h"
#include "foxhunt/config/config.h"
#include "foxhunt/config/value_text.h"

namespace foxhunt::config {
namespace {

/// Puts a TOML value into a field; returns what is wrong with it, or "".
struct Assign {
  const toml::node& node;

  std::string operator()(bool* place) const { return take(place, node.value_exact<bool>()); }
  std::string operator()(std::int64_t* place) const {
    return take(place, node.value_exact<std::int64_t>());
  }
  std::string operator()(double* place) const { return take(place, number()); }
  std::string operator()(std::string* place) const {
    return take(place, node.value_exact<std::string>());
  }
  template <class T>
  std::string operator()(std::vector<T>* place) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) return "is not a list";
    std::vector<T> items;
    for (const toml::node& item : *array) {
      T value{};
      if (const std::string problem = Assign{item}(&value); !problem.empty())
        return "has an item that " + problem;
      items.push_back(std::move(value));
    }
    *place = std::move(items);
    return "";
  }
  std::string operator()(const Choice& choice) const {
    const auto text = node.value_exact<std::string>();
    if (!text) return "is not a string";
    const auto found = std::find(choice.names.begin(), choice.names.end(), *text);
    if (found == choice.names.end())
      return fmt::format("is none of {}", fmt::join(choice.names, ", "));
    choice.set(static_cast<std::size_t>(found - choice.names.begin()));
    return "";
  }

 private:
  std::optional<double> number() const {
    if (const auto real = node.value_exact<double>()) return real;
    if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
    return std::nullopt;
  }
  template <class T>
  static std::string take(T* place, const std::optional<T>& value) {
    if (!value) {
      return std::is_same_v<T, bool>           ? "is not true or false"
             : std::is_same_v<T, std::int64_t> ? "is not a whole number"
             : std::is_same_v<T, double>       ? "is not a number"
                                               : "is not a string";
    }
    *place = *value;
    return "";
  }
};

struct OutOfRange {
  const Field& field;
  bool bad(double v) const { return std::isnan(v) || v < field.min || v > field.max; }
  bool operator()(std::int64_t* v) const { return bad(static_cast<double>(*v)); }
  bool operator()(double* v) const { return bad(*v); }
  bool operator()(std::vector<std::int64_t>* v) const {
    return std::any_of(v->begin(), v->end(),
                       [this](std::int64_t x) { return bad(static_cast<double>(x)); });
  }
  bool operator()(std::vector<double>* v) const {
    return std::any_of(v->begin(), v->end(), [this](double x) { return bad(x); });
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

std::string range_error(const Field& field) {
  if (!std::visit(OutOfRange{field}, field.target)) return "";
  return fmt::format("{} = {} is outside {}", field.path, value_text(field), range_text(field));
}

std::string node_text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&out](const auto& value) {
    if constexpr (!toml::is_table<decltype(value)>) out << value;
  });
  return out.str();
}

/// Names one level below `prefix`: what could have been meant there.
std::vector<std::string> names_below(const FieldList& list, const std::string& prefix) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& path) {
    if (path.size() <= prefix.size() || path.compare(0, prefix.size(), prefix) != 0) return;
    const std::string rest = path.substr(prefix.size());
    names.push_back(rest.substr(0, rest.find('.')));
  };
  for (const Field& field : list.fields) add(field.path);
  return names;
}

std::string unknown_key(const FieldList& list, const std::string& prefix, const std::string& name) {
  const std::string where = prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1) + ": ";
  for (const Field& field : list.fields) {  // right key, wrong section
    if (field.path.substr(field.path.rfind('.') + 1) == name) {
      return fmt::format("{}unknown key '{}'; there is '{}'", where, name, field.path);
    }
  }
  const std::string near = nearest_name(name, names_below(list, prefix));
  if (!near.empty())
    return fmt::format("{}unknown key '{}'; nearest valid name: '{}'", where, name, near);
  return fmt::format("{}unknown key '{}'", where, name);
}

Field* find_field(FieldList& list, const std::string& path) {
  const auto found = std::find_if(list.fields.begin(), list.fields.end(),
                                  [&](const Field& f) { return f.path == path; });
  return found == list.fields.end() ? nullptr : &*found;
}

bool is_section(const FieldList& list, const std::string& path) {
  return std::any_of(list.sections.begin(), list.sections.end(),
                     [&](const Section& s) { return s.path == path; });
}

/// `v` = the text itself, by the parser's own rules for strings: what it takes can be dumped and
/// read again.
toml::table string_table(const std::string& text, const std::string& origin) {
  try {
    return toml::parse("v = " + quoted_text(text));
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}: {}", origin, error.description()));
  }
}

class TableLoader {
 public:
  TableLoader(FieldList& list, std::string origin) : list_(list), origin_(std::move(origin)) {}

  void load(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name{key.str()};
      const std::string path = prefix + name;
      if (Field* field = find_field(list_, path)) {
        assign(*field, node);
      } else if (is_section(list_, path)) {
        if (const toml::table* nested = node.as_table()) {
          load(*nested, path + ".");
        } else {
          complain(node, fmt::format("{} is a section, not a value", path));
        }
      } else {
        complain(node, unknown_key(list_, prefix, name));
      }
    }
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void assign(Field& field, const toml::node& node) {
    if (const std::string problem = std::visit(Assign{node}, field.target); !problem.empty()) {
      complain(node, fmt::format("{} = {} {}", field.path, node_text(node), problem));
    } else if (const std::string outside = range_error(field); !outside.empty()) {
      complain(node, outside);
    }
  }
  void complain(const toml::node& node, const std::string& what) {
    const auto line = node.source().begin.line;
    errors_.push_back(line > 0 ? fmt::format("{}:{}: {}", origin_, line, what)
                               : fmt::format("{}: {}", origin_, what));
  }

  FieldList& list_;
  std::string origin_;
  std::vector<std::string> errors_;
};

}  // namespace

void load_toml_text(FieldList& list, std::string_view text, const std::string& origin) {
  toml::table table;
  try {
    table = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}:{}: {}", origin, error.source().begin.line,
                                  error.source().begin.column, error.description()));
  }
  TableLoader loader(list, origin);
  loader.load(table, "");
  if (!loader.errors().empty())
    throw ConfigError(fmt::format("{}", fmt::join(loader.errors(), "\n")));
}

void load_toml_file(FieldList& list, const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const IoError& error) {
    throw ConfigError(error.what());
  }
  load_toml_text(list, text, path.string());
}

void apply_override(FieldList& list, const std::string& assignment) {
  const std::string origin = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(fmt::format("{}: write it as section.key=value", origin));
  }
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  const std::size_t dot = path.rfind('.');
  const std::string prefix = dot == std::string::npos ? "" : path.substr(0, dot + 1);
  Field* field = find_field(list, path);
  if (field == nullptr) {
    throw ConfigError(
        fmt::format("{}: {}", origin, unknown_key(list, prefix, path.substr(prefix.size()))));
  }
  toml::table table;
  try {
    table = toml::parse("v = " + value);
    if (table.size() != 1) table = string_table(value, origin);  // lines that set something else
  } catch (const toml::parse_error&) {
    table = string_table(value, origin);  // a bare word
  }
  const toml::node& node = *table.get("v");
  std::string problem = std::visit(Assign{node}, field->target);
  if (problem == "is not a string") {  // a string that looks like another type: 2020-01-01, 5
    const toml::table literal = string_table(value, origin);
    problem = std::visit(Assign{*literal.get("v")}, field->target);
  }
  if (!problem.empty()) throw ConfigError(fmt::format("{}: {} {}", origin, path, problem));
  if (const std::string outside = range_error(*field); !outside.empty()) {
    throw ConfigError(fmt::format("{}: {}", origin, outside));
  }
}

std::vector<std::string> range_errors(const FieldList& list) {
  std::vector<std::string> errors;
  for (const Field& field : list.fields) {
    if (std::string error = range_error(field); !error.empty()) errors.push_back(std::move(error));
  }
  return errors;
}

void require_in_range(const FieldList& list, const std::string& who) {
  const std::vector<std::string> errors = range_errors(list);
  if (errors.empty()) return;
  throw ConfigError(fmt::format("[{}] {}", who, fmt::join(errors, "\n[" + who + "] ")));
}

}  // namespace foxhunt::config
