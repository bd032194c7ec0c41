# Trains the model that examples/load_model.cpp loads, runs the program beside it, and compares its
# output with the comment at the end of its source; then without a model, which ends with the error.
# Run by ctest: cmake -D ATTEND=<command> -D PROGRAM=<binary> -D SOURCE=<its source> -D WORK=<directory>
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(pairs "")
foreach(size "klein small" "gross big" "alt old")
  string(REPLACE " " ";" size ${size})
  list(GET size 0 german_size)
  list(GET size 1 english_size)
  foreach(thing "Haus house" "Buch book" "Boot boat")
    string(REPLACE " " ";" thing ${thing})
    list(GET thing 0 german)
    list(GET thing 1 english)
    string(APPEND pairs "ein ${german_size}es ${german}\ta ${english_size} ${english}\n")
  endforeach()
endforeach()
file(WRITE ${WORK}/pairs.tsv "${pairs}")
execute_process(COMMAND ${ATTEND} train --preset bahdanau --source pairs.tsv --out model
    --vocabulary.kind word --model.rnn.embedding 16 --model.rnn.hidden 32 --model.rnn.embedding-dropout 0 --model.rnn.output-dropout 0
    --optimizer.rate 0.01 --schedule.warmup 10 --training.steps 150
  WORKING_DIRECTORY ${WORK} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE} text)
string(REGEX REPLACE "^.*\n// Prints:\n" "" expected "${text}")
string(REGEX REPLACE "(^|\n)// " "\\1" expected "${expected}")
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "${SOURCE} promises\n${expected}but it printed\n${output}")
endif()

file(RENAME ${WORK}/model ${WORK}/moved)
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${WORK} ERROR_VARIABLE error RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT error MATCHES
    "throwing an instance of 'attend::IoError'\n *what\\(\\): +model: not a model directory: it has no config.json; ")
  message(FATAL_ERROR "without a model the program ended with ${result} and\n${error}")
endif()
