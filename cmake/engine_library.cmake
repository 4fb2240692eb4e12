# The engine as others link it: libfoxhunt_engine.so beside the programs, libfoxhunt_engine.a with all rooms inside,
# <foxhunt.h>, and the package that find_package(foxhunt) reads. Included by foxhunt/engine/CMakeLists.txt, which names
# the sources of the C interface in `c_interface`.
#
#   cmake --install build/release --prefix DIR --component engine
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

configure_file(foxhunt.h ${CMAKE_BINARY_DIR}/include/foxhunt.h COPYONLY)
set(rooms base config market book features kernels model bundle engine)

add_library(foxhunt_engine_shared SHARED ${c_interface})
target_link_libraries(foxhunt_engine_shared PRIVATE foxhunt_engine foxhunt_warnings)
target_include_directories(foxhunt_engine_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Nothing but foxhunt_* leaves it, so that a program's own fmt or OpenSSL of another version cannot meet ours; what the
# linker does not need is not asked for at run time.
target_link_options(foxhunt_engine_shared PRIVATE
  LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/foxhunt_engine.map LINKER:--as-needed)
# Sanitizers find their run time in the program; without them a symbol that is missing is an error here.
if(NOT FOXHUNT_SANITIZE)
  target_link_options(foxhunt_engine_shared PRIVATE LINKER:--no-undefined)
endif()
set_target_properties(foxhunt_engine_shared PROPERTIES
  OUTPUT_NAME foxhunt_engine EXPORT_NAME engine
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/foxhunt_engine.map)

# One archive of all rooms, by ar's own script language.
set(archive ${CMAKE_BINARY_DIR}/libfoxhunt_engine.a)
set(script "CREATE ${archive}\n")
set(members)
foreach(room ${rooms})
  string(APPEND script "ADDLIB $<TARGET_FILE:foxhunt_${room}>\n")
  list(APPEND members foxhunt_${room})
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/engine_archive.mri CONTENT "${script}SAVE\nEND\n")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} -M < ${CMAKE_BINARY_DIR}/engine_archive.mri
  DEPENDS ${members} ${CMAKE_BINARY_DIR}/engine_archive.mri
  COMMENT "All rooms of the engine into libfoxhunt_engine.a")
add_custom_target(foxhunt_engine_archive ALL DEPENDS ${archive})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/foxhunt)
install(TARGETS foxhunt_engine_shared EXPORT foxhuntTargets COMPONENT engine
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engine NAMELINK_COMPONENT engine)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engine)
install(FILES foxhunt.h ${CMAKE_SOURCE_DIR}/foxhunt/features/foxhunt_features.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT engine)
install(EXPORT foxhuntTargets NAMESPACE foxhunt:: DESTINATION ${package} COMPONENT engine)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/foxhuntConfig.cmake.in
  ${CMAKE_BINARY_DIR}/generated/foxhuntConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/foxhuntConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/foxhuntConfig.cmake ${CMAKE_BINARY_DIR}/generated/foxhuntConfigVersion.cmake
  DESTINATION ${package} COMPONENT engine)
