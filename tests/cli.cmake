# What the command says without a model: cmake -DATTEND=... -DWORK=<a directory> -P cli.cmake
include(${CMAKE_CURRENT_LIST_DIR}/cli_expect.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

expect(0 "^attend [0-9]+\\.[0-9]+" --version)
expect(0 "check .*bench " --help)
expect(0 "matrix product NN +ok" check)
expect(0 "threads +1\n" check --threads 1)
expect(2 "Usage: attend")
expect(2 "there is no command .nonsense." nonsense)
expect(2 "bench: there is no option --nonsense" bench --nonsense)
expect(2 "--threads" check --threads 0)


# Usage errors say who speaks, and what was probably meant.
expect(2 "^attend: translate: there is no option --bem; did you mean --beam[?]\n" translate x --bem 3)
expect(2 "did you mean 'translate'[?]" transalte x)
expect(2 "did you mean 'encode'[?]" tokenizer encod x)
foreach(option window batch-tokens longest-line)
  foreach(number 0 -1 1000001 x)
    expect(2 "^attend: --${option}: should be a whole number from 1 to 1000000, not '${number}'"
      translate x --${option} ${number})
  endforeach()
  expect(2 "--${option}: should be a whole number from 1" score x --${option} 0)
endforeach()
expect(2 "--batch-tokens: should be a whole number from 1" evaluate x --source y --batch-tokens 0)
expect(2 "--column: is for words; leave it out with --lines" neighbours x --lines y --column z)
foreach(command classify embed fill translate)
  expect(2 "--input: does not go with a text as an argument" ${command} x text --input y)
  expect(2 "${command}: the text has a line feed; give each line as an argument of its own" ${command} x "a\nb")
endforeach()
expect(2 "--similarity: prints numbers; leave out --tokens and --format" embed x --similarity --tokens)
expect(2 "--n-best: should be a whole number from 1 to 1000000, not '0'" classify x -n 0)
expect(2 "--text: does not go with --source" evaluate x --source y --text z)

# Options that would do nothing.
expect(2 "--top-k: goes with --sample" translate x --top-k 3)
expect(2 "--temperature: goes with --sample" evaluate x --source y --temperature 3)
expect(2 "--alignment-layer: goes with --alignments" translate x --alignment-layer a)
expect(2 "--alignment-head: goes with --alignments" score x --alignment-head 1)
expect(2 "--words: goes with --alignments" translate x --words)
expect(2 "--draw: .*--json" translate x --draw --json)
expect(2 "--(from|layer) excludes --(from|layer)" inspect x a --from a --layer b)
expect(2 "--layer: rollout and flow combine all layers" inspect x a --show rollout --layer b)
expect(2 "--head: rollout" inspect x a --show flow --head 1)
expect(2 "--from: gradients .*" inspect x a --show integrated --from source)
expect(2 "--head: entropy .*; leave out --head" inspect x a --show entropy --head 1)
expect(2 "--show: entropy has no word links" inspect x a --show entropy --out b.moses)
expect(2 "--show: the lens has no word links" inspect x a --show lens --out b.moses)
expect(2 "--layer: the lens reads the rows after each layer" inspect x a --show lens --layer b)
expect(2 "--head: a cell is of one layer and one head" inspect x a --cell a:0:0:0 --head 1)
expect(2 "--cell: the arithmetic of a cell is text or JSON" inspect x a --cell a:0:0:0 --out b.svg)
expect(2 "--head: should be a number from 0, mean, max or all, not 'foo'" inspect x a --head foo)
expect(2 "--target: .*nothing is searched" inspect x a --target b --beam 3)
expect(2 "inspect: there is no option --n-best" inspect x a --n-best=3)
expect(2 "evaluate: there is no option --n-best" evaluate x --source a --n-best=3)
expect(2 "--out: there is no directory /nonexistent; create it first" inspect x a --out /nonexistent/b.svg)
expect(2 "--out: ${WORK} is a directory; name a file" inspect x a --out ${WORK})
expect(2 "--out: b has no known ending; use one of: .svg, .*, .txt; or add --format" inspect x a --out b)
expect(2 "--out: b.bmp has no known ending" inspect x a --out b.bmp)
expect(2 "--format: unknown format 'bmp'; there are: terminal, svg, png" inspect x a --format bmp)
expect(2 "--columns, --colours: are for the terminal" inspect x a --columns 40 --out b.SVG)
expect(2 "--port: should be a whole number from 0 to 65535, not '99999'" explore x --port 99999)

# Lessons.
expect(0 "^ 1  One fixed vector +fixed vector, with attention\n 2  Alignment +recurrent\n.*\n 9  Language models +language model\n11  Encoders +which bank\n$"
  explore --list-lessons)
expect(2 "--lesson: should be a whole number from 1 to 11, not '12'" explore --lesson 12)
expect(1 "lesson 10 has no model on the page; --list-lessons lists those that have" explore --lesson 10)
expect(2 "--lesson: opens models of its own; leave out x" explore x --lesson 1)
expect(2 "--steps: needs --lesson" explore x --steps 5)
expect(2 "no model; give a model directory, or --lesson N" explore)
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=HOME XDG_CACHE_HOME=relative ${ATTEND} explore --lesson 1
  RESULT_VARIABLE result ERROR_VARIABLE err)
