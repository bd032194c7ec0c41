# cmake --install, and find_package(attend) and pkg-config for those who use the libraries.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ATTEND_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attend)
# pkg-config files find the headers from where they lie themselves, so that a prefix can be moved.
file(RELATIVE_PATH ATTEND_PC_INCLUDEDIR
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})

# attend_install(TARGET COMPONENT DESCRIPTION text REQUIRES package... [NEEDS package...] [LIBS flag...])
# A library, its headers, its part of find_package(attend), and TARGET.pc. Programs see the headers of
# what it REQUIRES; it links to what it NEEDS and to LIBS, and so do programs where it is static.
function(attend_install target component)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DESCRIPTION" "REQUIRES;NEEDS;LIBS")
  set(install_component attend_${component})
  install(TARGETS ${target} EXPORT attend-${component}-targets COMPONENT ${install_component}
    FILE_SET HEADERS COMPONENT ${install_component})
  install(EXPORT attend-${component}-targets NAMESPACE attend:: DESTINATION ${ATTEND_CMAKE_DIR}
    COMPONENT ${install_component})
  get_target_property(name ${target} OUTPUT_NAME)
  list(PREPEND arg_REQUIRES "Requires:")
  list(PREPEND arg_NEEDS "\nRequires.private:")
  list(PREPEND arg_LIBS "\nLibs.private:")
  if(NOT BUILD_SHARED_LIBS)  # no program links to it without them
    list(REMOVE_AT arg_NEEDS 0)
    list(REMOVE_AT arg_LIBS 0)
  endif()
  list(JOIN arg_REQUIRES " " requires)
  list(JOIN arg_NEEDS " " needs)
  list(JOIN arg_LIBS " " libs)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc @ONLY CONTENT [[
libdir=${pcfiledir}/..
includedir=${pcfiledir}/@ATTEND_PC_INCLUDEDIR@

Name: @name@
Description: @arg_DESCRIPTION@
Version: @PROJECT_VERSION@
@requires@ @needs@
Libs: -L${libdir} -l@name@ @libs@
Cflags: -I${includedir}
]])
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${install_component})
endfunction()

attend_install(attend_core core DESCRIPTION "Tensors, gradients, layers and attention on CPUs"
  REQUIRES fmt NEEDS libhwy LIBS -pthread)
if(ATTEND_BUILD_MODELS)
  attend_install(attend attend DESCRIPTION "Attention models on CPUs: text, training, decoding"
    REQUIRES attend-core NEEDS icu-uc sentencepiece zlib yaml-cpp)
endif()
if(ATTEND_BUILD_SERVE)
  attend_install(attend_serve serve DESCRIPTION "Attention models explored over HTTP"
    REQUIRES attend)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attend-config.cmake.in
  ${PROJECT_BINARY_DIR}/attend-config.cmake INSTALL_DESTINATION ${ATTEND_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attend-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attend-config.cmake
  ${PROJECT_BINARY_DIR}/attend-config-version.cmake DESTINATION ${ATTEND_CMAKE_DIR}
  COMPONENT attend_core)

if(TARGET attend_cli)
  if(BUILD_SHARED_LIBS)
    set_target_properties(attend_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(TARGETS attend_cli COMPONENT attend_cli)
  if(NOT CMAKE_CROSSCOMPILING)
    set(printed ${PROJECT_BINARY_DIR}/cli)
    set(ATTEND_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
      "Where completions for zsh are installed")
    install(FILES ${printed}/attend.bash RENAME attend
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT attend_cli)
    install(FILES ${printed}/attend.zsh RENAME _attend
      DESTINATION ${ATTEND_ZSH_DIR} COMPONENT attend_cli)
    install(FILES ${printed}/attend.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT attend_cli)
    install(FILES ${printed}/attend.man RENAME attend.1
      DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT attend_cli)
  endif()
endif()
