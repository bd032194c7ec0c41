# What the recipes' run scripts share; they source it. usage: run ATTEND [MODEL...]
# Makes the data, then trains and measures the models that are named, or each that has a YAML file.
set -euo pipefail
attend=$(realpath "$1")
shift
cd "$(dirname "$0")"
./get-data
models=("$@")
if [ $# -eq 0 ]; then for file in *.yaml; do models+=("${file%.yaml}"); done; fi

train() {
  printf '\n== attend train %s.yaml\n' "$1"
  "$attend" train "$1.yaml"
}

# MODEL and what `attend evaluate` is told.
measure() {
  printf '\n== attend evaluate models/%s\n' "$*"
  "$attend" evaluate "models/$1" "${@:2}"
}