if(NOT result EQUAL 1 OR NOT err MATCHES "no place to keep the models of lessons; set XDG_CACHE_HOME or HOME")
  message(FATAL_ERROR "A lesson without a cache: exit ${result}, ${err}")
endif()

# Every command has a help with examples.
foreach(command train translate generate classify fill embed neighbours score evaluate info completion "tokenizer;train"
    "tokenizer;encode" "tokenizer;decode")
  expect(0 "Usage: attend .*Example" ${command} --help)
endforeach()

# A help fits the screen, and --help-all has the rest.
foreach(command train translate generate classify fill embed neighbours inspect explore score evaluate info average bench check completion
    "tokenizer;train" "tokenizer;import" "tokenizer;encode" "tokenizer;decode" "adapter;merge")
  execute_process(COMMAND ${ATTEND} ${command} --help OUTPUT_VARIABLE help)
  string(REGEX MATCHALL "\n" lines "${help}")
  list(LENGTH lines count)
  if(count GREATER 40)
    message(SEND_ERROR "attend ${command} --help has ${count} lines:\n${help}")
  endif()
endforeach()
expect(2 "--time plans the steps; give --time or --steps, not both" train --source a --target b --out c --time 10m --steps 5)
expect(2 "--time should be a time such as 90s, 30m or 1h30m, not '10'" train --source a --target b --out c --time 10)
expect(0 "^Usage: attend train .*[0-9]+ more settings: attend train --help-all\n" train --help)
expect(0 "--valid-source FILE.*--model.transformer.width 1..65536" train --help-all)
expect(0 "^Usage: attend train \\[config\\] \\[OPTIONS\\]\n" help train)
expect(0 "^Usage: attend translate model \\[text...\\] \\[OPTIONS\\]\n" translate --help)
expect(0 "Commands:\n  train " help)
expect(2 "there is no command 'trian'; attend --help lists them" help trian)
expect(0 "gpt2 +gpt +8[0-9][.][0-9] M  12 layers, 768 wide" train --list-presets)

# What people try first: other programs' names, underscores, typing errors.
expect(2 "^attend: train: there is no option --lr; the learning rate is --optimizer.rate\nRun `attend train --help` for more.\n"
  train --lr 1e-3)
