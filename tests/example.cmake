# Runs an example and compares its output with the comment at the end of its source.
# Run by ctest: cmake -D PROGRAM=<binary> -D SOURCE=<its source> -P tests/example.cmake
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE} text)
string(REGEX REPLACE "^.*\n// Prints:\n" "" expected "${text}")
string(REGEX REPLACE "(^|\n)// " "\\1" expected "${expected}")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${SOURCE} promises\n${expected}but it printed\n${output}")
endif()
