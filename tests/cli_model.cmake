# The life of a tiny model on the command line: cmake -DATTEND=... -DWORK=<a directory> -P cli_model.cmake
include(${CMAKE_CURRENT_LIST_DIR}/cli_expect.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/words "january\nmay\nseptember\nfebruary\nmarch\napril\n")
file(WRITE ${WORK}/numbers "01\n05\n09\n02\n03\n04\n")
file(WRITE ${WORK}/short "january\n")
file(WRITE ${WORK}/empty "")
file(WRITE ${WORK}/blank "\n")
set(model ${WORK}/model)
set(train train --preset tiny --target ${WORK}/numbers --out ${model}
  --vocabulary.kind character --model.transformer.feed-forward 64
  --model.transformer.encoder-layers 1 --model.transformer.decoder-layers 1
  --model.transformer.dropout 0 --training.label-smoothing 0 --training.report-every 20
  --optimizer.rate 0.01 --schedule.warmup 5 --snapshots.every 30 --snapshots.sentences 2)

set(words --source ${WORK}/words)

expect(1 "short has 1 lines but .*numbers has 6" ${train} --source ${WORK}/short --training.steps 1)
if(EXISTS ${model})
  message(FATAL_ERROR "A refused run left ${model}")
endif()
expect(0 "task: translate .source and target., objective teacher_forcing.*trained 40 steps" ${train} ${words} --model.transformer.width 32 --training.steps 40)
expect(0 "resumed at step 40.*trained 90 steps" ${train} ${words} --model.transformer.width 32 --training.steps 90)
expect(0 "resumed at step 90.*trained 100 steps" ${train} ${words} --model.transformer.width 32 --steps +10)
expect(2 "--steps.*whole number" ${train} ${words} --steps +x)
expect(1 "trained with model.transformer.width = 32, not 64" ${train} ${words} --model.transformer.width 64)

expect(0 "trained 100 steps already; .*--steps [+]N trains N more" ${train} ${words} --model.transformer.width 32
  --steps 10)
expect(0 "steps +105 .100 done." ${train} ${words} --model.transformer.width 32 --steps +5 --dry-run)

# What is refused leaves nothing behind, and says what to do.
set(none ${WORK}/none)
set(small --preset tiny --target ${WORK}/numbers --vocabulary.kind character --model.transformer.width 32)
expect(1 "model.transformer.dropout is 1.5" train ${small} ${words} --out ${none} --model.transformer.dropout 1.5)
expect(2 "model.rnn.hidden would change nothing: the kind is transformer" train ${small} ${words} --out ${none}
  --model.rnn.hidden 8)
expect(1 "words:1: .*--target FILE" train ${words} --out ${none})
expect(1 "short has 1 lines" train ${small} ${words} --out ${none} --valid-source ${WORK}/short
  --valid-target ${WORK}/numbers)
if(EXISTS ${none})
  message(FATAL_ERROR "A refused run left ${none}")
endif()

# A preset of the command line is the one that is trained.
file(WRITE ${WORK}/preset.yaml "model: {preset: bahdanau}\nvocabulary: {kind: character}\ntraining: {steps: 1}\n")
expect(0 "trained 1 step" train ${WORK}/preset.yaml --model.preset vanilla ${words} --target ${WORK}/numbers
  --out ${WORK}/preset --model.rnn.hidden 8)
expect(0 "preset vanilla.*attention +none" info ${WORK}/preset)
file(WRITE ${WORK}/preset.yaml "model: {preset: bahdanau, rnn: {hidden: 8}}\n")
expect(1 "has model settings for preset bahdanau" train ${WORK}/preset.yaml --preset vanilla ${words} --out ${none})

# A signal stops it, and it says how to go on.
execute_process(COMMAND timeout --preserve-status -s INT 3 ${ATTEND} train ${small} ${words} --out ${WORK}/stopped
  --steps +1000000 RESULT_VARIABLE result ERROR_VARIABLE err)
if(NOT result EQUAL 130 OR NOT err MATCHES "stopping.*saved at step [0-9]+; `attend train [^`]+` resumes")
  message(FATAL_ERROR "Stopped: exit ${result}, ${err}")
endif()

# A bare chroot has no pseudo-terminals: what is shown on one cannot be seen there.
find_program(SCRIPT script)
set(terminal FALSE)
if(SCRIPT)
  execute_process(COMMAND ${SCRIPT} -qec "stty cols 30" /dev/null INPUT_FILE /dev/null
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result EQUAL 0)
    set(terminal TRUE)
  endif()
endif()
if(NOT terminal)
  message(STATUS "No pseudo-terminal can be had here: output on a terminal is not tested")
endif()

# On a terminal one line tells how it goes, and is no wider.
if(terminal)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env NO_COLOR=1 ${SCRIPT} -qec "stty cols 30; '${ATTEND}' train \
    --preset tiny --source '${WORK}/words' --target '${WORK}/numbers' --out '${WORK}/narrow' \
    --vocabulary.kind character --steps 3" /dev/null INPUT_FILE /dev/null OUTPUT_VARIABLE out)
  string(REGEX MATCH "step 3/3[^\r\n]*" line "${out}")
  string(LENGTH "${line}" length)
  if(NOT length EQUAL 29)
    message(FATAL_ERROR "A line of ${length} columns on a terminal of 30:\n${out}")
  endif()
endif()

# A vocabulary may hold what moves a cursor. Files and pipes get it; a terminal and its reader do not.
string(ASCII 27 escape)
file(WRITE ${WORK}/escapes "a${escape}b\n")
file(WRITE ${WORK}/sequence "${escape}[2J\n")
expect(0 "6 tokens" tokenizer train ${WORK}/escapes --kind character --out ${WORK}/escapes.txt)
expect(0 "^a ${escape} b\n$" tokenizer encode ${WORK}/escapes.txt --input ${WORK}/escapes)
expect(1 "no '.x1b.2J'; was this encoded with another tokenizer" tokenizer decode ${WORK}/escapes.txt
  --input ${WORK}/sequence)