expect(2 "no option --epochs; training is measured in steps: --steps N" train --epochs 3)
expect(2 "no option --batch_size; the size of batches is --batch.tokens" train --batch_size 32)
expect(2 "no option --device; everything runs on the CPU" translate x --device cuda)
expect(2 "no option --max-new-tokens; --max-tokens limits the tokens after the prompt" generate x --max-new-tokens=5)
expect(2 "no option --bean; did you mean --beam" translate x --bean 3)
expect(2 "--beam needs a value" translate x --beam)
expect(2 "--threads: should be a whole number from 1 to 1024, not 'many'" translate x --threads many)
expect(2 "there is no command 'trian'; did you mean 'train'" trian)
expect(2 "^attend: there is no option --hlep; did you mean --help\\?\nRun `attend --help` for more.\n$" --hlep)
expect(2 "^attend: no model; give a model directory.*\nRun `attend explore --help` for more.\n$" explore)
expect(1 "there is no text to train on; give --source FILE --target FILE" train)
expect(1 "there is no ${WORK}/nowhere; give a model directory to resume" train ${WORK}/nowhere)
expect(2 "info: 'y' is one argument too many" info x y)
expect(2 "model.transformer.feed_forward.*not 'wide'|'wide'" train --model.transformer.feed_forward wide --out x)
expect(2 "clip_norm.*'a lot'|'a lot'" train --optimizer.clip_norm "a lot" --out x)

# Evaluating texts and alignments.
file(WRITE ${WORK}/out "the cat sat on the mat\nA dog\n")
file(WRITE ${WORK}/ref "the cat sat on the mat\na dog\n")
file(WRITE ${WORK}/ref2 "\nA dog\n")
file(WRITE ${WORK}/three "1\n2\n3\n")
file(WRITE ${WORK}/empty "")
file(WRITE ${WORK}/links "0-0 1-1\n")
file(WRITE ${WORK}/gold "0-0 1-2 1?1\n")
file(WRITE ${WORK}/wrong "0-0 1:1\n")
set(texts evaluate --hypotheses ${WORK}/out --references ${WORK}/ref)
expect(0 "bleu +[0-9.]+ .*case:mixed.*tok:13a.*chrf.*error_rate +12.50.*accuracy +50.00  1 of 2" ${texts})
expect(0 "bleu +100.00 .*case:lc" ${texts} --lowercase)
expect(0 "accuracy +100.00 " ${texts} ${WORK}/ref2)
expect(0 "nrefs:var" ${texts} ${WORK}/ref2)
expect(0 "^{.accuracy.:{.score.:50.0,.right.:1,.lines.:2}}\n$" ${texts} --metric accuracy --json)
expect(0 "alignment_error_rate +25.00  precision 100.00 recall 50.00"
  evaluate --alignments ${WORK}/links --gold ${WORK}/gold)
expect(1 "wrong:1: .*1:1" evaluate --alignments ${WORK}/wrong --gold ${WORK}/gold)
expect(1 "three has 3 lines but .*out has 2" evaluate --hypotheses ${WORK}/out --references ${WORK}/three)
expect(1 "empty: the file has no lines" evaluate --hypotheses ${WORK}/empty --references ${WORK}/empty)
expect(1 "cannot open .*nowhere" evaluate --hypotheses ${WORK}/nowhere --references ${WORK}/ref)
expect(2 "give one of these: a model" evaluate)
expect(2 "--hypotheses requires --references" evaluate --hypotheses ${WORK}/out)
expect(2 "perplexity needs a model" ${texts} --metric perplexity)
expect(2 "blue not in .*bleu" ${texts} --metric blue)

file(WRITE ${WORK}/blank "\n\n")
expect(0 "error_rate +n/a  8 edits in 0 words" evaluate --hypotheses ${WORK}/out --references ${WORK}/blank
  --metric error_rate)

# Labels, tags and numbers against each other.
file(WRITE ${WORK}/gold-labels "good\nbad\ngood\nbad \ngood\n")
file(WRITE ${WORK}/labels "good\nbad\nbad\nbad\nfair\n")
set(labels evaluate --hypotheses ${WORK}/labels --references ${WORK}/gold-labels)
expect(0 "^f1_macro +43.33  3 labels, 5 lines\nf1_weighted +62.00  [^\n]*\nmatthews +0.4629  3 labels, 5 lines\n$" ${labels}
  --metric matthews --metric f1_macro --metric f1_weighted)
