# Debian packages, by `./dev package`: attend is the command, libattend-dev what C++ programs are built
# with. They need CMAKE_INSTALL_PREFIX=/usr, as in the preset `package`, for the libraries to go where
# Debian keeps them.
if(NOT TARGET attend_cli OR CMAKE_CROSSCOMPILING OR NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  return()
endif()

# Who made the packages and when: Debian's own variables, or the last commit.
set(ATTEND_MAINTAINER "Attend maintainers <maintainers@attend.invalid>")
if(DEFINED ENV{DEBEMAIL})
  set(ATTEND_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(seconds "$ENV{SOURCE_DATE_EPOCH}")
if(seconds STREQUAL "")
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(seconds STREQUAL "")
  string(TIMESTAMP seconds %s UTC)
endif()
execute_process(COMMAND date --utc --rfc-email --date=@${seconds} OUTPUT_VARIABLE ATTEND_PACKAGE_DATE
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# What Debian expects in every package, and its man pages compressed.
set(work ${PROJECT_BINARY_DIR}/package)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/copyright.in ${work}/copyright @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in ${work}/changelog @ONLY)
execute_process(COMMAND gzip --best --no-name --force ${work}/changelog COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${work}/copyright ${work}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attend COMPONENT attend_cli)
install(FILES ${work}/copyright ${work}/changelog.gz
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libattend-dev COMPONENT attend_core)
install(CODE "execute_process(COMMAND gzip --best --no-name --force
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/attend.1\"
  COMMAND_ERROR_IS_FATAL ANY)" COMPONENT attend_cli)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL attend_cli attend_core attend_attend attend_serve)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${ATTEND_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME attend)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS librsvg2-2)  # loaded when a PNG is drawn
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "attention models on CPUs: train, translate, explore
Trains models that translate, rewrite, classify or generate text on ordinary
machines: recurrent with attention, convolutional, or Transformers. Raw text
goes in, raw text comes out.
.
The command attend also shows what a model looks at, in the terminal, as a
picture, and on a page in the browser.")

# Both fmt and ICU put their version into the names of their symbols.
string(REGEX MATCH "^[0-9]+" fmt_major ${fmt_VERSION})
string(REGEX MATCH "^[0-9]+" icu_major ${ICU_VERSION})
math(EXPR fmt_next "${fmt_major} + 1")
math(EXPR icu_next "${icu_major} + 1")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libattend-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
string(JOIN ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libfmt-dev (>= ${fmt_major})" "libfmt-dev (<< ${fmt_next})"
  "libicu-dev (>= ${icu_major})" "libicu-dev (<< ${icu_next})"
  libhwy-dev libsentencepiece-dev libyaml-cpp-dev zlib1g-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "attend, cmake, pkg-config, librsvg2-2")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "attention models on CPUs: C++ libraries
Headers, static libraries, and files for CMake and pkg-config of three C++20
libraries, each on top of the one before.
.
attend::core has tensors, gradients, layers and attention; attend::attend text,
models, training, decoding and inspection; attend::serve the explorer over HTTP.
Kernels for SSE4, AVX2 and AVX-512 are chosen at run time.")

include(CPack)
cpack_add_component_group(command)
cpack_add_component_group(development)
cpack_add_component(attend_cli GROUP command)
foreach(component attend_core attend_attend attend_serve)
  cpack_add_component(${component} GROUP development)
endforeach()