if(terminal)
  execute_process(COMMAND ${SCRIPT} -qec "'${ATTEND}' tokenizer encode '${WORK}/escapes.txt' \
    --input '${WORK}/escapes'" /dev/null INPUT_FILE /dev/null OUTPUT_VARIABLE out)
  if(NOT out MATCHES "^a [\\]x1b b\r?\n")
    message(FATAL_ERROR "A control character on a terminal: ${out}")
  endif()
endif()

# A model directory stands for its settings.
execute_process(COMMAND cp -r ${model} ${WORK}/again)
expect(0 "resumed at step 100:.*trained 103 steps; model in ${WORK}/again" train ${WORK}/again --steps +3)
expect(0 "now optimizer.rate = 0.0005 .*trained 104 steps" train ${WORK}/again --steps +1 --optimizer.rate 5e-4)
file(MAKE_DIRECTORY ${WORK}/nothing)
expect(1 "nothing has no attend.yaml, so `attend train` did not make it" train ${WORK}/nothing)

# Lines keep their order, from a file and through a pipe.
expect(0 "^01\n05\n09\n02\n03\n04\n$" translate ${model} --input ${WORK}/words)
execute_process(COMMAND cat ${WORK}/words COMMAND ${ATTEND} translate ${model} --beam 1 --window 2
  OUTPUT_VARIABLE piped)
expect_equal("${piped}" "${OUT}" "translate through a pipe")

# Texts may be arguments, and several models translate together.
expect(0 "^05\n01\n$" translate ${model} may january)
expect(0 "^05\n$" translate ${model} --with ${model} --ban 01 may)
expect(2 "is a model, not a text; for an ensemble use --with" translate ${model} ${model})
expect(2 "--input: does not go with a text" translate ${model} may --input ${WORK}/words)
expect(1 "text 2: the line has [0-9]+ tokens, but at most 4 are allowed" translate ${model} may january --longest-line 4)

expect(0 "^0 [|][|][|] 01 [|][|][|] -[0-9.]+\n0 [|][|][|] [^|]* [|][|][|] -[0-9.]+\n1 [|][|][|] 05 "
  translate ${model} --input ${WORK}/words --n-best 2)
expect(0 "^{.line.:0,.source.:.january.,.translations.:\\[{.text.:.01." translate ${model} --json
  --input ${WORK}/short)
expect(2 "--beam should be a whole number" translate ${model} --beam x)

# What it looks at: every form there is, and what is wrong with a request.
expect(0 "^01\n.*decoder.0.cross" inspect ${model} january --columns 60)
expect(0 "^{.title.:.decoder.0.cross, head 1.,.rows.:\\[.0.,.1.,.</s>.\\],.columns.:\\[.j." inspect
  ${model} january --target 01 --head 1 --format json)
expect(0 "^entropy of each head, in nats; 0: it looks at one token\nlayer +head 0 +1 .*\nencoder.0.self +[0-9.]+ "
  inspect ${model} january --show entropy --from source --to source)
expect(0 "^$" inspect ${model} january --show entropy --out ${WORK}/entropy.json)
expect(0 "^[0-9]-0 [0-9]-1\n$" inspect ${model} january --format moses)
foreach(show rollout flow gradient integrated)
  expect(0 "." inspect ${model} may --show ${show})
endforeach()
foreach(ending svg png html json npy moses txt)
  expect(0 "^$" inspect ${model} january --head all --out ${WORK}/map.${ending})
  file(SIZE ${WORK}/map.${ending} size)
  if(size EQUAL 0)
    message(FATAL_ERROR "inspect wrote an empty map.${ending}")
  endif()
endforeach()
expect(0 "</s>" inspect ${model} "" --target "" --columns 60)
expect(0 "^$" inspect ${model} may --out ${WORK}/upper.SVG)
expect(0 "decoder" inspect ${model} may --coverage-penalty 0.2 --columns 60)

# On a terminal a note stands below, no wider than that, which fits what is shown.
if(terminal)
  foreach(show attention gradient)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env NO_COLOR=1 ${SCRIPT} -qec "stty cols 40; '${ATTEND}' inspect \
      '${model}' may --show ${show}" /dev/null INPUT_FILE /dev/null OUTPUT_VARIABLE ${show})
  endforeach()
  if(NOT attention MATCHES "\nAttention weights show where the model\r?\n.*Compare with\r?\nsaliency.\r?\n$"
      OR NOT gradient MATCHES "above 0.*\nSaliency shows how the output would\r?\n" OR gradient MATCHES "[Cc]ompare")
    message(FATAL_ERROR "inspect on a terminal of 40:\n${attention}${gradient}")
  endif()
endif()
expect(1 "no attention layer 'x'; there are: encoder.0.self" inspect ${model} may --layer x)
expect(0 "^05\ndecoder.0 +0.*\nembedding.*\nreads +<s>.*\nnext +0" inspect ${model} may --show lens)
expect(0 "^{.stages.:..embedding.,.decoder.0." inspect ${model} may --show lens --format json)
expect(0 "decoder.0.cross, head 1\n0 .0. looks at a .1.: weight .*\nq · k .*\nsoftmax .log-sum-exp" inspect ${model} may
  --cell decoder.0.cross:1:0:1)
expect(0 "^{.layer.:.decoder.0.cross.,.head.:1,.query." inspect ${model} may --cell decoder.0.cross:1:0:1 --format json)
expect(1 "4 keys here, from 0; there is no cell 0, 9" inspect ${model} may --cell decoder.0.cross:1:0:9)
expect(1 "'x:1' is no cell; use LAYER:HEAD:QUERY:KEY" inspect ${model} may --cell x:1)
expect(0 "knocked out +0.0000" inspect ${model} may --target 05 --knock-out decoder.0.cross:1
  --knock-out encoder.0.self --cell decoder.0.cross:1:0:1)