expect(0 "\nbad +66.67 +100.00 +80.00 +2 +3\nfair .*\ngood +1 +1 +1\n$" ${labels} --metric f1_micro --table)
expect(0 "^{.f1_macro.:{.score.:43.3.*.precision.:55.5.*.labels.:{.bad.:{.*.correct.:2},.fair.*.confusion.:{.good.:{"
  ${labels} --metric f1_macro --table --json)
expect(1 "line 1: 'good' is not a number" ${labels} --metric pearson)
expect(1 "one right answer, but there are 2 references" ${labels} ${WORK}/gold-labels --metric matthews)
expect(2 "--errors: goes with a model" ${labels} --errors 3)
file(WRITE ${WORK}/gold-tags "John B-PER\nSmith I-PER\nruns O\n\nParis B-LOC\n")
file(WRITE ${WORK}/tags "John B-PER\nSmith O\nruns O\n\nParis B-LOC\n")
set(tags evaluate --hypotheses ${WORK}/tags --references ${WORK}/gold-tags)
expect(0 "^accuracy +75.00  3 of 4 tags\nf1_macro +66.67  .*\nspan_f1 +50.00  precision 50.00 recall 50.00, 2 spans, 2 predicted\n$"
  ${tags} --tag-format conll)
expect(0 "\nspans [^\n]*\nLOC +100.00 +100.00 +100.00 +1 +1\nPER +0.00 +0.00 +0.00 +1 +1\n$" ${tags} --tag-format conll
  --metric span_f1 --table)
expect(1 "text 1: 'John' is not a tag of spans.*give --tag-format conll" ${tags} --metric span_f1)
expect(1 "--metric bleu does not apply to tags" ${tags} --tag-format conll --metric bleu)
file(WRITE ${WORK}/gold-tags "I-PER I-PER O\nB-LOC\n")
file(WRITE ${WORK}/tags "I-PER I-PER O\nB-LOC\n")
expect(0 "^span_f1 +100.00  " ${tags} --metric span_f1 --scheme iob2)
expect(0 "1 span, 1 predicted" ${tags} --metric span_f1 --scheme iob2)
expect(0 "2 spans, 2 predicted" ${tags} --metric span_f1)
file(WRITE ${WORK}/tags "I-PER O\nB-LOC\n")
expect(1 "text 1 has 3 gold tags but 2 predicted tags" ${tags} --metric span_f1)
file(WRITE ${WORK}/tags "NN VB NN\nNN\n")
file(WRITE ${WORK}/gold-tags "NN NN NN\nNN\n")
expect(0 "^accuracy +75.00  3 of 4 tags\nf1_macro [^\n]*\n$" ${tags} --tag-format lines)
file(WRITE ${WORK}/gold-numbers "1\n2.5\n3\n")
file(WRITE ${WORK}/guessed-numbers "1\n 2\n3\n")
expect(0 "^pearson +0.9608  3 numbers\nspearman +1.0000  .*\nmean_squared_error +0.0833  .*\nmean_absolute_error +0.1667 "
  evaluate --hypotheses ${WORK}/guessed-numbers --references ${WORK}/gold-numbers --metric pearson --metric spearman
  --metric mean_squared_error --metric mean_absolute_error)

