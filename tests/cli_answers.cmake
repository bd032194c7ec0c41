# Models that tag words, give numbers, read pairs or several corpora, or are pretrained: cmake -DATTEND=... -DWORK=<a directory> -P cli_answers.cmake
include(${CMAKE_CURRENT_LIST_DIR}/cli_expect.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(settings --vocabulary.kind word --training.report-every 60 --optimizer.rate 0.01
  --schedule.warmup 5 --batch.tokens 256 --data.held-out 0)
function(repeat name count text)
  string(REPEAT "${text}" ${count} lines)
  file(WRITE ${WORK}/${name} "${lines}")
endfunction()

# Tags: as columns, as JSON with the spans that they mark, and measured.
repeat(texts 20 "Anna Smith lives in Rome\nthe man from Paris met Bob\nBob runs\n")
repeat(tags 20 "B-PER I-PER O O B-LOC\nO O O B-LOC O B-PER\nB-PER O\n")
set(tagger ${WORK}/tagger)
expect(0 "task: tag .*trained 60 steps" train --text ${WORK}/texts --tags ${WORK}/tags --out ${tagger} ${settings}
  --steps 60)
file(WRITE ${WORK}/some "Anna Smith lives\n\nBob runs\n")
expect(0 "^Anna\tB-PER\nSmith\tI-PER\nlives\tO\n\n\nBob\tB-PER\nruns\tO\n\n$" classify ${tagger} --input ${WORK}/some)
expect(0 "{.line.:2,.text.:.Bob runs.,.words.:\\[{.word.:.Bob.,.tag.:.B-PER.,.probability.:0.9[0-9]*},.*.spans.:\\[{.type.:.PER.,.begin.:0,.end.:1}\\]}"
  classify ${tagger} --input ${WORK}/some --json)
expect(0 "^Anna\tB-PER\nSmith\tI-PER\n\nBob\tB-PER\n\n$" classify ${tagger} "Anna Smith" Bob)
set(measured evaluate ${tagger} --text ${WORK}/texts --tags ${WORK}/tags)
expect(0 "^accuracy +100.00  260 of 260 tags\nf1_macro +100.00  4 labels, 260 tags\nspan_f1 +100.00  [^\n]* 100 spans, 100 predicted\n$"
  ${measured})
expect(0 "^span_f1 +100.00 .*\nO +100.00 +100.00 +100.00 +140 +140\n.*\nPER +100.00 +100.00 +100.00 +60 +60\n$" ${measured}
  --metric span_f1 --table)
# Columns of words and tags; the most confident mistake names the word.
file(WRITE ${WORK}/conll "Anna B-PER\nSmith I-PER\n\nRome x B-LOC\nBob B-LOC\n")
expect(0 "^accuracy +75.00  3 of 4 tags\n\nline\tgold\tpredicted\tprobability\ttext\n2\tB-LOC\tB-PER\t[01][.0-9]+\tBob: Rome Bob\n$"
  evaluate ${tagger} --text ${WORK}/conll --tag-format conll --metric accuracy --errors 5)
file(WRITE ${WORK}/short "O\n")
file(WRITE ${WORK}/long "Bob runs\n")
expect(1 "short:1: 1 tag for 2 words; give one for each word" evaluate ${tagger} --text ${WORK}/long --tags ${WORK}/short)
expect(1 "--metric pearson does not apply to a model that gives tags; use accuracy, .* or span_f1_macro" ${measured}
  --metric pearson)
expect(1 "the model reads one text; leave out --pair" classify ${tagger} --input ${WORK}/long --pair ${WORK}/long)

# The likeliest tags of each word follow its tag, in columns and in JSON.
expect(0 "^Anna\tB-PER\tB-PER\t[01][.][0-9]+\t[BIO][^\t]*\t0.[0-9]*\nSmith\tI-PER\tI-PER\t[^\n]*\n" classify ${tagger}
  --input ${WORK}/some -n 2)
expect(0 "Bob\tB-PER(\t[^\t]+\t[01][.][0-9]+)(\t[^\t]+\t[01][.][0-9]+)(\t[^\t]+\t[01][.][0-9]+)(\t[^\t]+\t[01][.][0-9]+)\n"
  classify ${tagger} --input ${WORK}/some --probabilities)
expect(0 ".word.:.Bob.,.tag.:.B-PER.,.probability.:[^,]*,.tags.:\\[{.tag.:.B-PER.,.probability.:[^}]*},{" classify ${tagger}
  --input ${WORK}/some --json -n 2)

# The same with a conditional random field, around the encoder of that model; spans keep the scheme of the text.
set(chain ${WORK}/chain)
expect(0 "tags: all follow iob2.*start: new 3: crf 3.*trained 60 steps" train --init-from ${tagger} --model.kind tagger
  --model.tagger.output crf --text ${WORK}/texts --tags ${WORK}/tags --out ${chain} --training.report-every 60
  --optimizer.rate 0.01 --schedule.warmup 5 --batch.tokens 256 --data.held-out 0 --steps 60)
expect(0 "^Anna\tB-PER\nSmith\tI-PER\nlives\tO\n\n\nBob\tB-PER\nruns\tO\n\n$" classify ${chain} --input ${WORK}/some)
expect(0 "{.line.:1,.text.:..,.words.:\\[\\],.spans.:\\[\\]}\n{.line.:2,.*.spans.:\\[{.type.:.PER.,.begin.:0,.end.:1}\\]}"
  classify ${chain} --input ${WORK}/some --json)
expect(0 "^Anna\tB-PER\tB-PER\t[01][.]" classify ${chain} --input ${WORK}/some -n 2)
expect(0 "^accuracy +100.00  260 of 260 tags\n.*span_f1 +100.00 .*\nO +100.00 +100.00 +100.00 +140 +140\n" evaluate ${chain}
  --text ${WORK}/texts --tags ${WORK}/tags --table)
expect(1 "training.class_weights is for tags that are learned one by one" train --init-from ${tagger} --model.kind tagger
  --model.tagger.output crf --text ${WORK}/texts --tags ${WORK}/tags --out ${WORK}/none --training.class-weights auto)

# Numbers.
repeat(numbers-texts 30 "a\nb\na a\nb b\n")
repeat(numbers 30 "1\n-3\n1\n-3\n")
set(regression ${WORK}/regression)
expect(0 "trained 60 steps" train --text ${WORK}/numbers-texts --number ${WORK}/numbers --out ${regression} ${settings}
  --steps 60)
expect(0 "^[01][.]?[0-9]*\n-[23][.]?[0-9]*\n" classify ${regression} --input ${WORK}/numbers-texts)
expect(0 "^{.line.:0,.text.:.a.,.number.:[01][.][0-9]+}\n" classify ${regression} --input ${WORK}/numbers-texts --json)
expect(0 "^pearson +(0.9|1.0).*\nmean_absolute_error [^\n]*\n\nline\tgold\tpredicted\tdifference\ttext\n[0-9]+\t-?[13]\t[^\n]*\n$"
  evaluate ${regression} --text ${WORK}/numbers-texts --number ${WORK}/numbers --errors 1)
expect(0 "^[01][.]?[0-9]*\n-[23][.]?[0-9]*\n$" classify ${regression} a b)
expect(1 "n best and --probabilities are of labels and tags; this is a regression model" classify ${regression} -n 2)
expect(2 "--table: goes with labels and tags" evaluate ${regression} --text ${WORK}/numbers-texts
  --number ${WORK}/numbers --table)

# Pairs: two files, or two columns.
repeat(first 30 "a b\nb\nc\na\n")
repeat(second 30 "a\nc\na\nc\n")
repeat(labels 30 "yes\nno\nyes\nno\n")
set(pairs ${WORK}/pairs)
expect(0 "trained 60 steps" train --text ${WORK}/first --pair ${WORK}/second --label ${WORK}/labels --out ${pairs}
  ${settings} --steps 60)
file(WRITE ${WORK}/columns "a b\ta\nb\tc\n")
expect(0 "^yes\t[01][.][0-9]+\nno\t[01][.][0-9]+\n$" classify ${pairs} --input ${WORK}/columns)
expect(0 "^yes\t[01][.][0-9]+\nno\t" classify ${pairs} --input ${WORK}/first --pair ${WORK}/second)
expect(0 "^accuracy +100.00  120 of 120 lines" evaluate ${pairs} --text ${WORK}/first --pair ${WORK}/second
  --label ${WORK}/labels)
expect(1 "the model reads two texts; give --text FILE --pair FILE" evaluate ${pairs} --text ${WORK}/first
  --label ${WORK}/labels)
expect(1 "long:1: no tab parts text and second text; give the second texts with --pair" classify ${pairs}
  --input ${WORK}/long)
# Arguments go two by two.
expect(0 "^yes\t[01][.][0-9]+\nno\t[01][.][0-9]+\n$" classify ${pairs} "a b" a b c)
expect(1 "classify: the model reads two texts, and 'b' has no second one; give both as arguments" classify ${pairs} "a b" a b)
expect(1 "pair 2: the line has 2 tokens, but at most 1 are allowed" classify ${pairs} a a b "c c" --longest-line 1)
expect(2 "--pair: does not go with texts as arguments" classify ${pairs} a --pair ${WORK}/second)

# Several corpora: each flag once for each, and a file of settings may follow; info shows what an epoch has.
repeat(more-texts 10 "Bob met Anna\n")
repeat(more-tags 10 "B-PER O B-PER\n")
file(WRITE ${WORK}/settings.yaml "data: {weights: [1, 2]}\n")
expect(0 "an epoch has 80 texts of 2 corpora: 60 texts of [^\n]*/texts x 1 .75.0 %., 10 texts of [^\n]*/more-texts x 2 .25.0 %."
  train --text ${WORK}/texts --text ${WORK}/more-texts --tags ${WORK}/tags --tags ${WORK}/more-tags ${WORK}/settings.yaml
  --out ${WORK}/both ${settings} --steps 1)
expect(0 "data +[^\n]*/texts [+] [^\n]*/tags, weight 1, 60 records, 75.0 % of an epoch\ndata [^\n]*, weight 2, 10 records, 25.0 %"
  info ${WORK}/both)
expect(1 "data.text has 2 files but data.tags has 1 file; give one for each" train --text ${WORK}/texts
  --text ${WORK}/more-texts --tags ${WORK}/tags --out ${WORK}/none ${settings})

# An encoder-decoder is pretrained on plain text, and fine-tuned on pairs.
repeat(sentences 40 "abcdefghij\nfghijklmno\n")
expect(0 "task: span_corruption .*trained 2 steps" train --preset tiny --text ${WORK}/sentences --out ${WORK}/base
  --batch.tokens 256 --steps 2)
expect(0 "task: translate .*as in init_from.*trained 1 step" train --init-from ${WORK}/base --source ${WORK}/sentences
  --target ${WORK}/sentences --out ${WORK}/tuned --batch.tokens 256 --steps 1)
