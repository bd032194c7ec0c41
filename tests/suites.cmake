# cmake -D PROGRAM=attend_tests [-D EMULATOR=...] -D OUTPUT=FILE -D TIMEOUT=SECONDS -D ENVIRONMENT=LIST -P suites.cmake
# Writes a test of ctest for each suite of PROGRAM, such as Softmax or All/EveryKind, that runs all of the
# suite in one process: there are ten times as many tests as suites, and a process takes longer to start
# than most tests take. On a failure, ctest shows the names of the tests that ran.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+\\.[^\n]*" suites "${listed}")
set(text)
foreach(suite ${suites})
  string(REGEX REPLACE "^\n?([^ ]+)\\..*" "\\1" suite "${suite}")
  string(APPEND text "add_test(\"${suite}\" ${EMULATOR} \"${PROGRAM}\" \"--gtest_filter=${suite}.*\")\n"
    "set_tests_properties(\"${suite}\" PROPERTIES TIMEOUT ${TIMEOUT} ENVIRONMENT \"${ENVIRONMENT}\")\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
list(LENGTH suites count)
if(count LESS 10)
  message(FATAL_ERROR "${PROGRAM} lists only ${count} suites:\n${listed}")
endif()
