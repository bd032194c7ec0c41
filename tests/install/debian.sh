# Sourced by the scripts beside it: a fresh Debian 12 in $root, which is removed at the end. As root.
# fresh_debian BASE    BASE is where the result of debootstrap is kept for the next time
# inside COMMAND...    runs a command in it; quietly COMMAND... shows its output only if it fails
# apt ARGUMENTS...     apt-get, without questions and recommended packages
stop() {
  printf 'FAILED: %s\n' "$@" >&2
  exit 1
}

fresh_debian() {
  local base=$1
  [ "$(id -u)" -eq 0 ] || stop 'only root can set up a Debian in a folder'
  command -v debootstrap >/dev/null || stop 'debootstrap is missing: apt-get install debootstrap'
  if [ ! -e "$base.done" ]; then
    echo '== Making a fresh Debian 12'
    rm -rf "$base"
    mkdir -p "$(dirname "$base")"
    debootstrap --variant=minbase bookworm "$base" >"$base.log" || stop "$(tail -n 5 "$base.log")"
    touch "$base.done"
  fi
  root=$(mktemp --directory "${TMPDIR:-/var/tmp}/attend-debian.XXXXXX")
  trap remove_debian EXIT
  cp --archive "$base/." "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sys "$root/sys"
  mount --bind /dev "$root/dev"
  mount --bind /dev/pts "$root/dev/pts"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  if [ -e /etc/apt/sources.list.d/debian.sources ]; then
    rm -f "$root/etc/apt/sources.list"
    cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
  elif [ -e /etc/apt/sources.list ]; then
    cp /etc/apt/sources.list "$root/etc/apt/"
  fi
  apt update
}

remove_debian() {
  local place
  for place in dev/pts dev sys proc; do
    if mountpoint --quiet "$root/$place"; then umount "$root/$place"; fi
  done
  rm -rf --one-file-system "$root"
}

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
quietly() { inside "$@" >"$root/root/log" 2>&1 || stop "$*" "$(tail -n 20 "$root/root/log")"; }
apt() { quietly apt-get -y -q --no-install-recommends "$@"; }