expect(1 "no attention layer 'x'" inspect ${model} may --knock-out x:1)
expect(1 "there is no head 9" inspect ${model} may --knock-out decoder.0.cross:9)
expect(1 "has 4 heads, from 0; there is no head 9" inspect ${model} may --head 9)
expect(2 "--show" inspect ${model} may --show all)
string(REPEAT "1" 4097 long)
expect(1 "^attend: inspect: .source. has 4097 tokens; at most 4096 can be shown, so use a part of the text\n$"
  inspect ${model} ${long} --target 01)
expect(1 "^attend: inspect: .target. has 4097 tokens; at most 4096 can be shown, " inspect ${model} may
  --target ${long})
expect(1 "not a model directory" explore ${WORK})

# How fast the model is here: lines of its own text, or made-up ones where it has none.
expect(0 "model +transformer, .*text +6 lines of its training text, .*\n +translate, 1 line at once, beam 5 +[0-9]+ .*\n +training step, [0-9]+ tokens +[0-9]+ "
  bench ${model} --quick)
file(MAKE_DIRECTORY ${WORK}/shipped)
file(COPY ${model}/config.json ${model}/model.safetensors ${model}/tokenizer.model DESTINATION ${WORK}/shipped)
expect(0 "^{.threads.:[0-9]+,.*.name.:.translate, 64 lines at once, beam 1.,.tokens_per_second.:[0-9.]+,.ms.:" bench
  ${WORK}/shipped --quick --json)
expect(0 "of random tokens.*no training step: .*shipped has no training text" bench ${WORK}/shipped --quick)
expect(1 "not a model directory" bench ${WORK})

# One without attention.
expect(0 "trained 1 step" train --preset vanilla ${words} --target ${WORK}/numbers --out ${WORK}/fixed
  --vocabulary.kind character --model.rnn.hidden 16 --training.steps 1)
expect(1 "the model has no attention to look at; use saliency instead" inspect ${WORK}/fixed may)
expect(1 "the model has no attention to look at; use saliency instead" inspect ${WORK}/fixed may --show rollout)
expect(0 "." inspect ${WORK}/fixed may --show gradient)
file(RENAME ${WORK}/fixed/model.safetensors ${WORK}/weights)
# A run that has kept no model yet is used as its newest checkpoint has it.
set(INPUT ${WORK}/words)
expect(0 "^[^\n]*\n[^\n]*\n.*attend: [^\n]*fixed: training has not validated yet; using its newest checkpoint, step 1\n"
  translate ${WORK}/fixed --max-length 3)
set(INPUT /dev/null)
file(RENAME ${WORK}/fixed/checkpoints ${WORK}/fixed/none)
expect(1 "fixed: it has neither model.safetensors nor a checkpoint; .*attend train" translate ${WORK}/fixed may)
file(RENAME ${WORK}/fixed/none ${WORK}/fixed/checkpoints)
expect(0 "once: the mean of the weights at step 1" average ${WORK}/fixed --last 1 --out ${WORK}/once)
file(RENAME ${WORK}/weights ${WORK}/fixed/model.safetensors)

# One that reads and writes bytes.
expect(0 "trained 1 step" train --preset luong ${words} --target ${WORK}/numbers --out ${WORK}/bytes
  --vocabulary.kind byte --model.rnn.hidden 16 --training.steps 1)
expect(0 "." inspect ${WORK}/bytes é --columns 60)

# Scores: a line each, the same from columns, their mean over tokens, and token by token.
expect(0 "^(-[0-9.]+\n)+$" score ${model} --source ${WORK}/words --target ${WORK}/numbers)
set(scores "${OUT}")
execute_process(COMMAND paste ${WORK}/words ${WORK}/numbers COMMAND ${ATTEND} score ${model}
  OUTPUT_VARIABLE columns)
expect_equal("${columns}" "${scores}" "scores from columns")
expect(0 "^-[0-9.]+\t0 -?[0-9.]+\t1 -?[0-9.]+\t</s> -?[0-9.]+\n" score ${model} --tokens --mean
  --source ${WORK}/words --target ${WORK}/numbers)
expect(0 ".pieces.:\\[.0.,.1.,.</s>.\\]" score ${model} --json --source ${WORK}/words
  --target ${WORK}/numbers)
expect(0 "^$" score ${model} --source ${WORK}/empty --target ${WORK}/empty)
expect(1 "words has 6 lines but .*short has 1;" score ${model} --source ${WORK}/words
  --target ${WORK}/short)
expect(1 "short:1: no tab" score ${model} --source ${WORK}/short)
# A full disk: what is printed must arrive, or the command fails; messages need not.
foreach(command "score '${model}' --source '${WORK}/words' --target '${WORK}/numbers'" "translate '${model}'"
    "evaluate '${model}' --source '${WORK}/words' --target '${WORK}/numbers'" "info '${model}'" "completion bash"
    "tokenizer encode '${model}'" "inspect '${model}' may" "train '${model}/attend.yaml' --steps +1 --dry-run"
    "average '${model}' --last 1 --out '${WORK}/full'")
  execute_process(COMMAND sh -c "'${ATTEND}' ${command} < '${WORK}/words' > /dev/full" RESULT_VARIABLE result
    ERROR_VARIABLE err)
  if(NOT result EQUAL 1 OR NOT err MATCHES "(cannot write|No space left)")
    message(FATAL_ERROR "${command} on a full disk: exit ${result}, ${err}")
  endif()
endforeach()
execute_process(COMMAND sh -c "'${ATTEND}' train --preset tiny --source '${WORK}/words' --target '${WORK}/numbers' \
  --vocabulary.kind character --steps 2 --out '${WORK}/unheard' 2> /dev/full" RESULT_VARIABLE result)
execute_process(COMMAND sh -c "'${ATTEND}' info '${WORK}/missing' 2> /dev/full" RESULT_VARIABLE missing)
if(NOT result EQUAL 0 OR NOT missing EQUAL 1 OR NOT EXISTS ${WORK}/unheard/model.safetensors)
  message(FATAL_ERROR "Nobody hears of it: exit ${result} and ${missing}")
endif()

