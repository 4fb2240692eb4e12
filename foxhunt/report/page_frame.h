#pragma once
// The page around its sections: one file that needs nothing else and asks for nothing.
//
// A content security policy forbids every request; styles and the script that shows values under
// the pointer are inline. Light and dark follow the reader's system, and a button.

#include <string>
#include <vector>

namespace foxhunt::report {

struct PageFrame {
  std::string title{};     ///< text
  std::string eyebrow{};   ///< HTML above the heading
  std::string heading{};   ///< text
  std::string meta{};      ///< HTML below it
  std::string sections{};  ///< HTML
};

/// Links to the sections are made from their ids and headings.
std::string page_html(const PageFrame& frame);

/// Style sheet and script (page_style.cpp, page_script.cpp).
std::string page_style();
const char* page_script();

}  // namespace foxhunt::report
