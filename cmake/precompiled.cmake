# Headers that many files include, read once a build instead of once a file: option FOXHUNT_PCH, which scripts/test sets.
# Where it pays: test files (half their time under sanitizers) and files of LibTorch (half of 24 s each). Off where people
# work: ccache then shares objects between folders, and a file that forgets an include is found.
#
# fx_precompile_tests(TARGET)                 test programs: googletest and what tests include beside it
# fx_precompile_torch(TARGET FILE...)         LibTorch's headers for these files of a target, from a header of the target's own
option(FOXHUNT_PCH "Precompile the headers that many files include" OFF)

# What is tested is optimised, its test files hardly or not at all: a third to a half less to compile.
set(FOXHUNT_TEST_OPTIONS $<IF:$<CONFIG:Release>,-O1,-O0>)

set(_fx_headers <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant> <vector> <fmt/format.h>
  <nlohmann/json.hpp>)
set(_fx_test_headers <gtest/gtest.h> <gmock/gmock.h>)
set(_fx_torch_headers <ATen/ATen.h> <torch/nn/module.h> <torch/csrc/autograd/custom_function.h>)

if(FOXHUNT_PCH AND FOXHUNT_TESTS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/main.cpp CONTENT "int main() { return 0; }\n")
  # The header serves files of the same flags only, so its owner is a test program, too.
  add_executable(foxhunt_precompiled_test ${CMAKE_BINARY_DIR}/precompiled/main.cpp)
  target_precompile_headers(foxhunt_precompiled_test PRIVATE ${_fx_headers} ${_fx_test_headers})
  target_compile_options(foxhunt_precompiled_test PRIVATE ${FOXHUNT_TEST_OPTIONS})
  target_link_libraries(foxhunt_precompiled_test PRIVATE foxhunt_warnings fmt::fmt nlohmann_json::nlohmann_json
    GTest::gmock GTest::gtest)
endif()

function(fx_precompile_tests target)
  if(FOXHUNT_PCH)
    target_precompile_headers(${target} REUSE_FROM foxhunt_precompiled_test)
  endif()
endfunction()

function(fx_precompile_torch target)
  if(FOXHUNT_PCH)
    get_target_property(sources ${target} SOURCES)
    list(REMOVE_ITEM sources ${ARGN})
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL EXECUTABLE)
      list(APPEND _fx_torch_headers ${_fx_test_headers})
    endif()
    target_precompile_headers(${target} PRIVATE ${_fx_headers} ${_fx_torch_headers})
  endif()
endfunction()
