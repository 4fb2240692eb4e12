#include "foxhunt/report/page_frame.h"

#include <fmt/format.h>

#include "foxhunt/base/build_info.h"
#include "foxhunt/evaluation/svg/canvas.h"

namespace foxhunt::report {
namespace {

using evaluation::svg::escape;

/// Links to `<section id="…"><h2>…</h2>`.
std::string navigation(const std::string& sections) {
  constexpr std::string_view kOpen = "<section id=\"";
  std::string html;
  for (std::size_t at = sections.find(kOpen); at != std::string::npos;
       at = sections.find(kOpen, at + 1)) {
    const std::size_t id = at + kOpen.size();
    const std::size_t id_end = sections.find('"', id);
    const std::size_t name = sections.find("<h2>", id_end) + 4;
    const std::size_t name_end = sections.find("</h2>", name);
    html += fmt::format("<a href=\"#{}\">{}</a>", sections.substr(id, id_end - id),
                        sections.substr(name, name_end - name));
  }
  return html;
}

}  // namespace

std::string page_html(const PageFrame& frame) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
      "'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n";
  html += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
                      escape(frame.title), page_style());
  html += fmt::format(
      "<header class=\"top\"><button id=\"theme\" type=\"button\" hidden>Light / dark</button><p "
      "class=\"eyebrow\">{}</p><h1>{}</h1><p class=\"meta\">{}</p>\n<nav>{}</nav></header>\n",
      frame.eyebrow, escape(frame.heading), frame.meta, navigation(frame.sections));
  html += fmt::format(
      "<main>\n{}<footer>Written by foxhunt {} ({}). This page is one file, works "
      "offline and asks no network for anything.</footer></main>\n",
      frame.sections, escape(version()), escape(git_revision()));
  return html + fmt::format("<script>{}</script>\n</body>\n</html>\n", page_script());
}

}  // namespace foxhunt::report
