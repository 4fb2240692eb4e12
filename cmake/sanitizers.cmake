# FOXHUNT_SANITIZE is a list such as address;undefined or thread. Set by the asan and tsan presets.
set(FOXHUNT_SANITIZE "" CACHE STRING "Sanitizers for all of our code")
if(FOXHUNT_SANITIZE)
  string(REPLACE ";" "," _fx_sanitize "${FOXHUNT_SANITIZE}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${_fx_sanitize};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  add_link_options(-fsanitize=${_fx_sanitize})
endif()
