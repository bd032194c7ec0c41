# Installs the build tree, builds the programs beside this file against it with find_package and with
# pkg-config, and runs them.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(work ${BUILD}/tests/install)
file(REMOVE_RECURSE ${work})

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix OUTPUT_QUIET)
expect_whole_headers(${work}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${work}/build)
foreach(component ${COMPONENTS})
  expect_output(${component} ${work}/build/uses_${component})
endforeach()

# By pkg-config, linked to what it names, with libraries that need others at run time as well.
find_program(pkg_config NAMES pkg-config REQUIRED)
file(GLOB_RECURSE files ${work}/prefix/*.pc)
list(GET files 0 file)
cmake_path(GET file PARENT_PATH folder)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{PKG_CONFIG_PATH} ${folder})
foreach(component ${COMPONENTS})
  set(package attend-${component})
  if(component STREQUAL "attend")
    set(package attend)
  endif()
  foreach(linkage "" --static)
    run(${pkg_config} ${linkage} --cflags --libs ${package} OUTPUT_VARIABLE flags
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(source ${CMAKE_CURRENT_LIST_DIR}/${component}.cpp)
    if(linkage)  # what the headers need was seen without it
      set(source ${work}/${component}.o)
    else()
      run(${COMPILER} ${FLAGS} -std=c++20 -c ${source} -o ${work}/${component}.o ${flags})
    endif()
    run(${COMPILER} ${FLAGS} ${work}/${component}.o -o ${work}/by_pkg_config ${flags}
      -Wl,-rpath,${libraries})
    expect_output(${component} ${work}/by_pkg_config)
  endforeach()
endforeach()
