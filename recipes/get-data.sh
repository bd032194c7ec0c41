# What the recipes' get-data scripts share; they source it. A script fills the new folder $work and
# calls publish, which puts it in its place as `data` at once: an interrupted run leaves nothing behind.
set -euo pipefail
export LC_ALL=C  # bytes, so that every awk splits alike
here=$(cd "$(dirname "$0")" && pwd)

stop() {
  printf '%s\n' "$@" >&2
  exit 1
}

counts() { (cd "$here/data" && wc -l -- *) | awk '$2 != "total" { printf "%9d lines  data/%s\n", $1, $2 }'; }

# Stops the script, content, when the data is there already.
begin() {
  if [ -d "$here/data" ]; then
    echo "The data is there already; remove $here/data to make it again."
    counts
    exit 0
  fi
  work=$(mktemp -d "$here/data.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

publish() {
  local file
  for file in "$work"/*; do
    [ -s "$file" ] || stop "${0##*/}: $(basename "$file") came out empty; the source is not what was expected."
  done
  chmod 755 "$work"
  mv -T "$work" "$here/data"
  counts
}

# The folder with the files: the argument, or the one of that name in $ATTEND_DATA; else nothing.
source_folder() {
  if [ -n "${2:-}" ]; then
    echo "$2"
  elif [ -n "${ATTEND_DATA:-}" ] && [ -d "$ATTEND_DATA/$1" ]; then
    echo "$ATTEND_DATA/$1"
  fi
}

# Prints FOLDER/NAME, or FOLDER/NAME.gz unpacked; fails when there is neither.
unpack() {
  if [ -f "$1/$2" ]; then
    cat "$1/$2"
  elif [ -f "$1/$2.gz" ]; then
    gzip -dc "$1/$2.gz" || stop "$1/$2.gz is damaged; get it again."
  else
    return 1
  fi
}

# Awk functions. part(key) is a number from 0 to 999 that depends on the key alone, so that a line is
# in the same part of the data on every machine.
awk_part='
  BEGIN { for (i = 1; i < 256; ++i) ord[sprintf("%c", i)] = i }
  function part(key, h, i) {
    for (i = 1; i <= length(key); ++i) h = (h * 131 + ord[substr(key, i, 1)]) % 16777213
    return int(h * 997 % 16777213 / 16777213 * 1000)
  }
'