set(files --source ${WORK}/words --target ${WORK}/numbers)
expect(0 "accuracy +100.00  6 of 6 lines\nperplexity +1\\.[0-9]+ .*18 tokens" evaluate ${model} ${files})
expect(0 "^{.perplexity.:{.score.:1\\.[0-9]+,[^{]*}}\n$" evaluate ${model} ${files} --json
  --metric perplexity)
expect(2 "a model needs --source" evaluate ${model})
expect(1 "empty: the file has no lines" evaluate ${model} --source ${WORK}/empty
  --target ${WORK}/empty)

expect(0 "transformer, preset tiny.*parameters +[0-9]+\n.*encoder.*joint: .*character.*step 100 of 100.*width +32"
  info ${model})
expect(0 ".steps.: 100" info ${model} --json)
# Lines of a log that are no reports are skipped, however deep or long; names in it are shown harmless.
file(READ ${model}/log.jsonl log)
string(REPEAT "[" 300000 deep)
string(REPEAT "x" 300000 long)
file(APPEND ${model}/log.jsonl "{\"step\":7,\"loss\":${deep}\n{\"step\":\"${long}\"}\n"
  "{\"step\":{},\"loss\":[]}\n{\"step\":101,\"best\":true,\"valid_\\u001b\":2}\n")
expect(0 "step 101 of 100.*best +.x1b 2.000 at step 101" info ${model})
expect(0 ".steps.: 101" info ${model} --json)
file(WRITE ${model}/log.jsonl "${log}")

set(INPUT ${WORK}/words)
expect(0 "^j a n u a r y\n" tokenizer encode ${model})

# Word vectors, and vectors of any model.
string(REPEAT "the cat eats its food\nthe dog eats its food\npaint the red wall now\npaint the blue wall now\n" 50 sentences)
file(WRITE ${WORK}/sentences "${sentences}")
expect(0 "tokens: words that occur 2 times or more.*task: word_vectors .text., objective word_context.*trained 1500 steps"
  train --preset skipgram --text ${WORK}/sentences --out ${WORK}/vectors --steps 1500 --batch.tokens 20
  --optimizer.rate 0.05 --data.documents line --model.word2vec.subsample 0)
set(vectors ${WORK}/vectors)
expect(0 "^cat\tdog\t[01][.][0-9][0-9][0-9][0-9]\nred\tblue\t[01][.][0-9]+\n$" neighbours ${vectors} cat red -n 1)
file(WRITE ${WORK}/queries "Cat\nred - wall + wall\n")
expect(0 "^Cat\tdog\t[^\n]*\nred - wall . wall\tblue\t" neighbours ${vectors} -n 1 --input ${WORK}/queries)
expect(0 "^{.query.:.cat.,.neighbours.:\\[{.word.:.dog.,.similarity.:" neighbours ${vectors} cat --json)
expect(1 "neighbours: 'horse' is not in the vocabulary of the model" neighbours ${vectors} horse)
expect(0 "^the red wall\tpaint the (red|blue) wall now\t0[.]" neighbours ${vectors} --lines ${WORK}/sentences -n 1 "the red wall")
expect(0 "^1[.]000000\n$" embed ${vectors} --similarity "the cat\tcat the")
expect(0 "^1[.]000000\n0[.][0-9]+\n$" embed ${vectors} --similarity "the cat" "cat the" cat dog)
expect(1 "embed: line 1 has no tab" embed ${vectors} --similarity "the cat")
expect(0 "^{.line.:0,.text.:.cat.,.tokens.:\\[{.token.:.cat.,.vector.:\\[" embed ${vectors} --tokens cat)
expect(0 "^$" embed ${vectors} --words 5 --picture ${WORK}/words.svg --method tsne --perplexity 2)
file(READ ${WORK}/words.svg drawn)
if(NOT drawn MATCHES "t-SNE, perplexity 1.33.*<title>")
  message(FATAL_ERROR "the words are no points: ${drawn}")
endif()
expect(1 "pca: 1 vectors have no directions in which they vary; give at least 2" embed ${vectors} cat
  --picture ${WORK}/words.svg)
expect(0 "^$" embed ${vectors} cat dog --format npy --output ${WORK}/vectors.npy)
file(SIZE ${WORK}/vectors.npy size)
expect_equal("${size}" "928" "an array of 2 x 100 float32")
expect(0 "^$" embed ${vectors} cat dog --format raw --output ${WORK}/vectors.raw)
file(SIZE ${WORK}/vectors.raw size)
expect_equal("${size}" "800" "the same without a header")
expect(1 "the model writes no sequences: it is a word2vec model" generate ${vectors} cat)
expect(0 "^january\t[^\t]*\t" neighbours ${model} --lines ${WORK}/words january -n 1)
expect(0 "^[0-9.-]+\n$" embed ${model} --pooling last --similarity "may\tmarch")

# Texts to labels of several words, and labels to texts.
file(WRITE ${WORK}/texts "a fine film\na dull film\nfine , fine\ndull and long\n")
file(WRITE ${WORK}/labels "very good\nbad\nvery good\nbad\n")
set(settings --out ${WORK}/label --training.steps 60 --training.report-every 20
  --optimizer.rate 0.01 --schedule.warmup 5)
set(label train --preset label ${settings} --vocabulary.kind word
  --model.label.encoder.transformer.width 32 --model.label.encoder.transformer.encoder-layers 1)
set(files --text ${WORK}/texts --label ${WORK}/labels)
expect(0 "task: classify .text and label.*model: label.*trained 60 steps" ${label} ${files}
  --model.label.pooling attention)
expect(0 "^very good\t0[.][0-9]+\nbad\t0[.][0-9]+\nvery good\t0[.][0-9]+\nbad\t0[.][0-9]+\n$" classify ${WORK}/label
  --input ${WORK}/texts)
set(classified "${OUT}")
expect(0 "^-?[01][.][0-9]+\n$" embed ${WORK}/label --pooling attention --similarity "a fine film" "fine , fine")
expect(1 "pooling 'attention' takes the query that a model has learned, and this word2vec model has none" embed ${vectors} cat
  --pooling attention)
