# Package descriptions from apt's indexes. make_debian LANGUAGE fills $work with their translations,
# {train,dev,test}.{en,LANGUAGE}; make_debian_text with documents, {train,dev,test}.txt;
# make_debian_topics with their sections, {train,dev,test}.tsv. Needs apt and the network, but not root.
. "$(dirname "$0")/../get-data.sh"

# fetch_indexes LANGUAGE [true]: the descriptions, and where true follows also the packages.
fetch_indexes() {
  type -P apt-get >/dev/null && [ -x /usr/lib/apt/apt-helper ] ||
    stop "The data are apt's Translation indexes: this recipe needs a Debian system."
  mkdir -p "$work/lists/partial"
  # Nothing of the system's own apt is touched: its lists and its cache stay as they are.
  apt-get -qq -o "Acquire::Languages=$1,en" -o "Dir::State::lists=$work/lists" -o Dir::Cache::pkgcache= \
    -o Dir::Cache::srcpkgcache= -o "APT::Sandbox::User=$(id -un)" -o APT::Update::Post-Invoke= \
    -o "Acquire::IndexTargets::deb::Packages::DefaultEnabled=${2:-false}" update >&2 ||
    stop "apt-get could not fetch the indexes; is there a network?"
}

# Prints "md5 TAB number of the paragraph TAB of how many TAB text" for the descriptions of a language.
# Items of lists are paragraphs of their own.
paragraphs() {
  local index
  for index in "$work"/lists/*_Translation-"$1"*; do
    [ -f "$index" ] || stop "apt has no Translation-$1 index"
    /usr/lib/apt/apt-helper cat-file "$index"
    echo
  done | awk -v field="Description-$1: " '
    function flush(i) {
      if (md5 != "") for (i = 1; i <= n; ++i) print md5 "\t" i "\t" n "\t" text[i]
      md5 = ""
      n = fresh = 0
    }
    { gsub(/\t/, " ") }
    /^$/ { flush(); next }
    /^Description-md5: / { md5 = $2; next }
    index($0, field) == 1 { text[++n] = substr($0, length(field) + 1); fresh = 1; next }
    /^ \.$/ { fresh = 1; next }
    /^ / && n > 0 {
      if (/^ +[*o+-] /) fresh = 1
      sub(/^ +/, "")
      if (fresh) text[++n] = $0; else text[n] = text[n] " " $0
      fresh = 0
    }
    END { flush() }'
}

make_debian() {
  begin
  fetch_indexes "$1"
  paragraphs en >"$work/paragraphs.en"
  # Kept: descriptions with the same number of paragraphs in both; of those, paragraphs that were
  # translated, have 2 to 100 words, and lengths within a factor of 3. The same English is taken once,
  # so that no line of dev or test is in train.
  paragraphs "$1" | awk -F '\t' -v out="$work" -v language="$1" "$awk_part"'
    FILENAME != "-" { key = $1 "\t" $2; english[key] = $4; size[key] = $3; next }
    {
      key = $1 "\t" $2
      if (size[key] != $3 || english[key] == $4 "" || english[key] in seen) next
      a = split(english[key], unused, " ")
      b = split($4, unused, " ")
      if (a < 2 || b < 1 || a > 100 || b > 100 || a > 3 * b + 3 || b > 3 * a + 3) next
      seen[english[key]] = 1
      p = part(english[key])
      file = out "/" (p < 40 ? "dev" : p < 80 ? "test" : "train")
      print english[key] >(file ".en")
      print $4 >(file "." language)
    }' "$work/paragraphs.en" -
  rm -r "$work/lists" "$work/paragraphs.en"
  publish
}

# A document is a summary and the paragraphs below it, a line each, with a blank line between documents.
make_debian_text() {
  begin
  fetch_indexes en
  paragraphs en | awk -F '\t' -v out="$work" "$awk_part"'
    function flush(p) {
      if (text != "" && !(text in seen)) {
        seen[text] = 1
        p = part(text)
        print text "\n" >(out "/" (p < 40 ? "dev" : p < 80 ? "test" : "train") ".txt")
      }
      text = ""
    }
    $2 == 1 { flush() }
    { text = text (text == "" ? "" : "\n") $4 }
    END { flush() }'
  rm -r "$work/lists"
  publish
}

# Prints "md5 of the description TAB source package TAB section".
sections() {
  local index
  for index in "$work"/lists/*_Packages*; do
    [ -f "$index" ] || stop "apt has no index of packages"
    /usr/lib/apt/apt-helper cat-file "$index"
    echo
  done | awk '
    function flush() {
      sub(/^.*\//, "", section)  # contrib/, non-free/
      if (md5 != "" && section != "") print md5 "\t" (source == "" ? package : source) "\t" section
      md5 = source = section = ""
    }
    /^$/ { flush(); next }
    /^Package: / { package = $2; next }
    /^Source: / { source = $2; next }
    /^Section: / { section = $2; next }
    /^Description-md5: / { md5 = $2 }
    END { flush() }'
}

# A text is a summary and the first paragraph below it, at most 50 words. Packages of one source, and of
# its other versions (gcc-11, gcc-12), are in the same file; the same text is taken once. Sections with
# fewer than 300 texts are left out.
make_debian_topics() {
  begin
  fetch_indexes en true
  sections >"$work/sections"
  paragraphs en | awk -F '\t' '
    function flush() { if (text != "" && !(text in seen)) print key "\t" text; seen[text]; text = "" }
    FILENAME != "-" { if (!($1 in source)) { source[$1] = $2; section[$1] = $3 } next }
    $2 == 1 { flush(); if ($1 in source) { key = source[$1] "\t" section[$1]; text = $4 } next }
    $2 == 2 && text != "" {
      n = split($4, word, " ")
      room = 50 - split(text, unused, " ")
      text = text " :"
      for (i = 1; i <= n && i <= room; ++i) text = text " " word[i]
    }
    END { flush() }' "$work/sections" - >"$work/texts"
  awk -F '\t' -v out="$work" "$awk_part"'
    NR == FNR { ++count[$2]; next }
    FNR == 1 { for (i = split("train dev test", file, " "); i > 0; --i) print "text\tsection" >(out "/" file[i] ".tsv") }
    count[$2] >= 300 {
      key = $1
      gsub(/[-.]?[0-9]+/, "", key)
      sub(/-signed.*/, "", key)
      p = part(key)
      print $3 "\t" $2 >(out "/" (p < 60 ? "dev" : p < 160 ? "test" : "train") ".tsv")
    }' "$work/texts" "$work/texts"
  rm -r "$work/lists" "$work/sections" "$work/texts"
  publish
}
