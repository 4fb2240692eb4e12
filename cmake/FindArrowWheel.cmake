# Finds Arrow's C++ libraries and headers inside PyPI's pyarrow wheel. ARROW_ROOT (cache or environment) is the folder
# given to `pip install --target`; scripts/setup --parquet fills it.
#
#   arrow::parquet   libparquet and libarrow; only libfoxhunt_parquet.so links them
set(ARROW_ROOT "$ENV{ARROW_ROOT}" CACHE PATH "folder of pip install --target")
if(NOT ARROW_ROOT)
  set(_aw_cache "$ENV{XDG_CACHE_HOME}")
  if(NOT _aw_cache)
    set(_aw_cache "$ENV{HOME}/.cache")
  endif()
  if(EXISTS "${_aw_cache}/foxhunt/arrow/complete")
    set(ARROW_ROOT "${_aw_cache}/foxhunt/arrow" CACHE PATH "folder of pip install --target" FORCE)
  endif()
endif()

set(_aw "${ARROW_ROOT}/pyarrow")
file(GLOB ArrowWheel_ARROW "${_aw}/libarrow.so.*")
file(GLOB ArrowWheel_PARQUET "${_aw}/libparquet.so.*")
if(EXISTS "${_aw}/include/arrow/util/config.h")
  file(STRINGS "${_aw}/include/arrow/util/config.h" _aw_line REGEX "ARROW_VERSION_STRING")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" ArrowWheel_VERSION "${_aw_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ArrowWheel REQUIRED_VARS ArrowWheel_PARQUET ArrowWheel_ARROW ArrowWheel_VERSION
  VERSION_VAR ArrowWheel_VERSION REASON_FAILURE_MESSAGE "run scripts/setup --parquet or set ARROW_ROOT")

if(ArrowWheel_FOUND AND NOT TARGET arrow::parquet)
  add_library(arrow::arrow SHARED IMPORTED)
  set_target_properties(arrow::arrow PROPERTIES IMPORTED_LOCATION "${ArrowWheel_ARROW}"
    INTERFACE_INCLUDE_DIRECTORIES "${_aw}/include")
  add_library(arrow::parquet SHARED IMPORTED)
  set_target_properties(arrow::parquet PROPERTIES IMPORTED_LOCATION "${ArrowWheel_PARQUET}"
    INTERFACE_LINK_LIBRARIES arrow::arrow)
endif()
