# attend::core in a root where nothing is that only the libraries on top of it need: a program is built
# against it and run, and the project itself is configured.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(work ${BUILD}/tests/core_alone)
file(REMOVE_RECURSE ${work})

# What it needs is a prefix of its own that holds its layers and nothing else.
run(${CMAKE_COMMAND} --install ${BUILD} --component attend_core --prefix ${work}/prefix OUTPUT_QUIET)
expect_whole_headers(${work}/prefix)
file(GLOB layers RELATIVE ${work}/prefix/include/attend ${work}/prefix/include/attend/*)
set(expected ${core_layers} core.h)
list(SORT expected)
if(NOT layers STREQUAL expected)
  message(FATAL_ERROR "The headers of attend::core are those of ${layers}, not of ${expected}")
endif()
file(GLOB_RECURSE libraries RELATIVE ${work}/prefix ${work}/prefix/*.a ${work}/prefix/*.so*
  ${work}/prefix/*.pc)
list(FILTER libraries EXCLUDE REGEX "attend-core\\.")
if(libraries)
  message(FATAL_ERROR "Installed beside attend::core: ${libraries}")
endif()

# Packages that are not found, and headers that stop the compiler.
set(hidden)
foreach(package ICU PkgConfig ZLIB yaml-cpp nlohmann_json Boost httplib CLI11)
  list(APPEND hidden -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
file(GLOB_RECURSE sources ${ROOT}/attend/*.h ${ROOT}/attend/*.cpp ${ROOT}/cli/*.h)
foreach(source ${sources})
  file(STRINGS ${source} includes
    REGEX "^#include <(unicode/|sentencepiece|yaml-cpp/|zlib|nlohmann/|boost/|CLI/)")
  foreach(line ${includes})
    string(REGEX REPLACE "^#include <(.*)>.*" "\\1" header ${line})
    file(WRITE ${work}/hidden/${header} "#error \"attend::core does without this\"\n")
  endforeach()
endforeach()
file(GLOB_RECURSE stubs ${work}/hidden/*)
list(LENGTH stubs count)
if(count LESS 10)
  message(FATAL_ERROR "Only ${count} headers are hidden: ${stubs}")
endif()

run(${CMAKE_COMMAND} --no-warn-unused-cli -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build ${hidden}
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${work}/prefix
  "-DCMAKE_CXX_FLAGS=${FLAGS} -I${work}/hidden" -D WANTED=core)
run(${CMAKE_COMMAND} --build ${work}/build)
expect_output(core ${work}/build/uses_core)
run(ldd ${work}/build/uses_core OUTPUT_VARIABLE needed)
if(needed MATCHES "icu|sentencepiece|yaml|libz\\.|boost|not found")
  message(FATAL_ERROR "A program with all of attend::core loads\n${needed}")
endif()

# What is not installed is missed by name, whoever asks for it.
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build
  -D WANTED=serve ERROR_VARIABLE errors OUTPUT_QUIET RESULT_VARIABLE result)
string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
if(result EQUAL 0 OR NOT errors MATCHES "component 'serve' is not installed; there are: core")
  message(FATAL_ERROR "Without attend::serve, find_package said\n${errors}")
endif()

# The project itself, with its tests and examples, asks for none of them; and with attend::attend, for
# nothing that only attend::serve and the command need.
function(expect_configured build options hidden_packages absent)
  run(${CMAKE_COMMAND} --no-warn-unused-cli -G Ninja -S ${ROOT} -B ${build} ${hidden_packages}
    -D CMAKE_CXX_COMPILER=${COMPILER} ${options} OUTPUT_QUIET)
  file(STRINGS ${build}/CMakeCache.txt found REGEX "^(${absent})[^:]*:")
  if(found)
    message(FATAL_ERROR "With ${options}, the project looked for\n${found}")
  endif()
endfunction()
expect_configured(${work}/project -DATTEND_BUILD_MODELS=OFF "${hidden}"
  "ICU|ZLIB|yaml-cpp|nlohmann|Boost|sentencepiece|PKG_CONFIG|ATTEND_ESBUILD|CLI11")
if("attend" IN_LIST COMPONENTS)
  expect_configured(${work}/without_serve -DATTEND_BUILD_SERVE=OFF
    "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON;-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"
    "Boost|ATTEND_ESBUILD|CLI11")
endif()