execute_process(COMMAND cat ${WORK}/texts COMMAND ${ATTEND} classify ${WORK}/label --window 1 OUTPUT_VARIABLE piped)
expect_equal("${piped}" "${classified}" "classify through a pipe")
expect(0 "^very good\t[01][.][0-9]+\tbad\t0[.][0-9]+\nbad\t[01][.][0-9]+\tvery good" classify ${WORK}/label
  --input ${WORK}/texts -n 5)
expect(0 "^very good\t[01][.][0-9]+\tbad\t0[.][0-9]+\nbad\t[01][.][0-9]+\tvery good" classify ${WORK}/label
  --input ${WORK}/texts --probabilities)
expect(0 "^very good\t0[.][0-9]+\nbad\t0[.][0-9]+\n$" classify ${WORK}/label "a fine film" "a dull film")
expect(1 "text 2: the line has 3 tokens, but at most 2 are allowed" classify ${WORK}/label "fine film" "a dull film"
  --longest-line 2)
expect(2 "--n-best excludes --probabilities" classify ${WORK}/label --probabilities -n 3)
expect(0 "^{.line.:0,.text.:.a fine film.,.labels.:\\[{.label.:.very good.,.probability.:0[.]" classify ${WORK}/label
  --input ${WORK}/texts --json)
expect(0 "^(very good|bad)\t[01][.][0-9]+\n$" classify ${WORK}/label --input ${WORK}/blank)
expect(1 "texts:1: the line has 3 tokens, but at most 2 are allowed" classify ${WORK}/label --input ${WORK}/texts
  --longest-line 2)
expect(0 "^accuracy +100.00  4 of 4 lines\nf1_macro +100.00  2 labels, 4 lines\nperplexity +1[.][0-9]+  .*4 labels\n$" evaluate ${WORK}/label ${files})
expect(0 "accuracy +100.00  4 of 4 lines" evaluate ${WORK}/label --source ${WORK}/texts --target ${WORK}/labels
  --metric accuracy)
file(WRITE ${WORK}/other-labels "worse\nworse\nworse\nworse\n")
expect(0 "^accuracy +0.00  0 of 4 lines\nf1_macro +0.00  [^\n]*\n$" evaluate ${WORK}/label --text ${WORK}/texts
  --label ${WORK}/other-labels)
file(WRITE ${WORK}/other-labels "very good\nvery good\nbad\nfair\n")
set(mistaken evaluate ${WORK}/label --text ${WORK}/texts --label ${WORK}/other-labels)
expect(0 "^matthews +-0.2236  3 labels, 4 lines\n\nlabel .*\nvery good +50.00 +50.00 +50.00 +2 +2\n" ${mistaken}
  --metric matthews --table)
# The most confident mistakes come first.
expect(0 "\nline\tgold\tpredicted\tprobability\ttext\n[234]\t[^\n]*\n[234]\t[^\n]*\n$" ${mistaken} --errors 2)
expect(0 "." ${mistaken} --errors 9 --json)
string(JSON count LENGTH "${OUT}" errors)
expect_equal("${count}" "3" "mistakes")
string(JSON first GET "${OUT}" errors 0 probability)
string(JSON last GET "${OUT}" errors 2 probability)
if(first LESS last)
  message(FATAL_ERROR "mistakes are not sorted: ${OUT}")
endif()
expect(0 "{.line.:4,.gold.:.fair.,.predicted.:.bad.,.probability.:0[.0-9]+,.text.:.dull and long.}" ${mistaken} --errors 9 --json)
expect(2 "--tag-format: goes with tags" ${mistaken} --tag-format conll)
expect(2 "--errors: does not go with a model that writes texts" evaluate ${model} --source ${WORK}/words
  --target ${WORK}/numbers --errors 2)
expect(1 "--metric bleu does not apply to a model that gives labels; use accuracy, f1_macro, .* or perplexity" evaluate
  ${WORK}/label ${files} --metric bleu)
expect(0 "label, preset label.*label: 2 tokens, line.*transformer.width +32.*pooling +attention" info ${WORK}/label)
set(INPUT ${WORK}/labels)
expect(0 "^very▁good\nbad\n" tokenizer encode ${WORK}/label --column label)
set(INPUT ${WORK}/words)

# What speaks for each label, and what another run would have changed.
expect(0 "each row has its own scale.*very good" inspect ${WORK}/label "a fine film" --show labels --by leave-out
  --columns 60)
expect(0 "^{.labels.:\\[{.label.:.very good.,.probability.:0[.].*.sequence.:.text.,.items.:" inspect ${WORK}/label
  "a fine film" --show labels --format json)
expect(0 "^[^\n]*\nweights of +changed by +parameters\n.* 0% " inspect ${WORK}/label "a fine film" --base ${WORK}/label
  --show change --columns 60)
expect(0 "base: .*tuned: .*difference: " inspect ${WORK}/label "a fine film" --base ${WORK}/label --columns 60)
expect(1 "gives no labels: it is a transformer model" inspect ${model} january --show labels)
expect(1 "predicts no masked tokens: it is a label model" inspect ${WORK}/label "a fine film" --show masked)
expect(1 "base: it reads other tokens|none of its weights" inspect ${WORK}/label "a fine film" --base ${model} --show change)
# Texts as points, coloured by their labels.
expect(0 "^$" embed ${WORK}/label --input ${WORK}/texts --label ${WORK}/labels --picture ${WORK}/points.json)
file(READ ${WORK}/points.json points)
string(JSON point GET "${points}" points 0 label)
expect_equal("${point}" "very good" "the label of the first text")
expect(0 "^$" embed ${WORK}/label --input ${WORK}/texts --picture ${WORK}/points.html)
expect(1 "4 vectors have too few neighbours; give at least 5, or use PCA" embed ${WORK}/label --input ${WORK}/texts
  --picture ${WORK}/points.svg --method tsne)
file(WRITE ${WORK}/few-labels "good\n")
expect(1 "4 texts, but .*few-labels has 1 labels; each line needs one" embed ${WORK}/label --input ${WORK}/texts
  --label ${WORK}/few-labels --picture ${WORK}/points.svg)

