# cmake --install, and find_package(attend) for those who use the library.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ATTEND_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attend)
install(TARGETS attend EXPORT attend-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/attend DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)
install(EXPORT attend-targets NAMESPACE attend:: DESTINATION ${ATTEND_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attend-config.cmake.in
  ${PROJECT_BINARY_DIR}/attend-config.cmake INSTALL_DESTINATION ${ATTEND_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attend-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attend-config.cmake
  ${PROJECT_BINARY_DIR}/attend-config-version.cmake DESTINATION ${ATTEND_CMAKE_DIR})
if(TARGET attend_cli)
  set_target_properties(attend_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS attend_cli)
  if(NOT CMAKE_CROSSCOMPILING)
    set(printed ${PROJECT_BINARY_DIR}/cli)
    install(FILES ${printed}/attend.bash RENAME attend
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${printed}/attend.zsh RENAME _attend
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${printed}/attend.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    install(FILES ${printed}/attend.man RENAME attend.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
