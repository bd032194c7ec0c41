# expect(code pattern arguments...): runs the command and checks its exit code and what it says.
# Input comes from the file that INPUT names; OUT and ERR are left for further checks.
set(INPUT /dev/null)
function(expect code pattern)
  execute_process(COMMAND ${ATTEND} ${ARGN} INPUT_FILE ${INPUT}
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result EQUAL ${code} OR NOT "${out}${err}" MATCHES "${pattern}")
    message(FATAL_ERROR
      "attend ${ARGN}: exit ${result}, expected ${code} and '${pattern}'\n${out}${err}")
  endif()
  set(OUT "${out}" PARENT_SCOPE)
  set(ERR "${err}" PARENT_SCOPE)
endfunction()

function(expect_equal actual expected what)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "${what}: got\n${actual}\ninstead of\n${expected}")
  endif()
endfunction()
