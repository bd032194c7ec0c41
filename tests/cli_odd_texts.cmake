# Texts and labels that are unusual, as a person may have them: cmake -DATTEND=... -DWORK=<a directory> -P cli_odd_texts.cmake
include(${CMAKE_CURRENT_LIST_DIR}/cli_expect.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
string(REPEAT "a fine film\tgood\n" 60 common)
string(REPEAT "a poor film\tbad\n" 5 rare)
string(REPEAT "film " 10000 words)
set(once "strange words\todd\n[MASK] </s> <mask>\tgood\n")
file(WRITE ${WORK}/all.tsv "text\tlabel\n${common}${rare}${once}\tgood\n${words}\tgood\n")
set(width --model.bert.width 16 --model.bert.layers 1 --model.bert.heads 2 --model.bert.max-length 64)

# A label that occurs once is learned; what is empty or too long is left out, and counted.
expect(0 "data: 229 pieces.*left out: 1 empty, 0 too long" train --preset bert-tiny ${width} --text ${WORK}/all.tsv:text --out ${WORK}/base --steps 5
  --vocabulary.kind word --data.documents line --data.context 64 --data.held-out 0)
set(model ${WORK}/model)
expect(0 "3 labels .line.[^\n]*\n.*data: 67 texts, [0-9]+ text tokens; left out: 1 empty, 1 too long\n.*trained 60 steps" train
  --init-from ${WORK}/base --text ${WORK}/all.tsv:text --label ${WORK}/all.tsv:label --out ${model} --steps 60
  --optimizer.rate 0.02 --training.class-weights auto --data.held-out 0)
file(WRITE ${WORK}/known "a fine film\na poor film\nstrange words\n")
expect(0 "^good\t[01][.][0-9]+\nbad\t[01][.][0-9]+\nodd\t[01][.][0-9]+\n$" classify ${model} --input ${WORK}/known)

# No text and one word have labels. What looks like a special token is a word like others: one that training had, or
# an unknown one.
file(WRITE ${WORK}/short "\nfilm\n")
expect(0 "^[a-z]+\t[01][.][0-9]+\n[a-z]+\t[01][.][0-9]+\n$" classify ${model} --input ${WORK}/short)
foreach(special unheard-of <s> <unk> [SEP] [UNK])
  file(WRITE ${WORK}/special "a ${special} film\n")
  expect(0 "good" classify ${model} --input ${WORK}/special --probabilities)
  if(special STREQUAL unheard-of)
    set(unknown "${OUT}")
  endif()
  expect_equal("${OUT}" "${unknown}" "the label of a text with ${special}")
endforeach()
file(WRITE ${WORK}/special "[MASK] </s> <mask>\n")
expect(0 "^good\t" classify ${model} --input ${WORK}/special)
expect(1 "predicts no masked tokens: it is a label model; use classify" fill ${model} "a [MASK] film")

# A text that is too long is an error where it stands, after the answers before it.
file(WRITE ${WORK}/long "a fine film\n${words}\na poor film\n")
expect(1 "^good\t[01][.][0-9]+\nattend: [^\n]*long:2: the line has 10000 tokens, but the model has learned positions for 62" classify
  ${model} --input ${WORK}/long)
file(WRITE ${WORK}/long.tsv "label\ttext\ngood\ta fine film\ngood\t${words}\n")
foreach(command "classify;${model};--input;${WORK}/long.tsv:text"
    "evaluate;${model};--text;${WORK}/long.tsv:text;--label;${WORK}/long.tsv:label")
  expect(1 "long.tsv:3: the line has 10000 tokens" ${command})
endforeach()

# A label that training did not have is wrong, and has no part in the perplexity.
file(WRITE ${WORK}/new.tsv "a fine film\tnew\na fine film\tgood\n")
set(new --text ${WORK}/new.tsv:1 --label ${WORK}/new.tsv:2)
expect(0 "^accuracy +50.00  1 of 2 lines\n.*perplexity .* in each of 1 label.*\nnew +0.00 +0.00 +0.00 +1 +0\n" evaluate ${model}
  ${new} --table)
expect(0 "step 62  validation: .*accuracy 50.00" train ${model} --steps +2 --validation.every 2 --validation.metric accuracy
  --valid-text ${WORK}/new.tsv:1 --valid-label ${WORK}/new.tsv:2)

# Files of different lengths, one of which has a line of names.
file(WRITE ${WORK}/two "x\ny\n")
file(WRITE ${WORK}/three.tsv "name\tid\na\t1\nb\t2\nc\t3\n")
set(unequal "(two has 2 lines but [^\n]*three.tsv has 3;|three.tsv has 3 lines but [^\n]*two has 2;)")
expect(1 "${unequal}" train --text ${WORK}/three.tsv:name --label ${WORK}/two --out ${WORK}/none)
expect(1 "${unequal}" train --text ${WORK}/two --pair ${WORK}/three.tsv:name --label ${WORK}/two --out ${WORK}/none)
expect(1 "${unequal}" evaluate ${model} --text ${WORK}/three.tsv:name --label ${WORK}/two)
if(EXISTS ${WORK}/none)
  message(FATAL_ERROR "a run that could not start left a directory")
endif()
