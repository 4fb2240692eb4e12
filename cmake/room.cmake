# fx_room(NAME USES room… SOURCES file… [TORCH_SOURCES file…] [TESTS file…] [TORCH_TESTS file…] [LIBS target…]
#         [TEST_ROOMS room…] [ISA "file|flag,flag"…])
#
# One static library foxhunt_NAME and one test program NAME_test a room. A room links only the rooms named in USES,
# which tools/check_rooms.py holds equal to ARCHITECTURE.md. TORCH_* files are left out where FOXHUNT_TORCH is OFF:
# absent parts are files, never #ifdefs. A test whose name holds "Long" carries the ctest label `long`.
# ISA files are compiled with their own flags at -O3 (-O2 in Debug: sanitized, -O3 takes three times as long), without
# link-time optimisation, and include C headers only.
# No test writes into the user's data folder: FOXHUNT_LEDGER names a file of the build folder for all of them.
# LIBS are linked PRIVATE, so that a library used in one room's .cpp files is not seen by others.
include(GoogleTest)

function(fx_discover program)
  set(_props ENVIRONMENT "FOXHUNT_SHARED=${FOXHUNT_SHARED}" WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${program} TEST_FILTER "-*Long*" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    PROPERTIES TIMEOUT 300 ENVIRONMENT "FOXHUNT_SHARED=${FOXHUNT_SHARED}"
      ENVIRONMENT_MODIFICATION "FOXHUNT_LEDGER=set:${CMAKE_BINARY_DIR}/tests-ledger.db" ${ARGN})
  gtest_discover_tests(${program} TEST_FILTER "*Long*" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" TEST_LIST ${program}_long
    PROPERTIES TIMEOUT 1800 LABELS long ENVIRONMENT "FOXHUNT_SHARED=${FOXHUNT_SHARED}"
      ENVIRONMENT_MODIFICATION "FOXHUNT_LEDGER=set:${CMAKE_BINARY_DIR}/tests-ledger.db" ${ARGN})
endfunction()

function(fx_room name)
  cmake_parse_arguments(R "" "" "USES;SOURCES;TORCH_SOURCES;TESTS;TORCH_TESTS;LIBS;TEST_ROOMS;ISA" ${ARGN})
  set(target foxhunt_${name})
  set(sources ${R_SOURCES})
  set(tests ${R_TESTS})
  if(FOXHUNT_TORCH)
    list(APPEND sources ${R_TORCH_SOURCES})
    list(APPEND tests ${R_TORCH_TESTS})
  endif()
  if(NOT sources)
    return()
  endif()
  foreach(entry ${R_ISA})
    string(REGEX MATCH "^[^|]*" file "${entry}")
    string(REGEX REPLACE "^[^|]*[|]" "" flags "${entry}")
    string(REPLACE "," ";" flags "${flags}")
    list(APPEND sources ${file})
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "$<IF:$<CONFIG:Release>,-O3,-O2>;${flags}")
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE foxhunt_warnings ${R_LIBS})
  foreach(used ${R_USES})
    if(used STREQUAL "torch")
      if(FOXHUNT_TORCH)
        target_link_libraries(${target} PUBLIC torch::cpu)
      endif()
    elseif(TARGET foxhunt_${used})
      target_link_libraries(${target} PUBLIC foxhunt_${used})
    endif()
  endforeach()
  fx_precompile_room(${target} ${R_SOURCES})
  list(LENGTH R_TORCH_SOURCES many)
  if(torch IN_LIST R_USES AND FOXHUNT_TORCH AND many GREATER 5)
    fx_precompile_torch(${target} ${R_TORCH_SOURCES})
  endif()
  if(FOXHUNT_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${target} foxhunt_warnings ${R_LIBS}
      GTest::gmock GTest::gtest GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${FOXHUNT_TEST_OPTIONS})
    list(LENGTH R_TORCH_TESTS many)
    if(torch IN_LIST R_USES AND FOXHUNT_TORCH AND many GREATER 5)
      fx_precompile_torch(${name}_test ${R_TORCH_TESTS})
    else()
      fx_precompile_tests(${name}_test)
    endif()
    foreach(room ${R_TEST_ROOMS})
      target_link_libraries(${name}_test PRIVATE foxhunt_${room})
    endforeach()
    fx_discover(${name}_test)
  endif()
endfunction()