# Tokenizers.
expect(0 "words: 10 tokens, word" tokenizer train ${WORK}/ref --kind word --out ${WORK}/words)
set(INPUT ${WORK}/ref)
expect(0 "^the cat sat on the mat\na dog\n$" tokenizer encode ${WORK}/words)
expect(0 "^3 [0-9 ]+\n" tokenizer encode ${WORK}/words --ids)
file(WRITE ${WORK}/ids "${OUT}")
set(INPUT ${WORK}/ids)
expect(0 "^the cat sat on the mat\na dog\n$" tokenizer decode ${WORK}/words --ids)
expect(1 "standard input:1: the tokenizer has no '3'; was this encoded with another tokenizer" tokenizer decode ${WORK}/words)
set(INPUT /dev/null)
expect(0 "^$" tokenizer encode ${WORK}/words)
expect(1 "not a SentencePiece model" tokenizer encode ${WORK}/ref)
expect(1 "empty: .*no text" tokenizer train ${WORK}/empty --kind word --out ${WORK}/none)
expect(2 "--out is required" tokenizer train ${WORK}/ref)
expect(2 "--kind should be one of" tokenizer train ${WORK}/ref --kind wrod --out ${WORK}/none)
expect(2 "say which: train, import, encode, decode" tokenizer)

expect(1 "set the vocabulary to [0-9]+ or more .attend train: --vocabulary.vocabulary" tokenizer train
  ${WORK}/ref --kind bpe --vocabulary 5 --out ${WORK}/none)
# Subwords, and vocabularies of other programs.
expect(0 "pieces: [0-9]+ tokens, wordpiece" tokenizer train ${WORK}/ref --kind wordpiece --lowercase --mask
  --out ${WORK}/pieces)
expect(0 "bytes: 2[0-9]+ tokens, byte_bpe" tokenizer train ${WORK}/ref --kind byte_bpe --out ${WORK}/bytes)
file(WRITE ${WORK}/vocab.txt "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\n")
file(WRITE ${WORK}/line "The cats\n")
expect(0 "imported: 8 tokens, wordpiece, lower-cased" tokenizer import ${WORK}/vocab.txt --out ${WORK}/imported)
expect(0 "^5 6 7\n$" tokenizer encode ${WORK}/imported --ids --input ${WORK}/line)
expect(0 "8 tokens, wordpiece, cased" tokenizer import ${WORK}/vocab.txt --cased --out ${WORK}/imported)
expect(0 "^1 6 7\n$" tokenizer encode ${WORK}/imported --ids --input ${WORK}/line)
file(MAKE_DIRECTORY ${WORK}/imports)
expect(0 "imports/tokenizer.model: 8 tokens" tokenizer import ${WORK}/vocab.txt --out ${WORK}/imports)
expect(2 "--lowercase excludes --cased" tokenizer import ${WORK}/vocab.txt --cased --lowercase --out ${WORK}/x)
expect(1 "ref:1: '.*' is not a piece of a word" tokenizer import ${WORK}/ref --out ${WORK}/x)
expect(1 "give one vocab.txt, as BERT has it" tokenizer import ${WORK}/vocab.txt ${WORK}/ref --out ${WORK}/x)

execute_process(COMMAND sh -c "'${ATTEND}' tokenizer encode '${WORK}/words' --input '${WORK}/ref' > /dev/full"
  RESULT_VARIABLE result ERROR_VARIABLE err)
if(NOT result EQUAL 1 OR NOT err MATCHES "cannot write standard output.* [Mm]ake room there, or")
  message(FATAL_ERROR "A full disk: exit ${result}, ${err}")
endif()

# A model that knows twelve places: what comes before a line that is too long comes out.
file(WRITE ${WORK}/months "january\nmay\n")
file(WRITE ${WORK}/numbers "01\n05\n")
set(model ${WORK}/model)
expect(0 "trained 1 steps" train --preset tiny --source ${WORK}/months --target ${WORK}/numbers --out ${model}
  --vocabulary.kind character --model.transformer.width 16 --model.transformer.encoder-layers 1
  --model.transformer.decoder-layers 2 --model.transformer.positions learned
  --model.transformer.max-length 12 --training.steps 1)
file(WRITE ${WORK}/lines "may\n\n  \nmay\njanuary january\nmay\n")
expect(1 "^[^\n]+\n\n\n[^\n]+\nattend: [^\n]*lines:5: the line has 15 tokens, but the model has learned positions for 11; break it"
  translate ${model} --input ${WORK}/lines)
