#pragma once
// One list per config struct: its describe() names every key once, and everything else walks that
// list.
//
//     struct ScheduleConfig {
//       double lr = 1e-3;
//       Kind kind = Kind::kCosine;
//       template <class Self, class Visitor>
//       static void describe(Self& c, Visitor&& key) {
//         key("lr", c.lr, 0.0, 10.0, "peak learning rate");
//         key.choice("kind", c.kind, {{"cosine", Kind::kCosine}, {"linear", Kind::kLinear}}, "shape
//         after warm-up");
//       }
//     };
//
// A nested struct is a section: key.section("schedule", c.schedule, "learning rate over time").
// config.h turns the list into loading, range checks, unknown-key errors, dump, hash, help and JSON
// Schema.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace foxhunt::config {

/// A value out of a closed set of names.
struct Choice {
  std::vector<std::string> names;
  std::function<std::size_t()> get;  ///< index into names
  std::function<void(std::size_t)> set;
};

using Target = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*,
                            std::vector<double>*, std::vector<std::string>*, Choice>;

/// One key of a config: where it is, where its value lives, which values it may have.
struct Field {
  std::string path;  ///< "model.d_model"
  std::string help;
  Target target;
  double min = -std::numeric_limits<double>::infinity();  ///< for numbers, and each number of a
                                                          ///< list; inclusive
  double max = std::numeric_limits<double>::infinity();
  /// Named in a dump without comments, and so in the hash, only where it is not empty.
  bool only_where_used = false;
};

/// A [section] of a config.
struct Section {
  std::string path;
  std::string help;
};

struct FieldList {
  std::vector<Field> fields;
  std::vector<Section> sections;
};

/// The visitor given to describe(): collects the list.
class FieldCollector {
 public:
  FieldCollector(FieldList& list, std::string prefix) : list_(list), prefix_(std::move(prefix)) {}

  void operator()(const char* name, bool& value, const char* help) { add(name, &value, help); }
  void operator()(const char* name, std::string& value, const char* help) {
    add(name, &value, help);
  }
  void operator()(const char* name, std::vector<std::string>& value, const char* help) {
    add(name, &value, help);
  }
  void operator()(const char* name, std::int64_t& value, std::int64_t min, std::int64_t max,
                  const char* help) {
    add(name, &value, help, static_cast<double>(min), static_cast<double>(max));
  }
  void operator()(const char* name, double& value, double min, double max, const char* help) {
    add(name, &value, help, min, max);
  }
  void operator()(const char* name, std::vector<std::int64_t>& value, std::int64_t min,
                  std::int64_t max, const char* help) {
    add(name, &value, help, static_cast<double>(min), static_cast<double>(max));
  }
  void operator()(const char* name, std::vector<double>& value, double min, double max,
                  const char* help) {
    add(name, &value, help, min, max);
  }

  /// A list that came later than files and hashes which are to stay as they are: an empty one is
  /// not dumped.
  void later(const char* name, std::vector<std::string>& value, const char* help) {
    add(name, &value, help);
    list_.fields.back().only_where_used = true;
  }

  template <class Enum>
  void choice(const char* name, Enum& value,
              std::initializer_list<std::pair<const char*, Enum>> options, const char* help) {
    std::vector<Enum> values;
    Choice choice;
    for (const auto& [text, option] : options) {
      choice.names.emplace_back(text);
      values.push_back(option);
    }
    Enum* place = &value;
    choice.get = [place, values] {
      std::size_t index = 0;
      while (index + 1 < values.size() && values[index] != *place) ++index;
      return index;
    };
    choice.set = [place, values](std::size_t index) { *place = values.at(index); };
    add(name, std::move(choice), help);
  }

  template <class Struct>
  void section(const char* name, Struct& nested, const char* help) {
    list_.sections.push_back({prefix_ + name, help});
    Struct::describe(nested, FieldCollector(list_, prefix_ + name + "."));
  }

 private:
  void add(const char* name, Target target, const char* help,
           double min = -std::numeric_limits<double>::infinity(),
           double max = std::numeric_limits<double>::infinity()) {
    list_.fields.push_back({prefix_ + name, help, std::move(target), min, max});
  }

  FieldList& list_;
  std::string prefix_;
};

/// The list of `config`, pointing into it: valid while `config` lives and is not moved.
template <class Struct>
FieldList fields_of(Struct& config) {
  FieldList list;
  Struct::describe(config, FieldCollector(list, ""));
  return list;
}

}  // namespace foxhunt::config
