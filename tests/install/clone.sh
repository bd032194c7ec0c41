#!/usr/bin/env bash
# usage: clone.sh demo | test    as root
# Clones this repository into a fresh Debian 12 and runs `./dev demo` or `./dev test` there, which install
# what they need. After the demo it runs the commands that the demo tells its user to type, and an example.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/debian.sh"
repository=$(git -C "$here" rev-parse --show-toplevel)

fresh_debian "$repository/build/package/debian-12"
git clone --quiet "file://$repository" "$root/root/attend"
apt install git bash
case ${1:-} in
  test) inside bash -c 'cd /root/attend && time ./dev test' ;;
  demo)
    inside bash -c 'cd /root/attend && time ./dev demo' | tee "$root/root/demo"
    sed -n '/^== What to type next/,$s/^    //p' "$root/root/demo" >"$root/root/next"
    [ "$(wc -l <"$root/root/next")" -eq 4 ] || stop 'the demo should end with four commands'
    while read -r command; do
      echo "== $command"
      case $command in
        # The page is served until it is interrupted; a training takes what it takes.
        *' explore '*) inside bash -c "cd /root/attend && timeout --preserve-status --signal=INT 20 $command" ;;
        *' train '*) inside bash -c "cd /root/attend && $command --training.steps 20" ;;
        *) inside bash -c "cd /root/attend && $command" ;;
      esac
    done <"$root/root/next"
    inside attend --version
    inside bash -c 'cd /root/attend && ./dev example quickstart'
    ;;
  *) stop 'usage: clone.sh demo | test' ;;
esac
