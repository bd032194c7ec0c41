#!/usr/bin/env bash
# usage: package.sh DIRECTORY    as root; DIRECTORY has the packages that `./dev package` wrote.
# Installs the packages in a fresh Debian 12, trains and translates with the command, builds C++ programs
# against the libraries, removes both packages, and checks that nothing of them is left.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/debian.sh"
packages=$(realpath "$1")
ls "$packages"/attend_*.deb "$packages"/libattend-dev_*.deb >/dev/null || stop 'run ./dev package first'

expect() { [ "$2" = "$3" ] || stop "$1 gave '$2' instead of '$3'"; }
# All files but those that apt and dpkg keep for themselves.
files() {
  inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root -o -path /var/cache \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /run \) -prune -o -print | sort
}

fresh_debian "$(dirname "$packages")/debian-12"
mkdir "$root/root/proof"
cp "$packages"/*.deb "$root/root/proof"
cp -r "$here" "$root/root/proof/programs"
mkdir "$root/root/proof/dates"
cp "$here"/../../recipes/dates/{get-data,bahdanau.yaml} "$root/root/proof/dates"
cp "$here/../../recipes/get-data.sh" "$root/root/proof"
files >"$root/root/files-before"

echo '== Installing attend, training a model, translating'
apt install "/root/proof/$(basename "$packages"/attend_*.deb)"
inside attend --version
for file in man/man1/attend.1.gz bash-completion/completions/attend zsh/vendor-completions/_attend \
  fish/vendor_completions.d/attend.fish doc/attend/copyright doc/attend/changelog.gz; do
  [ -s "$root/usr/share/$file" ] || stop "/usr/share/$file is missing"
done
quietly bash -c 'cd /root/proof/dates && ./get-data && attend train bahdanau.yaml'
date=$(inside attend translate /root/proof/dates/models/bahdanau 'the 3rd of May 2026')
expect 'attend translate' "$date" 2026-05-03

echo '== Installing libattend-dev, building programs'
apt install g++ cmake make pkg-config "/root/proof/$(basename "$packages"/libattend-dev_*.deb)"
library=$(inside dpkg -L libattend-dev | grep '/libattend-core\.a$')
if [ "$(uname -m)" = x86_64 ]; then
  inside nm --demangle "$library" >"$root/root/symbols" 2>/dev/null
  for target in SSE4 AVX2 AVX3; do
    grep --quiet "kernels::N_$target::" "$root/root/symbols" || stop "$library has no kernels for $target"
  done
fi
quietly cmake -S /root/proof/programs -B /root/proof/build
quietly cmake --build /root/proof/build
for component in core attend serve; do
  printed=$(printf '%b' "$(sed -n "s/^set(${component}_output \"\(.*\)\")$/\1/p" "$here/steps.cmake")")
  expect "uses_$component" "$(inside "/root/proof/build/uses_$component")" "$printed"
  module=attend-$component
  [ $component != attend ] || module=attend
  quietly sh -c "g++ -std=c++20 /root/proof/programs/$component.cpp \$(pkg-config --cflags --libs $module) -o /root/proof/program"
  expect "$component.cpp by pkg-config" "$(inside /root/proof/program)" "$printed"
done

echo '== Removing both'
apt purge attend libattend-dev
apt purge --autoremove g++ cmake make pkg-config
files >"$root/root/files-after"
left=$(comm -13 "$root/root/files-before" "$root/root/files-after")
[ -z "$left" ] || stop 'left behind:' "$left"
left=$(inside dpkg-query -W -f '${Package} ${Status}\n' attend libattend-dev 2>/dev/null | grep -v 'not-installed' || true)
[ -z "$left" ] || stop "dpkg still lists $left"
echo '== Nothing is left of them'
