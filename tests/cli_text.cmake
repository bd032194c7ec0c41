# Language models on the command line: cmake -DATTEND=... -DWORK=<a directory> -P cli_text.cmake
include(${CMAKE_CURRENT_LIST_DIR}/cli_expect.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
string(REPEAT "the cat sat on the mat .\nthe dog sat on the log .\n" 40 book)
file(WRITE ${WORK}/book "${book}")
string(REPEAT "ab\n" 200 letters)
file(WRITE ${WORK}/letters "${letters}")
set(writer ${WORK}/writer)
set(small --vocabulary.kind character --data.context 32)
expect(0 "trained 100 steps" train --preset gpt-nano --text ${WORK}/book --out ${writer} ${small} --model.gpt.layers 2
  --model.gpt.dropout 0 --data.documents line --batch.tokens 512 --training.steps 100)
set(ab ${WORK}/ab)
expect(0 "trained 200 steps" train --preset gpt-nano --text ${WORK}/letters --out ${ab} ${small} --model.gpt.layers 1
  --model.gpt.width 16 --model.gpt.heads 2 --model.gpt.dropout 0 --batch.tokens 256 --training.steps 200
  --optimizer.rate 0.01 --schedule.warmup 5)

# Every prompt has its texts, also where a beam finds fewer than were asked for; they are numbered by rank.
expect(0 "." generate ${ab} a b ab --beam 8 -n 8 --max-tokens 1 --separator "--")
string(REGEX MATCHALL "--\n" separators "${OUT}")
list(LENGTH separators separators)
expect_equal("${separators}" "11" "texts of a beam")
expect(0 "{.line.:0,.sample.:3,.*{.line.:1,.sample.:0,.*{.line.:2,.sample.:3," generate ${ab} a b ab --beam 8 -n 8
  --max-tokens 1 --json)

# Log-probabilities are the model's own, those that the lens shows: tokens that are never written keep their share.
set(raw ${WORK}/raw)
expect(0 "trained 1 step" train --preset gpt-nano --text ${WORK}/letters --out ${raw} ${small} --training.steps 1)
foreach(way "--temperature;0" "--beam;2" "--best-of;2" "--repetition-penalty;2")
  expect(0 "." generate ${raw} ab --min-tokens 4 --max-tokens 4 ${way} --json)
  string(JSON text GET "${OUT}" text)
  string(JSON said GET "${OUT}" token_log_probabilities 0)
  expect(0 "." inspect ${raw} ab --target "${text}" --show lens --format json)
  string(JSON stages LENGTH "${OUT}" cells)
  math(EXPR last "${stages} - 1")
  string(JSON probability GET "${OUT}" cells ${last} 2 probability)
  execute_process(COMMAND awk "BEGIN { d = ${said} - log(${probability}); exit d * d > 1e-8 }" RESULT_VARIABLE differ)
  expect_equal("${differ}" "0" "${way}: log-probability ${said} of a token with the probability ${probability}")
endforeach()

# SIGTERM ends a conversation, in which Ctrl-C ends only what is being written.
file(WRITE ${WORK}/typed "the cat\n")
execute_process(COMMAND timeout --preserve-status -s TERM 2 ${ATTEND} generate ${writer} --interactive
  --min-tokens 1000000 --max-tokens 1000000 INPUT_FILE ${WORK}/typed RESULT_VARIABLE result OUTPUT_VARIABLE out
  ERROR_VARIABLE err)
if(NOT result EQUAL 143 OR NOT out MATCHES "^ sat on .*\n$")
  message(FATAL_ERROR "A conversation that is terminated: exit ${result}, ${err}")
endif()
execute_process(COMMAND timeout --preserve-status -s INT 2 ${ATTEND} generate ${writer} --interactive
  --min-tokens 1000000 --max-tokens 1000000 INPUT_FILE ${WORK}/typed RESULT_VARIABLE result OUTPUT_VARIABLE out
  ERROR_VARIABLE err)
if(NOT result EQUAL 0 OR NOT out MATCHES "^ sat on .*\n$")
  message(FATAL_ERROR "A conversation that is interrupted: exit ${result}, ${err}")
endif()

# A line feed that stopped the model is the only one before the next line: `ab`, line feed, `ab`.
file(WRITE ${WORK}/typed "ab\nab\n")
set(INPUT ${WORK}/typed)
set(in_turns generate ${ab} --interactive --stop "\\n" --temperature 0)
expect(0 "prompt 2 has 5 tokens; the model read the last 4" ${in_turns} --context 4)
expect(0 "^$" ${in_turns} --context 6)
set(INPUT /dev/null)

# What is inspected of a language model is its prompt, and as many tokens more as were asked for.
expect(0 "^the cat sat\n" inspect ${writer} "the cat" --max-length 4 --layer layers.0.self)
expect(0 "^the cat sat on\n" inspect ${writer} "the cat" --min-length 7 --max-length 7 --layer layers.0.self)
expect(0 "^the dog sat\n" inspect ${writer} --input "text=the dog" --max-length 4 --layer layers.0.self)
expect(1 "inspect: .text. is given twice; leave out the argument or --input" inspect ${writer} "the cat" --input text=abc)
expect(1 "inspect: .text. is given twice; leave out one --input" inspect ${writer} --input text=a --input text=b)
expect(1 "inspect: .text. is given twice; leave out --target or --input" inspect ${writer} --input text=a --target b)

# Options that would do nothing for a model are refused, and the message says why.
set(measure evaluate ${writer} --text ${WORK}/book)
foreach(option "--beam;3" "--sample" "--lowercase" "--tokenize;none" "--grouped" "--references;a" "--label;a" "--target;a"
    "--longest-line;9")
  list(GET option 0 name)
  expect(2 "^attend: ${name}: does not go with a language model, " ${measure} ${option})
endforeach()
file(WRITE ${WORK}/texts "fine film\ndull film\nfine\ndull\n")
file(WRITE ${WORK}/labels "good\nbad\ngood\nbad\n")
set(classes ${WORK}/classes)
expect(0 "trained 2 steps" train --preset label --text ${WORK}/texts --label ${WORK}/labels --out ${classes}
  --vocabulary.kind word --training.steps 2)
foreach(option "--beam;3" "--lowercase" "--grouped" "--references;a")
  list(GET option 0 name)
  expect(2 "^attend: ${name}: does not go with a model that gives labels, " evaluate ${classes} --text ${WORK}/texts
    --label ${WORK}/labels ${option})
endforeach()
expect(1 "texts:1: no tab parts text and label; give the labels with --label" evaluate ${classes} --text ${WORK}/texts)
expect(1 "a model that gives labels reads one file; give --text once" evaluate ${classes}
  --text ${WORK}/texts ${WORK}/texts --label ${WORK}/labels)

# Several files of text, the model before or after them; and what is repaired is said.
expect(0 "nats in each of 4000 tokens.*3840 characters in 160 documents" evaluate ${writer} --text ${WORK}/book
  ${WORK}/book --documents line)
expect(0 "3840 characters in 160 documents" evaluate --text ${WORK}/book ${WORK}/book ${writer} --documents line)
expect(1 "standard input can be read only once" evaluate ${writer} --text -)
# Unknown tokens say nothing of the text they stand for.
file(WRITE ${WORK}/foreign "ζζζ\n")
expect(0 "^perplexity [^\n]*; [1-9][0-9]* unknown\n$" evaluate ${writer} --text ${WORK}/foreign)
execute_process(COMMAND printf "the \\377cat\\n\\000\\000" OUTPUT_FILE ${WORK}/broken)
expect(0 "broken: 1 piece of invalid UTF-8 replaced\nattend: [^\n]*broken: 2 NUL bytes removed\n" evaluate ${writer} --text ${WORK}/broken)

# Prompts are repaired wherever they come from.
execute_process(COMMAND sh -c "'${ATTEND}' generate '${writer}' the \"$(printf 'the \\377c')\" --max-tokens 2"
  OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT out MATCHES "^the[^\n]*\n---\nthe �c[^\n]*\n$" OR NOT err MATCHES "attend: prompt 2: 1 piece of invalid UTF-8 replaced\n")
  message(FATAL_ERROR "A prompt with invalid UTF-8: ${out}${err}")
endif()

# A file that is one prompt is read as training reads it.
function(expect_prompt content prompt)
  execute_process(COMMAND printf "${content}" OUTPUT_FILE ${WORK}/prompt)
  expect(0 "." generate ${writer} --prompt-file ${WORK}/prompt --max-tokens 1 --json)
  string(JSON read GET "${OUT}" prompt)
  expect_equal("${read}" "${prompt}" "the prompt ${content}")
endfunction()
expect_prompt("the\\r\\ncat" "the\r\ncat")
expect_prompt("the\\r\\ncat\\r\\n" "the\r\ncat")
expect_prompt("the cat\\n\\n" "the cat\n")
expect_prompt("" "")
string(REPEAT "the cat " 150000 long)
file(WRITE ${WORK}/prompt "${long}")
expect(0 "prompt 1 has 1200000 tokens" generate ${writer} --prompt-file ${WORK}/prompt --max-tokens 1 --no-prompt)

# Settings are named one by one.
expect(1 "temperature -1; it must be finite and at least 0\n$" generate ${writer} the --temperature -1)
expect(1 "top_p 0; it must be above 0 and at most 1\n$" generate ${writer} the --top-p 0)
expect(1 "2 texts, but greedy decoding .temperature 0. has one; use a beam of 2, or a temperature above 0"
  generate ${writer} the --temperature 0 -n 2)

# One is not many.
expect(0 "1 of the prompt.s 2 tokens is not in the vocabulary" generate ${writer} "tX" --max-tokens 1)
expect(0 "the mean of the weights at step 100\n" average ${writer} --last 1 --out ${WORK}/mean)

# Models that keep a state, or see a fixed number of tokens, do not outgrow what they were trained with.
file(WRITE ${WORK}/few "the cat sat on the mat .\n")
foreach(preset lstm-small conv-lm llama)
  expect(0 "trained 1 step" train --preset ${preset} --text ${WORK}/few --out ${WORK}/${preset}
    --vocabulary.kind character --data.context 8 --training.steps 1)
  expect(0 "." generate ${WORK}/${preset} the --min-tokens 12 --max-tokens 12)
  if(preset STREQUAL llama)
    set(said "attend: the text outgrew the 8 tokens of context that the model was trained with; --context 8 keeps to them\n")
  else()
    set(said "")
  endif()
  expect_equal("${ERR}" "${said}" "a long text of ${preset}")
endforeach()

# Fine-tuning: another task around the same encoder, and an adapter.
string(REPEAT "the cat sat\nthe dog sat\n" 60 texts)
string(REPEAT "cat\ndog\n" 60 labels)
file(WRITE ${WORK}/texts "${texts}")
file(WRITE ${WORK}/labels "${labels}")
set(tune train --init-from ${writer} --text ${WORK}/texts --label ${WORK}/labels --data.held-out 0 --out)
expect(0 "model: label around gpt, with the weights and the dropout of .*writer; rate 0.003.*vocabulary: [0-9]+ text tokens .character. and 2 labels .line., as in init_from.*start: took ([0-9]+) of [0-9]+ tensors of [^\n]*writer .gpt.: encoder [0-9]+\nstart: new 2: output 2\n.*trained 60 steps"
  ${tune} ${WORK}/animals --training.steps 60 --optimizer.rate 0.003)
expect(0 "^cat\t.*\ndog\t" classify ${WORK}/animals --input ${WORK}/texts)
expect(0 "trained 60 steps already" ${tune} ${WORK}/animals --training.steps 60)
expect(0 "\"start\":.*\"taken\":.*\"encoder.embedding.weight\".*\"new\":.\"output.weight\",\"output.bias\"." ${tune} ${WORK}/again
  --training.steps 1 --json)
expect(1 "vocabulary.kind is word, but .*writer was trained with character tokens; leave out" ${tune} ${WORK}/words
  --vocabulary.kind word)
expect(0 "start: took .* rows of encoder.embedding.weight" ${tune} ${WORK}/words --vocabulary.kind word --init-vocabulary match
  --training.steps 1)
expect(1 "nowhere: not a model directory" train --init-from ${WORK}/nowhere --text ${WORK}/texts --out ${WORK}/none)
expect(0 "adapter: rank 2, [0-9]+ parameters are trained.*trained 3 steps" train --init-from ${writer} --lora.rank 2
  --text ${WORK}/book --data.documents line --out ${WORK}/adapter --training.steps 3)
expect(0 "adapter +rank 2 of .*writer" info ${WORK}/adapter)
set(greedy the --temperature 0 --max-tokens 12)
expect(0 "." generate ${WORK}/adapter ${greedy})
set(apart "${OUT}")
expect(0 "." generate ${writer} --adapter ${WORK}/adapter ${greedy})
expect_equal("${OUT}" "${apart}" "an adapter that is given")
expect(0 "merged: .*writer with .*adapter" adapter merge ${writer} ${WORK}/adapter --out ${WORK}/merged)
expect(0 "." generate ${WORK}/merged ${greedy})
expect_equal("${OUT}" "${apart}" "an adapter that is merged")
expect(1 "this adapter changes .*writer.*but .*ab has other weights" generate ${ab} --adapter ${WORK}/adapter ${greedy})
expect(1 "this run trains an adapter" average ${WORK}/adapter --last 1 --out ${WORK}/mean-adapter)
