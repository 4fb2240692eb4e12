#pragma once
// nlohmann's JSON, compiled once (json.cpp) instead of again in every file that reads or writes
// some: half of what such a file takes to build under sanitizers. Files of rooms include this and
// not the library's own header; tools/check_rooms.py holds them to it.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// `how`: extern, or nothing where the code is to be.
#define FX_JSON_CODE(how)                      \
  FX_JSON_CODE_OF(how, nlohmann::basic_json<>) \
  FX_JSON_CODE_OF(how, nlohmann::basic_json<nlohmann::ordered_map>)

#define FX_JSON_CODE_OF(how, Json)                                                                 \
  how template class nlohmann::detail::serializer<Json>;                                           \
  how template class nlohmann::detail::json_sax_dom_parser<Json>;                                  \
  how template class nlohmann::detail::json_sax_dom_callback_parser<Json>;                         \
  FX_JSON_PARSER(how, Json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>) \
  FX_JSON_PARSER(how, Json, nlohmann::detail::iterator_input_adapter<const char*>)                 \
  how template class std::vector<Json>;                                                            \
  how template class Json;

#define FX_JSON_PARSER(how, Json, Input)                                       \
  how template class nlohmann::detail::lexer<Json, Input>;                     \
  how template class nlohmann::detail::parser<Json, Input>;                    \
  how template bool nlohmann::detail::parser<Json, Input>::sax_parse_internal( \
      nlohmann::detail::json_sax_dom_parser<Json>*);                           \
  how template bool nlohmann::detail::parser<Json, Input>::sax_parse_internal( \
      nlohmann::detail::json_sax_dom_callback_parser<Json>*);

FX_JSON_CODE(extern)
