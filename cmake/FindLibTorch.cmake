# Finds the LibTorch inside PyPI's torch wheel. TORCH_ROOT (cache or environment) is the folder given to
# `pip install --target`; scripts/setup fills it.
#
#   torch::cpu    libtorch_cpu and libc10: all that our programs link
#   torch::cuda   beside it where libtorch_cuda and the wheels it needs are there. Nothing links it:
#                 programs load CUDA at run time, so that one binary serves both. The preset `cuda` asks for it.
set(TORCH_ROOT "$ENV{TORCH_ROOT}" CACHE PATH "folder of pip install --target")
if(NOT TORCH_ROOT)
  set(_lt_cache "$ENV{XDG_CACHE_HOME}")
  if(NOT _lt_cache)
    set(_lt_cache "$ENV{HOME}/.cache")
  endif()
  foreach(_lt_name libtorch-cuda libtorch)
    if(NOT TORCH_ROOT AND EXISTS "${_lt_cache}/foxhunt/${_lt_name}/complete")
      set(TORCH_ROOT "${_lt_cache}/foxhunt/${_lt_name}" CACHE PATH "folder of pip install --target" FORCE)
    endif()
  endforeach()
endif()

set(_lt "${TORCH_ROOT}/torch")
set(LibTorch_COMPLETE TRUE)
set(_lt_missing "")
foreach(_f torch/include/ATen/ATen.h torch/lib/libtorch_cpu.so torch/lib/libc10.so
           nvidia/cu13/lib/libcudart.so.13 nvidia/cu13/lib/libcupti.so.13)
  if(NOT EXISTS "${TORCH_ROOT}/${_f}")
    set(LibTorch_COMPLETE FALSE)
    string(APPEND _lt_missing " ${TORCH_ROOT}/${_f}")
  endif()
endforeach()
if(LibTorch_COMPLETE)
  file(STRINGS "${_lt}/include/torch/headeronly/version.h" _lt_line REGEX "^ *\"[0-9]")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${_lt_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_COMPLETE VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup or set TORCH_ROOT, missing:${_lt_missing}")

# The wheel's include folder holds a libfmt of its own, newer than the system's libfmt.so that we link: our files must see
# the system's headers first. (A plain -isystem /usr/include is ignored by GCC.)
find_path(FMT_HEADERS fmt/format.h PATHS /usr/include REQUIRED)
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/fmt_first")
file(CREATE_LINK "${FMT_HEADERS}/fmt" "${CMAKE_BINARY_DIR}/fmt_first/fmt" SYMBOLIC)

if(LibTorch_FOUND AND NOT TARGET torch::cpu)
  add_library(torch::cpu SHARED IMPORTED)  # imported: its include folders become -isystem
  set_target_properties(torch::cpu PROPERTIES IMPORTED_LOCATION "${_lt}/lib/libtorch_cpu.so"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_BINARY_DIR}/fmt_first;${_lt}/include;${_lt}/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "${_lt}/lib/libc10.so")
  if(EXISTS "${_lt}/lib/libtorch_cuda.so" AND EXISTS "${TORCH_ROOT}/nvidia/cu13/lib/libcublas.so.13")
    add_library(torch::cuda INTERFACE IMPORTED)
    target_link_libraries(torch::cuda INTERFACE
      torch::cpu "${_lt}/lib/libc10_cuda.so" "${_lt}/lib/libtorch_cuda.so")
    target_link_options(torch::cuda INTERFACE LINKER:--no-as-needed)
  endif()
endif()