expect(1 "lines:1: the line has 3 tokens, but at most 2 are allowed.*raise the limit .longest_line." translate ${model}
  --input ${WORK}/lines --longest-line 2)
expect(0 "^0 [|][|][|]  [|][|][|] 0.0000\n1 [|][|][|]  [|][|][|] 0.0000\n$" translate ${model} --input ${WORK}/blank --n-best 2 --window 1)
expect(0 "^{.line.:0,.source.:..,.translations.:.{.text.:..,.score.:0.0," translate ${model}
  --input ${WORK}/blank --json)
file(WRITE ${WORK}/pairs "may\t05\njanuary january\t01\n")
expect(1 "^-[0-9.]+\nattend: [^\n]*pairs:2: the line has 15 tokens" score ${model} --source ${WORK}/pairs)
file(WRITE ${WORK}/pairs "may\t05\nmay\t055555555555555\n")
expect(1 "^-[0-9.]+\nattend: [^\n]*pairs:2: the line has 15 tokens" score ${model} --source ${WORK}/pairs)
expect(1 "^attend: [^\n]*pairs:2: the line has 15 tokens" evaluate ${model} --source ${WORK}/pairs)
file(WRITE ${WORK}/pairs "may\t05\nmay\n")
expect(1 "^-[0-9.]+\nattend: [^\n]*pairs:2: no tab" score ${model} --source ${WORK}/pairs)
expect(0 "--ban 'x': not in the vocabulary" translate ${model} --ban x --input ${WORK}/months)

# Entropy in every form; links of several layers are named.
expect(0 "^<svg" inspect ${model} may --show entropy --format svg)
expect(0 "^$" inspect ${model} may --show entropy --out ${WORK}/entropy.png)
file(READ ${WORK}/entropy.png magic LIMIT 4 HEX)
expect_equal("${magic}" "89504e47" "the start of entropy.png")
expect(0 "^decoder.0.cross +[0-9.]+ .*\ndecoder.1.cross +[0-9.]+ " inspect ${model} may --show entropy)
expect(0 "^decoder.0.cross, mean [|][|][|] [0-9]-0 .*\ndecoder.1.cross, mean [|][|][|] [0-9]-0 " inspect ${model}
  may --target 01 --format moses)
expect(0 ".columns.:..m.,.<unk:x>.,.a." inspect ${model} mxay --target 01 --format json)

# What is longer than the model has places for.
expect(1 "inspect: .source. has 15 tokens, but the model has positions for 11" inspect ${model}
  "january january")
expect(1 "inspect: .target. has 15 tokens, but the model has positions for 11" inspect ${model}
  may --target 055555555555555)

string(REPEAT "may " 300000 line)
file(WRITE ${WORK}/long "${line}\n")
set(INPUT ${WORK}/long)
expect(1 "standard input:1: the line is over [0-9]+ bytes" inspect ${model})
set(INPUT /dev/null)

# Which layer aligns best: a table with its head, and where it is remembered.
file(WRITE ${WORK}/gold "0-0\n0-0\n")
set(rank evaluate ${model} --source ${WORK}/months --target ${WORK}/numbers --gold ${WORK}/gold)
expect(0 "^layer +AER .*head\ndecoder.*alignment.json: --alignment-layer best is now decoder" ${rank})
find_program(SETPRIV setpriv)
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
set(nobody ${SETPRIV} --reuid=65534 --clear-groups)
set(hidden 1)
if(SETPRIV AND user STREQUAL "0")
  execute_process(COMMAND ${nobody} test -r ${model}/config.json RESULT_VARIABLE hidden)
