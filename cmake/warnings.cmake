# One interface target with the warnings every file of ours is built with.
add_library(foxhunt_warnings INTERFACE)
target_compile_options(foxhunt_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough)
option(FOXHUNT_WERROR "Warnings are errors" ON)
if(FOXHUNT_WERROR)
  target_compile_options(foxhunt_warnings INTERFACE -Werror)
endif()
# GCC 12 reports impossible paths inside std and fmt when it inlines at -O2 (GCC bugs 105329, 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(foxhunt_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
    -Wno-maybe-uninitialized -Wno-dangling-pointer)
endif()
