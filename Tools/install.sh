#!/usr/bin/env bash
# Builds `fieldforce` with the Swift runtime inside, so that it runs on machines without Swift, and installs it with
# its manual pages and completions.
#
#   Tools/install.sh                          for this user: ~/.local
#   Tools/install.sh --prefix /usr/local      for all users; calls sudo if the folder is not yours
#   Tools/install.sh --skip-build             installs what was built before
#   Tools/install.sh --uninstall              removes what it installed and what is unchanged since, and names the rest
#
# The program and its files are in PREFIX/lib/fieldforce; PREFIX/bin/fieldforce is a link to it.
# PREFIX/lib/fieldforce/installed.txt lists all files with their hashes.
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
# The list of what an installation made, relative to the prefix: `file HASH PATH`, or `link HASH PATH` with the hash of
# its target.
list="$lib/installed.txt"

hash_of() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64
}

# state_of PATH: the first two words of its line in a list.
state_of() {
  if [ -L "$1" ]; then
    printf 'link %s' "$(readlink "$1" | hash_of)"
  elif [ -f "$1" ]; then
    printf 'file %s' "$(hash_of <"$1")"
  fi
}

exists() { [ -e "$1" ] || [ -L "$1" ]; }

# check_list LIST: ends the script if a line is not one of this script, or names what is outside of the prefix.
check_list() {
  local line path
  while IFS= read -r line || [ -n "$line" ]; do
    path=${line:70}
    if ! [[ "${line:0:70}" =~ ^(file|link)\ [0-9a-f]{64}\ $ ]] || [[ -z "$path" || "$path" = /* ]] ||
      [[ "/$path/" = */../* ]]; then
      echo "error: $1 is not a list of this script: '$line'. Nothing was changed. Remove the files by hand." >&2
      exit 1
    fi
  done <"$1"
}

# lists LIST PATH: whether a list has a path.
lists() { grep -qxF -- "$2" <(cut -c 71- "$1"); }

# is_inside PATH: whether its folder is in the prefix, also where a folder on the way is a link.
is_inside() {
  local folder
  folder=$(cd -P "$(dirname "$1")" 2>/dev/null && pwd -P) || return 1
  [[ "$folder/" = "$(cd -P "$prefix" && pwd -P)"/* ]]
}

# remove_listed LIST [KEPT]: removes what is listed and unchanged, unless its path is also in the list KEPT, and names the rest.
remove_listed() {
  local line path left=0
  while IFS= read -r line || [ -n "$line" ]; do
    path=${line:70}
    if [ -n "${2:-}" ] && lists "$2" "$path"; then continue; fi
    if ! exists "$prefix/$path"; then continue; fi
    if is_inside "$prefix/$path" && [ "$(state_of "$prefix/$path") " = "${line:0:70}" ]; then
      as_owner rm -f "$prefix/$path"
    else
      echo "left: $prefix/$path, which is not as it was installed" >&2
      left=1
    fi
  done <"$1"
  return $left
}

if [ $uninstall = yes ]; then
  if [ -L "$lib" ] || [ -L "$list" ] || [ ! -f "$list" ]; then
    echo "error: there is no list of an installation at $list. Nothing was removed. For one of an earlier version, install" \
      "again, then uninstall." >&2
    exit 1
  fi
  check_list "$list"
  kept=$(mktemp)
  trap 'rm -f "$kept"' EXIT
  # A list that lists itself, or an open one, would end the work half way.
  cp "$list" "$kept"
  remove_listed "$kept" || true
  as_owner rm -f "$list"
  as_owner find "$lib" -depth -type d -exec rmdir {} + 2>/dev/null || true
  if [ -d "$lib" ]; then
    find "$lib" ! -type d | sed 's/^/left: /; s/$/, which was not installed/' >&2
  fi
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

# Next to the old one first, so that an interrupted installation leaves that.
old_list=$(mktemp)
texts=$(mktemp -d)
trap 'rm -rf "$old_list" "$texts"' EXIT
if [ -f "$list" ]; then
  check_list "$list"
  cp "$list" "$old_list"
fi
as_owner rm -rf "$lib.new"
as_owner mkdir -p "$lib.new" "$prefix/bin"
as_owner cp "$bin/fieldforce" "$lib.new/fieldforce"
if command -v strip >/dev/null; then as_owner strip "$lib.new/fieldforce" 2>/dev/null || true; fi
for resources in "$bin"/Fieldforce_*.resources "$bin"/Fieldforce_*.bundle; do
  if [ -e "$resources" ]; then as_owner cp -R "$resources" "$lib.new/"; fi
done
printf '%s\n' "$PWD" | as_owner tee "$lib.new/checkout.txt" >/dev/null
"$lib.new/fieldforce" version >&2

shells=(bash zsh fish)
completions=(
  share/bash-completion/completions/fieldforce share/zsh/site-functions/_fieldforce
  share/fish/vendor_completions.d/fieldforce.fish
)
for index in 0 1 2; do
  mkdir -p "$(dirname "$texts/${completions[$index]}")"
  "$lib.new/fieldforce" completions "${shells[$index]}" >"$texts/${completions[$index]}"
done
mkdir -p "$texts/share/man/man1"
"$lib.new/fieldforce" man --output "$texts/share/man/man1" >&2

new_list=$(
  cd "$lib.new"
  find . ! -type d | sort | while IFS= read -r path; do
    printf '%s lib/fieldforce/%s\n' "$(state_of "$path")" "${path#./}"
  done
  cd "$texts"
  find . ! -type d | sort | while IFS= read -r path; do
    printf '%s %s\n' "$(state_of "$path")" "${path#./}"
  done
  printf 'link %s bin/fieldforce\n' "$(printf '%s\n' "$lib/fieldforce" | hash_of)"
)
# One of an earlier version has no list.
earlier=no
if [ ! -s "$old_list" ] && [ -f "$lib/checkout.txt" ] && [ -x "$lib/fieldforce" ]; then earlier=yes; fi
if [ $earlier = no ]; then
  cut -c 71- <<<"$new_list" | while IFS= read -r path; do
    if exists "$prefix/$path" && ! lists "$old_list" "$path"; then
      as_owner rm -rf "$lib.new"
      echo "error: $prefix/$path exists, and is not of an installation of this script. Move it away." >&2
      exit 1
    fi
  done
fi
printf '%s\n' "$new_list" | as_owner tee "$lib.new/installed.txt" >/dev/null

as_owner rm -rf "$lib.old"
if exists "$lib"; then as_owner mv "$lib" "$lib.old"; fi
as_owner mv "$lib.new" "$lib"
if [ $earlier = no ] && [ -d "$lib.old" ]; then
  # What others put there stays there.
  (cd "$lib.old" && find . ! -type d ! -path ./installed.txt) | while IFS= read -r path; do
    path=${path#./}
    if lists "$old_list" "lib/fieldforce/$path"; then continue; fi
    as_owner mkdir -p "$(dirname "$lib/$path")"
    as_owner mv "$lib.old/$path" "$lib/$path"
  done
fi
as_owner rm -rf "$lib.old"
as_owner ln -sfn "$lib/fieldforce" "$prefix/bin/fieldforce"
(cd "$texts" && find . ! -type d) | while IFS= read -r path; do
  as_owner mkdir -p "$(dirname "$prefix/$path")"
  # A copy onto a link would change what it leads to.
  as_owner rm -f "$prefix/$path"
  as_owner cp "$texts/$path" "$prefix/$path"
done
printf '%s\n' "$new_list" >"$texts/new-list"
# A command that the program no longer has.
remove_listed "$old_list" "$texts/new-list" || true

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