endif()
if(hidden EQUAL 0)  # not so in root's own directory, which nobody may enter
  execute_process(COMMAND ${nobody} ${ATTEND} ${rank} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result EQUAL 0 OR NOT out MATCHES "^layer" OR NOT err MATCHES "could not be saved: .*--alignment-layer dec")
    message(FATAL_ERROR "A directory that cannot be written to: exit ${result}, ${out}${err}")
  endif()
  file(MAKE_DIRECTORY ${WORK}/closed)
  file(CHMOD ${WORK}/closed PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  execute_process(COMMAND ${nobody} ${ATTEND} info ${WORK}/closed/model RESULT_VARIABLE result ERROR_VARIABLE err)
  if(NOT result EQUAL 1 OR NOT err MATCHES "^attend: [^\n]*closed/model[^\n]*: Permission denied; run it as")
    message(FATAL_ERROR "A directory that may not be entered: exit ${result}, ${err}")
  endif()
endif()
file(WRITE ${WORK}/gold "0-0\n0-3\n")
expect(1 "gold:2: the link 0-3 points outside the line, which has 1 source words and 1 target words" ${rank})

# No model where one is named.
foreach(command translate classify fill embed neighbours "generate;x" info "score;--source;${WORK}/ref;--target;${WORK}/ref")
  list(POP_FRONT command name)
  expect(1 "empty: not a model directory.*attend train" ${name} ${WORK}/empty ${command})
  expect(2 "model is required" ${name})
endforeach()

# Completions: the shells that are here read them, and bash offers what there is.
expect(2 "say which: bash, zsh, fish, man" completion)
foreach(shell bash zsh fish)
  expect(0 "vocabulary.kind" completion ${shell})
  file(WRITE ${WORK}/attend.${shell} "${OUT}")
  find_program(found_${shell} ${shell})
  if(found_${shell})
    execute_process(COMMAND ${found_${shell}} -n ${WORK}/attend.${shell} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
function(expect_completion expected)
  string(JOIN "' '" words ${ARGN})
  execute_process(COMMAND ${found_bash} -c "source ${WORK}/attend.bash; COMP_WORDS=('${words}')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _attend; echo \"\${COMPREPLY[*]}\"" OUTPUT_VARIABLE out)
  expect_equal("${out}" "${expected}\n" "completion of ${ARGN}")
endfunction()
expect_completion("train translate tokenizer" attend t)
expect_completion("score" attend --threads 2 sc)
expect_completion("classify" attend cl)
expect_completion("decode" attend tokenizer d)
expect_completion("--mean" attend score model --m)
expect_completion("byte bpe byte_bpe" attend train --vocabulary.kind b)
expect_completion("tiny" attend train --preset ti)

expect(0 "^.TH ATTEND 1 " completion man)
file(WRITE ${WORK}/attend.1 "${OUT}")
find_program(MAN man)
if(MAN)
  execute_process(COMMAND ${MAN} --warnings -l ${WORK}/attend.1 OUTPUT_VARIABLE page ERROR_VARIABLE complaints)
  expect_equal("${complaints}" "" "man")
  if(NOT page MATCHES "attend tokenizer encode")
    message(FATAL_ERROR "The man page lacks a command:\n${page}")
  endif()
endif()

# Options that would do nothing for texts, for links, or where layers are ranked.
foreach(option "--beam;3" "--sample" "--max-length;9" "--batch-tokens;9" "--longest-line;9" "--source;a"
    "--target;a" "--text;a" "--label;a")
  list(GET option 0 name)
  expect(2 "^attend: ${name}: goes with a model" ${texts} ${option})
  expect(2 "^attend: ${name}: goes with a model" evaluate --alignments a --gold b ${option})
endforeach()
foreach(option "--metric;bleu" "--grouped" "--lowercase" "--tokenize;none" "--references;a")
  list(GET option 0 name)
  expect(2 "^attend: ${name}: does not go with --gold" ${rank} ${option})
  expect(2 "^attend: ${name}: does not go with --gold" evaluate --alignments a --gold b ${option})
endforeach()
expect(2 "^attend: --beam: does not go with --gold" ${rank} --beam 3)
foreach(option "--beam;3" "--lowercase")
  list(GET option 0 name)
  expect(2 "^attend: ${name}: does not go with perplexity" evaluate ${model} --source a --target b
    --metric perplexity ${option})
endforeach()
expect(2 "--beam: does not go with --sample" translate x --sample --beam 3)
expect(2 "--beam: does not go with --sample" evaluate x --source y --sample --beam 3)
expect(2 "--top-k: goes with --sample" translate x --sample=false --top-k 3)
expect(2 "--min-p: goes with --sample" translate x --min-p 0.1)
expect(2 "--top-k: does not go with --beam" generate x y --beam 2 --top-k 3)
expect(2 "--samples: should be a whole number from 1 to 4096, not '0'" generate x y -n 0)
expect(2 "--max.tokens should be a whole number from 1 to 1048576" generate x y --max-tokens 0)
expect(2 "--stop: 'a.q': a backslash begins" generate x y --stop "a\\q")
expect(2 "give prompts in one way only" generate x y --input z)
expect(2 "--json: does not go with --interactive" generate x --interactive --json)
expect(2 "--interactive: takes what is typed" generate x y --interactive)
expect(2 "--interactive: writes one text" generate x --interactive -n 2)

# Lines that are too long to rank layers by, and numbers that are none.
file(WRITE ${WORK}/pairs "may\t05\njanuary january\t01\n")
file(WRITE ${WORK}/gold "0-0\n0-0\n")
expect(1 "pairs:2: the line has 15 tokens" evaluate ${model} --source ${WORK}/pairs --gold ${WORK}/gold)
expect(1 "months:1: the line has 7 tokens, but at most 5 are allowed" ${rank} --longest-line 5)
expect(1 "length_penalty of nan" translate ${model} --input ${WORK}/months --length-penalty nan)
expect(1 "temperature inf" translate ${model} --input ${WORK}/months --sample --temperature inf)

# What is given is read, and not standard input, which stays open and silent here.
execute_process(COMMAND sh -c "mkfifo '${WORK}/silent' && '${ATTEND}' inspect '${model}' may <>'${WORK}/silent'"
  RESULT_VARIABLE result OUTPUT_VARIABLE out TIMEOUT 600)
if(NOT result EQUAL 0 OR NOT out MATCHES "decoder.0.cross")
  message(FATAL_ERROR "inspect beside a silent pipe: ${result}\n${out}")
endif()

# A pipe and a link are written to, and stay what they are.
set(picture inspect ${model} may --layer decoder.0.cross --format json)
expect(0 "^{.title" ${picture})
set(shown "${OUT}")
file(CREATE_LINK map.json ${WORK}/link SYMBOLIC)
expect(0 "^$" ${picture} --out ${WORK}/link)
file(READ ${WORK}/map.json written)
expect_equal("${written}" "${shown}" "a file behind a link")
list(JOIN picture " " command)
execute_process(COMMAND sh -c "mkfifo '${WORK}/pipe' && exec 3<>'${WORK}/pipe' && \
  '${ATTEND}' ${command} --out '${WORK}/pipe' && head -n 1 <&3" OUTPUT_VARIABLE written TIMEOUT 600)
expect_equal("${written}" "${shown}" "a pipe")

# A file is named once; what 0 means for a vocabulary is so.
execute_process(COMMAND printf "\\377\\376a\\000" OUTPUT_FILE ${WORK}/wide)
expect(1 "^attend: [^:]*wide: UTF-16" tokenizer train ${WORK}/wide --kind word --out ${WORK}/none)
expect(0 "0: all characters,[ \n]+words[ \n]+or[ \n]+lines[ \n]+there[ \n]+are" tokenizer train --help)
expect(0 "words: 10 tokens" tokenizer train ${WORK}/ref --kind word --vocabulary 0 --out ${WORK}/words)

# Settings in braces are YAML unless the file's name says JSON.
file(WRITE ${WORK}/config.yaml "{model: {preset: tiny}}\n")
expect(0 "task +translate.*transformer" train ${WORK}/config.yaml --source ${WORK}/months --target ${WORK}/numbers
  --out ${WORK}/braces --vocabulary.kind character --dry-run)
