#include "foxhunt/report/html.h"

#include <fmt/format.h>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/glossary.h"

namespace foxhunt::report {
namespace {

const char* type_of(const Json& json) {
  if (json.is_string()) return "a text stands in its place";
  if (json.is_boolean()) return "true or false stands in its place";
  return "no number stands in its place";
}

}  // namespace

const Json* find(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  for (const std::string_view key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(std::string(key));
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

Reading number(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* holder = &json;
  const Json* at = &json;
  for (const std::string_view key : path) {
    holder = at;
    if (!at->is_object()) return {{}, "not recorded"};
    const auto found = at->find(std::string(key));
    if (found == at->end()) return {{}, "not recorded"};
    at = &*found;
  }
  if (at->is_number()) return {at->get<double>(), {}};
  if (!at->is_null()) return {{}, type_of(*at)};
  const auto reason = holder->find("reason");
  if (reason != holder->end() && reason->is_string()) return {{}, reason->get<std::string>()};
  return {{}, "not finite or not measured"};
}

std::string text(const Json& json, std::initializer_list<std::string_view> path,
                 const std::string& fallback) {
  const Json* at = find(json, path);
  return at != nullptr && at->is_string() ? at->get<std::string>() : fallback;
}

std::string not_available(std::string_view why) {
  return fmt::format("<span class=\"na\">n/a <small>({})</small></span>", escape(why));
}

std::string number_html(const Reading& reading, double scale) {
  return reading ? evaluation::number_text(*reading, scale) : not_available(reading.reason);
}

std::string defined_as(const std::string& id, const std::string& words) {
  const Definition* definition = definition_of(id);
  if (definition == nullptr) return words;
  return fmt::format("<a class=\"def\" href=\"#def-{}\" title=\"{}\">{}</a>",
                     escape(definition->id), escape(definition->meaning), words);
}

std::string defined_name(const std::string& id) { return defined_as(id, escape(id)); }

std::string time_html(const std::string& time) {
  const bool utc = time.size() >= 20 && time[10] == 'T' && time.back() == 'Z';
  if (!utc) return escape(time);
  return fmt::format("{} {} UTC", escape(time.substr(0, 10)), escape(time.substr(11, 5)));
}

std::string sample_count(double n, std::string_view unit) {
  return fmt::format("<span class=\"n\">n = {} {}</span>", evaluation::count_text(n), escape(unit));
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, std::string_view css) {
  std::string html = fmt::format("<div class=\"scroll\"><table class=\"{}\"><thead><tr>", css);
  for (const std::string& cell : head) html += fmt::format("<th scope=\"col\">{}</th>", cell);
  html += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", row[i])
                     : fmt::format("<td>{}</td>", row[i]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& lines,
                  std::string_view css) {
  std::string html = fmt::format("<dl class=\"facts {}\">\n", css);
  for (const auto& [name, value] : lines)
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
  return html + "</dl>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& lead,
                    const std::string& body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>{}\n{}</section>\n", id, escape(title),
                     lead.empty() ? "" : fmt::format("<p class=\"lead\">{}</p>", lead), body);
}

std::string details(const std::string& summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, body);
}

std::string hint(const std::string& html) {
  return fmt::format("<p class=\"hint\">{}</p>\n", html);
}

}  // namespace foxhunt::report
