#!/usr/bin/env bash
# Builds everything and runs every test, as continuous integration does.
#
#   Tools/test.sh                       everything
#   Tools/test.sh --without-proofs      everything but the proofs, which take most of the time
#   Tools/test.sh --filter SmartStore   the tests whose name matches, and nothing else
#   Tools/test.sh --sanitize thread     the tests but the proofs under the thread sanitizer, and nothing else
set -euo pipefail
cd "$(dirname "$0")/.."
# Tests run a real keyring on a session bus of their own, and a database server of their own.
source Tools/Scripts/prerequisites.sh python3-venv zsh fish groff-base gnome-keyring dbus postgresql

# Hundreds of tests at once would let each wait for the others until its requests time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8

proofs=yes
if [ "${1:-}" = --without-proofs ]; then
  proofs=no
  shift
fi

step() { printf '\n== %s\n' "$*" >&2; }

if [ $# -gt 0 ]; then
  # A sanitized build has other objects: a folder of its own keeps the usual one warm.
  scratch=.build
  if [[ " $* " == *" --sanitize"* ]]; then
    scratch=.build-sanitize
    export TSAN_OPTIONS="suppressions=$PWD/Tools/Scripts/thread-sanitizer.supp"
    set -- --skip '^(File)?Proofs\.' "$@"
  fi
  exec swift test --scratch-path "$scratch" "$@"
fi

step "format"
swift format lint --strict --parallel --recursive \
  Package.swift Modules Plugins Testing Tools Tests Window Docs/Examples

step "samples of the guides"
Tools/Scripts/samples.py --check

step "sources of the libraries"
Tools/Scripts/sources.py --check

step "tables of requirements"
Tools/Scripts/conformance.py --check

step "links, words and error codes of the pages"
Tools/Scripts/links.py --check
Tools/Scripts/wording.py --check
Tools/Scripts/troubleshooting.py --check
Tools/Scripts/site.py --check

step "build"
swift build --build-tests

step "what the libraries compile on Apple systems only"
Tools/Scripts/apple-check.py

step "documentation site"
Tools/docs.sh --skip-build

# A machine without Chromium says that this was not tried.
step "a login in a real browser"
Tools/Scripts/browser-login.py --if-there

step "packages of their own, as an outsider builds them"
Tools/Scripts/examples.sh

step "third-party clients"
Tools/Scripts/interop.sh

step "tests"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A test prints what its code logs: the failures are listed once more where they are looked for, at the end.
swift test --skip-build --skip '^(File)?Proofs\.' 2>&1 | tee "$log" || {
  printf '\n== failures\n' >&2
  grep -a '^✘' "$log" | cut -c1-600 >&2 || true
  tail -n 1 "$log" >&2
  exit 1
}

step "JavaScript, on the bridge of its tests and on that of fieldforce"
Tools/Scripts/javascript.sh
for name in bridge contract cordova-plugins real browser client force mobilesync plugins react smartstore sample-mobilesync \
  sample-note sample-rest sample-warehouse; do
  Tools/Scripts/javascript.sh --bridge "$name"
done

# Continuous integration installs WebKitGTK, which takes about a minute; a machine without it says that this was not tried.
step "the window for apps written in JavaScript"
if [ -n "${CI:-}" ]; then Tools/Scripts/window.sh; else Tools/Scripts/window.sh --if-there; fi

if [ $proofs = yes ]; then
  step "proofs"
  Tools/proofs.sh
fi