# A command for another kind of model names the right one.
expect(1 "writes no sequences: it is a label model; use classify" translate ${WORK}/label --input ${WORK}/texts)
expect(1 "writes no sequences: it is a label model; use classify" score ${WORK}/label
  --source ${WORK}/texts --target ${WORK}/labels)
expect(1 "gives no labels: it is a transformer model; use translate" classify ${model} --input ${WORK}/words)
expect(1 "reads one text and writes another; give --source FILE --target FILE" evaluate ${model} ${files})

# A settings file of the time when labels were targets, and its label model an encoder beside them.
file(WRITE ${WORK}/old.yaml "model: {preset: label, label: {encoder: rnn, pooling: mean}, rnn: {hidden: 16}}
vocabulary: {kind: word, target_kind: line}\ntraining: {steps: 2, accumulation: 2}\nlooks: {every: 0}
data: {source: ${WORK}/texts, target: ${WORK}/labels}\nout: ${WORK}/old\n")
expect(0 "training.accumulation 2 is now training.shards 2 with batch.tokens 8192.*trained 2 steps" train ${WORK}/old.yaml)
expect(0 "encoder.kind +rnn.*encoder.rnn.hidden +16" info ${WORK}/old)
expect(0 "trained 3 steps" train ${WORK}/old/attend.yaml --steps +1)

file(RENAME ${WORK}/label ${WORK}/classes)
expect(1 "labels:1: a label of 2 tokens, but a label is one" ${label} ${files} --vocabulary.target-kind word)
expect(0 "model: label around transformer, which fits the data.*trained 60 steps" train --preset tiny ${settings} ${files})
file(REMOVE_RECURSE ${WORK}/label)
# Where no model is named, the text decides.
expect(0 "tokens: characters.*model: label, 128 wide.*trained 2 steps" train ${files} --out ${WORK}/label --steps 2)
expect(0 "trained 3 steps" train ${files} --out ${WORK}/label --steps +1)
expect(1 "1s is too little time: this machine can do only 0 steps" train ${files} --out ${WORK}/hurry --time 1s)
expect(0 "{.message.:.now training.steps = 4 .*{.step.:4,.*{.end.:.all_steps.,.step.:4,.best_step.:0,.model.:" train ${files}
  --out ${WORK}/label --steps +1 --json --training.report-every 1)
file(WRITE ${WORK}/other "fine\ndull\nfine\ndull\n")
file(REMOVE_RECURSE ${WORK}/label)
expect(0 "trained 60 steps" train --preset bahdanau ${settings} --model.rnn.hidden 32
  --vocabulary.target-kind character --vocabulary.kind line --source ${WORK}/labels --target ${WORK}/other)
expect(0 "^fine\ndull\nfine\ndull\n$" translate ${WORK}/label --input ${WORK}/labels)

# Language models. A text that is learned by heart is continued, whichever way the prompt is given.
string(REPEAT "the cat sat on the mat .\nthe dog sat on the log .\n" 40 book)
file(WRITE ${WORK}/book "${book}")
set(writer ${WORK}/writer)
expect(0 "task: language_model .text.*trained 100 steps" train --preset gpt-nano --text ${WORK}/book --out ${writer}
  --vocabulary.kind character --model.gpt.layers 2 --model.gpt.dropout 0 --data.documents line --data.context 32
  --batch.tokens 512 --training.steps 100)
set(INPUT /dev/null)
expect(0 "^the cat sat on the mat .\n$" generate ${writer} "the cat" --max-tokens 17)
expect(0 "^ sat on the mat .\n$" generate ${writer} "the cat" --max-tokens 17 --no-prompt)
expect(0 "^the cat sat on the\n$" generate ${writer} "the cat" --stop " mat" --stop x)
expect(0 "^the cat\n$" generate ${writer} "the cat" --stop " " --temperature 0)
expect(0 "^the cat sat\n---\nthe dog sat\n$" generate ${writer} "the cat" "the dog" --max-tokens 4)
execute_process(COMMAND sh -c "'${ATTEND}' generate '${writer}' 'the cat' 'the dog' --max-tokens 4 --separator ''"
  OUTPUT_VARIABLE out)
expect_equal("${out}" "the cat sat\nthe dog sat\n" "generate without a separator")
expect(0 "^the cat sat\n---\nthe cat[^\n]*\n$" generate ${writer} "the cat" --max-tokens 4 --beam 2 -n 2)
execute_process(COMMAND sh -c "'${ATTEND}' generate '${writer}' '' --stop h --stop x" OUTPUT_VARIABLE out)
expect_equal("${out}" "t\n" "generate from nothing")
expect(0 "^$" generate ${writer})
expect(0 "^the cat sat on the mat .\n$" generate ${writer} "the cat")
expect(0 "^-h.\n---\n-n.\n" generate --max-tokens 1 ${writer} -- -h -n)
file(WRITE ${WORK}/prompts "the dog sat\n\nthe cat\n")
expect(0 "^the dog sat on\n---\nthe\n---\nthe cat sa\n$" generate ${writer} --input ${WORK}/prompts --max-tokens 3)
set(lines "${OUT}")
execute_process(COMMAND cat ${WORK}/prompts COMMAND ${ATTEND} generate ${writer} --max-tokens 3 --batch-tokens 1
  OUTPUT_VARIABLE piped)
expect_equal("${piped}" "${lines}" "generate through a pipe")
file(WRITE ${WORK}/prompt "the dog sat on the log .\nthe cat\n")
expect(0 "^the dog sat on the log .\nthe cat....\n" generate ${writer} --prompt-file ${WORK}/prompt --max-tokens 4)
expect(0 "^{.line.:0,.sample.:0,.prompt.:.the c.,.text.:.at .,.finish.:.length.,.log_probability.:-[0-9.e-]+,.score.:-[0-9.e-]+,.prompt_tokens.:.[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+.,.tokens.:.[0-9]+,[0-9]+,[0-9]+.,.token_log_probabilities.:.-[^]]*.,.prompt_seconds.:[0-9.e-]+,.seconds.:[0-9.e-]+}\n{.line.:1,"
  generate ${writer} "the c" "the d" --json --max-tokens 3)
expect(0 ".finish.:.stop.," generate ${writer} "the c" --json --stop " sat")

# Past the context, which a message says once; and what the model does not know.
expect(0 "^the cat sat on .*the context of 32 tokens was full; the text went on from the last 16 of them\n$"
  generate ${writer} "the c" --min-tokens 120 --max-tokens 120)
expect(0 "prompt 1 has 49 tokens; the model read the last 32" generate ${writer} --max-tokens 1
  "the cat sat on the mat . the dog sat on the log .")
expect(0 "context of 8 tokens was full; the text went on from the last 4 " generate ${writer} "the c" --context 8
  --min-tokens 20)
expect(0 "2 of the prompt.s 7 tokens are not in the vocabulary" generate ${writer} "the QZt" --max-tokens 1)

# The same seed, the same text; others for another.
expect(0 "." generate ${writer} "the" --temperature 3 --top-k 0 --top-p 1)
set(sampled "${OUT}")
expect(0 "." generate ${writer} "the" --temperature 3 --top-k 0 --top-p 1 --threads 1)
expect_equal("${OUT}" "${sampled}" "generate with the same seed")
expect(0 "." generate ${writer} "the" --temperature 3 --top-k 0 --top-p 1 --seed 2)
if(OUT STREQUAL sampled)
  message(FATAL_ERROR "generate with another seed: ${OUT}")
endif()
expect(0 "." generate ${writer} "the" --best-of 4 --min-p 0.1 --typical-p 0.9 --repetition-penalty 1.2
  --presence-penalty 0.1 --frequency-penalty 0.1)

# In turns: what was written stays, and an empty line goes on.
file(WRITE ${WORK}/typed "the cat\n\n/new\nthe dog\n")
set(INPUT ${WORK}/typed)
expect(0 "^ sat\n on \n sat\n$" generate ${writer} --interactive --max-tokens 4)
set(INPUT ${WORK}/words)

# Ctrl-C ends the text, and then the program, as a shell expects.
execute_process(COMMAND timeout --preserve-status -s INT 2 ${ATTEND} generate ${writer} "the cat" --min-tokens 1000000
  --max-tokens 1000000 --json INPUT_FILE /dev/null RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT result EQUAL 130 OR NOT out MATCHES "^{.*.finish.:.interrupted..*}\n$")
  string(SUBSTRING "${out}" 0 200 out)
  message(FATAL_ERROR "Interrupted: exit ${result}, ${out} ${err}")
endif()
execute_process(COMMAND timeout --preserve-status -s INT 2 ${ATTEND} generate ${writer} "the cat" --min-tokens 1000000
  --max-tokens 1000000 INPUT_FILE /dev/null RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT result EQUAL 130 OR NOT out MATCHES "^the cat sat on .*\n$" OR NOT err MATCHES "the context of 32 tokens")
  message(FATAL_ERROR "Interrupted: exit ${result}, ${err}")
endif()

execute_process(COMMAND sh -c "'${ATTEND}' generate '${writer}' the > /dev/full" RESULT_VARIABLE result ERROR_VARIABLE err)
if(NOT result EQUAL 1 OR NOT err MATCHES "cannot write")
  message(FATAL_ERROR "generate on a full disk: exit ${result}, ${err}")
endif()

# A language model of pairs reads them as one sequence, and is used as any other that translates.
set(one ${WORK}/one)
set(train_one train --preset gpt-nano ${words} --target ${WORK}/numbers --out ${one} --vocabulary.kind character
  --model.gpt.layers 2 --model.gpt.bidirectional-prefix --optimizer.rate 0.01 --schedule.warmup 5
  --training.label-smoothing 0)
expect(0 "model: decoder_only around gpt, which fits the data.*task: translate .source and target.*at most 62 tokens of source and target together.*trained 60 steps"
  ${train_one} --training.steps 60)
expect(0 "resumed at step 60.*trained 80 steps" ${train_one} --steps +20)
expect(0 "trained 80 steps already" train ${one}/attend.yaml)
expect(0 "^01\n05\n09\n02\n03\n04\n$" translate ${one} --input ${WORK}/words)
expect(0 "accuracy +100.00" evaluate ${one} ${words} --target ${WORK}/numbers --metric accuracy)
expect(0 "^-[0-9.]+\n-[0-9.]+\n" score ${one} ${words} --target ${WORK}/numbers)
expect(0 "decoder_only" info ${one})
expect(0 "^05\ntext -> text, mean of [0-9]+ layers\n" inspect ${one} may)
expect(0 "^05\n.*layers.0.self, mean" inspect ${one} may --all)
expect(2 "--all: it shows the attention of each layer; leave out --all" inspect ${one} may --all --layer layers.0.self)
expect(0 "rollout" inspect ${one} may --show rollout)
expect(0 "." inspect ${one} may --show gradient)
expect(0 "." inspect ${one} may --show lens)
expect(0 "." translate ${one} --input ${WORK}/words --alignments)
expect(0 "^01\n +j +a +n +u +a +r +y *\n" translate ${one} --input ${WORK}/words --draw)
expect(1 "reads a source before it writes; use translate" generate ${one} may)
string(REPEAT "may" 20 long)
file(WRITE ${WORK}/long "${long}m\n")
expect(0 "^.+\n$" translate ${one} --input ${WORK}/long)
file(WRITE ${WORK}/long "${long}mayx\n")
expect(1 "the line has 64 tokens, but the model has learned positions for 61" translate ${one} --input ${WORK}/long)
expect(1 "one sequence, which has one vocabulary" train --preset gpt-nano ${words} --target ${WORK}/numbers --out ${none}
  --vocabulary.kind character --vocabulary.joint=false)

# Each command names the one that is for a model.
expect(1 "reads nothing but the text that it writes.*use generate" translate ${writer})
expect(1 "gives no labels: it is a gpt model; use generate" classify ${writer})
expect(1 "reads a source before it writes; use translate" generate ${model} may)
expect(1 "writes no sequences: it is a label model; use classify" generate ${WORK}/classes fine)

# The mean of checkpoints is a model; several references of one source count as one.
expect(0 "mean: the mean of the weights at steps 90, 100" average ${model} --last 2 --out ${WORK}/mean)
expect(0 "^01\n05\n" translate ${WORK}/mean --input ${WORK}/words)
expect(1 "has a model, but no checkpoint to resume from.*--overwrite" train ${small} ${words}
  --out ${WORK}/mean)
expect(1 "once has another model" average ${model} --last 2 --out ${WORK}/once)
expect(1 "has 2 whole checkpoints, not 9" average ${model} --last 9 --out ${WORK}/mean)
file(WRITE ${WORK}/several.tsv "january\t1\njanuary\t01\nmay\t05\n")
expect(0 "accuracy +66.67" evaluate ${model} --source ${WORK}/several.tsv --metric accuracy)
expect(0 "accuracy +100.00" evaluate ${model} --source ${WORK}/several.tsv --metric accuracy --grouped)
expect(0 "\n0 [|][|][|]" translate ${model} --input ${WORK}/short --sample --n-best 2)

# Words of given texts are linked by the layer and head that gold links show to be best.
file(WRITE ${WORK}/gold "0-0\n0-0\n0-0\n0-0\n0-0\n0-0\n")
expect(1 "the best layer is not known yet" translate ${model} --input ${WORK}/words --alignments
  --alignment-layer best)
expect(0 "decoder.0.cross +0.00  precision 100.00 recall 100.00, (mean|head [0-3])\n" evaluate ${model} ${words}
  --target ${WORK}/numbers --gold ${WORK}/gold)
expect(0 "^01 [|][|][|] 0-0\n05 [|][|][|] 0-0\n" translate ${model} --input ${WORK}/words --alignments --words
  --alignment-layer best)
expect(0 "^-[0-9.]+\t0-0\n" score ${model} ${words} --target ${WORK}/numbers --alignments --words)
expect(0 "^01\n05\n09\n" translate ${model} --input ${WORK}/words --coverage-penalty 0.2)

# Every command of docs/commands.md, in order and as it stands there, with what it prints: up to a line `...`,
# whatever the numbers are behind a point.
set(docs ${WORK}/docs)
file(MAKE_DIRECTORY ${docs}/bin)
file(CREATE_LINK ${ATTEND} ${docs}/bin/attend SYMBOLIC)
file(COPY_FILE ${WORK}/words ${docs}/months)
file(COPY_FILE ${WORK}/numbers ${docs}/numbers)
file(COPY_FILE ${WORK}/book ${docs}/book)
file(WRITE ${docs}/texts "a fine film\na dull film\nfine , fine\ndull and long\nfine\nlong\n")
file(WRITE ${docs}/labels "very good\nbad\nvery good\nbad\nvery good\nbad\n")
foreach(name out.txt a.txt b.txt)
  file(WRITE ${docs}/${name} "a house\n")
endforeach()
file(WRITE ${docs}/out.links "0-0 1-2\n")
file(WRITE ${docs}/gold.links "0-0 1-1 1?2\n")

function(run_documented command expected)
  execute_process(COMMAND sh -c "PATH='${docs}/bin':$PATH; ${command}" WORKING_DIRECTORY ${docs}
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "docs/commands.md: ${command}: exit ${result}\n${out}${err}")
  endif()
  if(expected STREQUAL "")
    return()
  endif()
  foreach(text out expected)
    string(REGEX REPLACE "[0-9]+[.][0-9]+" "N" ${text} "${${text}}")
  endforeach()
  string(FIND "${expected}" "...\n" cut)
  if(cut EQUAL -1)
    expect_equal("${out}" "${expected}" "docs/commands.md: ${command}")
    return()
  endif()
  string(SUBSTRING "${expected}" 0 ${cut} expected)
  string(REGEX REPLACE " +$" "" expected "${expected}")
  string(FIND "${out}" "${expected}" found)
  if(NOT found EQUAL 0)
    message(FATAL_ERROR "docs/commands.md: ${command}: got\n${out}\ninstead of\n${expected}")
  endif()
endfunction()

file(READ ${CMAKE_CURRENT_LIST_DIR}/../docs/commands.md page)
string(REGEX REPLACE "\\\\\n *" "" page "${page}")
string(REPLACE ";" "\\;" page "${page}")
string(REPLACE "\n" ";" lines "${page}")
set(command "")
foreach(line IN LISTS lines)
  if(command AND NOT line MATCHES "^    [^$]")
    run_documented("${command}" "${expected}")
    set(command "")
  endif()
  if(line MATCHES "^    [$] (.*)")
    set(command "${CMAKE_MATCH_1}")
    set(expected "")
  elseif(command)
    string(SUBSTRING "${line}" 4 -1 line)
    string(APPEND expected "${line}\n")
  endif()
endforeach()

# A damaged checkpoint is named, by a dry run too, and nothing begins anew where none is whole.
set(damaged ${WORK}/damaged)
file(COPY ${model}/ DESTINATION ${damaged})
file(WRITE ${damaged}/checkpoints/step-100/state.json "{")
set(again train ${damaged}/attend.yaml --out ${damaged})
set(said "checkpoint step-100 is damaged .state.json has 1 bytes instead of [0-9]+.; going on from step-90\n")
expect(0 "steps +100 .90 done.*${said}" ${again} --dry-run)
expect(0 "${said}.*resumed at step 90.*trained 100 steps" ${again})
foreach(step 90 100)
  file(REMOVE ${damaged}/checkpoints/step-${step}/manifest.json)
endforeach()
foreach(option --dry-run "--steps;200" "--steps;+1")
  expect(1 "no checkpoint is whole: step-100 is damaged .manifest.json is missing., step-90 .*or overwrite the model"
    ${again} ${option})
endforeach()
expect(0 "trained 1 step" ${again} --overwrite --steps +1)
expect(0 "trained 1 step already" ${again} --overwrite --steps 1)
expect(1 "data.source is standard input" train --source - --target ${WORK}/numbers --out ${WORK}/none)
