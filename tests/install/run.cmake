# Installs the build tree BUILD, builds the program beside this file against it, and runs that.
# Run by ctest: cmake -D BUILD=<build tree> -D FLAGS=<compiler flags> -P tests/install/run.cmake
set(work ${BUILD}/tests/install)
file(REMOVE_RECURSE ${work})

macro(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build
  -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/uses_attend OUTPUT_VARIABLE output)
set(expected "reshape: [3] has 3 elements but [2, 2] has 4\ngradient 0.5\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "The program printed\n${output}instead of\n${expected}")
endif()
