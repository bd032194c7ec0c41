# What the tests of installation share. They are run by ctest with -D BUILD=<build tree>
# -D ROOT=<the repository> -D COMPILER=<of C++> -D FLAGS=<for it> -D COMPONENTS=<that were built>.
cmake_policy(VERSION 3.25)
set(core_layers base kernels tensor ops nn attention)
set(core_output "reshape: [3] has 3 elements but [2, 2] has 4\ngradient 0.5\nattention 3.0\n")
set(attend_output "eine Haus\nwrites\n")
set(serve_output "http://127.0.0.1:\n")

macro(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

# Runs a program of tests/install, and compares what it prints.
function(expect_output component program)
  run(${program} OUTPUT_VARIABLE output)
  if(NOT output STREQUAL "${${component}_output}")
    message(FATAL_ERROR "${program} printed\n${output}instead of\n${${component}_output}")
  endif()
endfunction()

# Every header of ours that an installed one includes is installed, and none of ours is included that
# comes from another library but fmt.
function(expect_whole_headers prefix)
  file(GLOB_RECURSE headers ${prefix}/include/*.h)
  foreach(header ${headers})
    file(STRINGS ${header} includes REGEX "^ *#include ")
    foreach(line ${includes})
      if(line MATCHES "\"(.*)\"" AND NOT EXISTS ${prefix}/include/${CMAKE_MATCH_1})
        message(SEND_ERROR "${header}: ${line}\nwhich is not installed")
      elseif(line MATCHES "<(unicode|sentencepiece|yaml-cpp|zlib|nlohmann|boost|hwy)")
        message(SEND_ERROR "${header}: ${line}\nwhich users need not have")
      endif()
    endforeach()
    if(header MATCHES "-inl\\.h$|/(problem|frontier|json_text|http_server|gemm_block)\\.h$")
      message(SEND_ERROR "${header} is nobody else's business, but was installed")
    endif()
  endforeach()
  list(LENGTH headers count)
  message(STATUS "${count} headers in ${prefix}")
endfunction()
