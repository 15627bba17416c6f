#!/usr/bin/env bash
# Builds `fieldforce` with the Swift runtime inside, so that it runs on machines without Swift, and installs it with
# its manual pages and completions.
#
#   Tools/install.sh                          for this user: ~/.local
#   Tools/install.sh --prefix /usr/local      for all users; calls sudo if the folder is not yours
#   Tools/install.sh --skip-build             installs what was built before
#   Tools/install.sh --uninstall              removes what it installed
#
# The program and its files are in PREFIX/lib/fieldforce; PREFIX/bin/fieldforce is a link to it.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix="$HOME/.local"
build=yes
uninstall=no
while [ $# -gt 0 ]; do
  case "$1" in
    --prefix)
      [ $# -ge 2 ] || { echo "error: --prefix needs a folder" >&2; exit 2; }
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --skip-build) build=no ;;
    --uninstall) uninstall=yes ;;
    *)
      echo "error: unknown option $1. The first lines of $0 list the options." >&2
      exit 2
      ;;
  esac
  shift
done
case "$prefix" in
  /*) ;;
  *) prefix="$PWD/$prefix" ;;
esac

# as_owner COMMAND...: as the user who may write the prefix. Asks before it calls sudo, unless CI is set.
root=()
writable=$prefix
while [ ! -e "$writable" ]; do writable=$(dirname "$writable"); done
if [ ! -w "$writable" ]; then
  command -v sudo >/dev/null || {
    echo "error: $writable belongs to another user. Run as that user, or give --prefix \"\$HOME/.local\"." >&2
    exit 1
  }
  if [ -z "${CI:-}" ]; then
    [ -t 0 ] || {
      echo "error: $writable belongs to another user, and there is no terminal to ask for sudo." \
        "Give --prefix \"\$HOME/.local\", or set CI=true." >&2
      exit 1
    }
    read -r -p "Install to $prefix with sudo? [y/N] " reply
    case "$reply" in
      [yY] | [yY][eE][sS]) ;;
      *) echo "error: not installed" >&2; exit 1 ;;
    esac
  fi
  root=(sudo)
fi
as_owner() { "${root[@]}" "$@"; }

lib="$prefix/lib/fieldforce"
completions=(
  "$prefix/share/bash-completion/completions/fieldforce"
  "$prefix/share/zsh/site-functions/_fieldforce"
  "$prefix/share/fish/vendor_completions.d/fieldforce.fish"
)

remove() {
  # Only what this script made.
  as_owner rm -rf "$lib" "$lib.new"
  if [ -L "$prefix/bin/fieldforce" ]; then as_owner rm -f "$prefix/bin/fieldforce"; fi
  as_owner rm -f "${completions[@]}"
  as_owner find "$prefix/share/man/man1" -maxdepth 1 -name 'fieldforce*.1' -delete 2>/dev/null || true
}

if [ $uninstall = yes ]; then
  remove
  echo "removed fieldforce from $prefix"
  exit 0
fi

flags=(-c release --product fieldforce)
if [ "$(uname -s)" = Linux ]; then flags+=(--static-swift-stdlib); fi
scratch=${FIELDFORCE_SCRATCH:-.build-install}
if [ $build = yes ]; then
  source Tools/Scripts/prerequisites.sh
  echo "building (some minutes)" >&2
  swift build --scratch-path "$scratch" "${flags[@]}" >&2
fi
bin=$(swift build --scratch-path "$scratch" "${flags[@]}" --show-bin-path)
[ -x "$bin/fieldforce" ] || {
  echo "error: $bin/fieldforce does not exist. Run without --skip-build." >&2
  exit 1
}

# Beside the old one first, so that an interrupted installation leaves that.
as_owner rm -rf "$lib.new"
as_owner mkdir -p "$lib.new" "$prefix/bin"
as_owner cp "$bin/fieldforce" "$lib.new/fieldforce"
if command -v strip >/dev/null; then as_owner strip "$lib.new/fieldforce" 2>/dev/null || true; fi
for resources in "$bin"/Fieldforce_*.resources "$bin"/Fieldforce_*.bundle; do
  if [ -e "$resources" ]; then as_owner cp -R "$resources" "$lib.new/"; fi
done
printf '%s\n' "$PWD" | as_owner tee "$lib.new/checkout.txt" >/dev/null
"$lib.new/fieldforce" version >&2
remove_old=$lib.old
as_owner rm -rf "$remove_old"
if [ -e "$lib" ]; then as_owner mv "$lib" "$remove_old"; fi
as_owner mv "$lib.new" "$lib"
as_owner rm -rf "$remove_old"
as_owner ln -sfn "$lib/fieldforce" "$prefix/bin/fieldforce"

shells=(bash zsh fish)
for index in 0 1 2; do
  as_owner mkdir -p "$(dirname "${completions[$index]}")"
  "$lib/fieldforce" completions "${shells[$index]}" | as_owner tee "${completions[$index]}" >/dev/null
done
as_owner "$lib/fieldforce" man --output "$prefix/share/man/man1" >&2

echo "installed $prefix/bin/fieldforce"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "note: $prefix/bin is not on the PATH" ;;
esac
echo "system libraries that it needs, also on other machines:"
if command -v objdump >/dev/null; then
  objdump -p "$lib/fieldforce" | awk '/NEEDED/ {print "  " $2}' | sort
elif command -v ldd >/dev/null; then
  ldd "$lib/fieldforce" | awk '/=>/ {print "  " $1}' | sort
elif command -v otool >/dev/null; then
  otool -L "$lib/fieldforce" | awk 'NR > 1 {print "  " $1}'
fi
