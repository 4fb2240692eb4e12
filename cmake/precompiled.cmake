# Headers that many files include, read once a build instead of once a file: option FOXHUNT_PCH, which scripts/test sets.
# Where it pays: files of rooms (a second of the three that most take), test files (half their time under sanitizers), files
# of LibTorch (half of 24 s each). Off where people work: ccache then shares objects between folders, and a file that forgets
# an include is found.
#
# fx_precompile_room(TARGET FILE...)          these files of a room's library: the standard library and fmt (JSON costs the many more
#                                             than it saves the few)
# fx_precompile_tests(TARGET)                 test programs: those, googletest and what tests include beside it
# fx_precompile_torch(TARGET FILE...)         LibTorch's headers for these files of a target, from a header of the target's own
option(FOXHUNT_PCH "Precompile the headers that many files include" OFF)

# What is tested is optimised, its test files hardly or not at all: a third to a half less to compile.
set(FOXHUNT_TEST_OPTIONS $<IF:$<CONFIG:Release>,-O1,-O0>)

set(_fx_headers <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant> <vector> <fmt/format.h>)
set(_fx_test_headers <gtest/gtest.h> <gmock/gmock.h>)
set(_fx_torch_headers <ATen/ATen.h> <torch/nn/module.h> <torch/csrc/autograd/custom_function.h>)

# A header serves files of the same flags only, so each has an owner that is built as they are.
if(FOXHUNT_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/main.cpp CONTENT "int main() { return 0; }\n")
  add_library(foxhunt_precompiled STATIC ${CMAKE_BINARY_DIR}/precompiled/main.cpp)
  target_precompile_headers(foxhunt_precompiled PRIVATE ${_fx_headers})
  target_link_libraries(foxhunt_precompiled PRIVATE foxhunt_warnings fmt::fmt)
  set(_fx_room_header ${CMAKE_BINARY_DIR}/CMakeFiles/foxhunt_precompiled.dir/cmake_pch.hxx)
endif()
if(FOXHUNT_PCH AND FOXHUNT_TESTS)
  add_executable(foxhunt_precompiled_test ${CMAKE_BINARY_DIR}/precompiled/main.cpp)
  target_precompile_headers(foxhunt_precompiled_test PRIVATE ${_fx_headers} ${_fx_test_headers})
  target_compile_options(foxhunt_precompiled_test PRIVATE ${FOXHUNT_TEST_OPTIONS})
  target_link_libraries(foxhunt_precompiled_test PRIVATE foxhunt_warnings fmt::fmt
    GTest::gmock GTest::gtest)
endif()

# By file, since a target can have one header of its own, and the files of LibTorch need another.
function(fx_precompile_room target)
  if(FOXHUNT_PCH)
    add_dependencies(${target} foxhunt_precompiled)
    foreach(file ${ARGN})
      get_source_file_property(skip ${file} SKIP_PRECOMPILE_HEADERS)
      if(NOT skip)
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -Winvalid-pch -include ${_fx_room_header})
        set_property(SOURCE ${file} APPEND PROPERTY OBJECT_DEPENDS ${_fx_room_header}.gch)
      endif()
    endforeach()
  endif()
endfunction()

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
