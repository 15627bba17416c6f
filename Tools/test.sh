#!/usr/bin/env bash
# Builds everything and runs every test, as continuous integration does.
#
#   Tools/test.sh                       everything. Steps that rebuild or install, such as the documentation site, are
#                                       left out if their sources are those of their last success in this clone
#   Tools/test.sh --without-proofs      everything but the proofs
#   Tools/test.sh --nightly             every step, the examples in build folders of their own, the long form of the
#                                       proofs, and the fuzzer: hours
#   Tools/test.sh --filter SmartStore   the tests whose name matches, and nothing else
#   Tools/test.sh --sanitize thread     the tests but the proofs under the thread sanitizer, and nothing else
#
# Ends with a table of the steps and their seconds, also in .build/steps.txt. The last line of a failure names its step.
set -euo pipefail
cd "$(dirname "$0")/.."
# Tests run a real keyring on a session bus of their own, and a database server of their own. gdb prints the stacks of a
# run without progress.
source Tools/Scripts/prerequisites.sh python3-venv zsh fish groff-base gnome-keyring dbus postgresql gdb

# Hundreds of tests at once would let each wait for the others until its requests time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8

proofs=yes
nightly=no
case "${1:-}" in
  --without-proofs)
    proofs=no
    shift
    ;;
  --nightly)
    nightly=yes
    shift
    ;;
esac

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

# MARK: Steps and their table

table=
current=
failures=.build/failures.txt
rm -f "$failures"

# watched REPEAT COMMAND...: runs tests, ends them if they hang, and notes what failed.
watched() {
  mkdir -p .build
  Tools/Scripts/watched.py --failures "$failures" --repeat "$1" "${@:2}"
}

# Ends the step before, and begins one.
step() {
  end_step passed
  current=$1
  began=$SECONDS
  printf '\n== %s\n' "$current" >&2
}

end_step() {
  [ -z "$current" ] || table+=$(printf '%6d s  %-9s  %s' $((SECONDS - began)) "$1" "$current")$'\n'
  current=
}

# Prints the table, whatever ended the run, and below it what failed. The last line names the step.
finish() {
  local code=$? failed=$current
  end_step "$([ "$code" = 0 ] && echo passed || echo FAILED)"
  mkdir -p .build
  printf '%s%6d s  in all\n' "$table" $SECONDS >.build/steps.txt
  { printf '\n== steps\n' && cat .build/steps.txt; } >&2
  if [ "$code" != 0 ] && [ -s "$failures" ]; then head -n 16 "$failures" >&2; fi
  if [ "$code" = 0 ]; then
    echo "All steps passed." >&2
  else
    echo "FAILED: ${failed:-the preparation} (exit $code)" >&2
  fi
}
trap finish EXIT

# sources PATH...: a hash of the files under these paths as they are now.
sources() {
  git ls-files -coz --exclude-standard -- "$@" | xargs -0 -r sha256sum 2>/dev/null | sha256sum | cut -d ' ' -f 1
}

# step_if_changed NAME "PATHS" COMMAND...: a step that reads nothing but these paths.
step_if_changed() {
  local name=$1 paths=$2 green=".build/green/${1//[^a-z]/-}" now
  shift 2
  # shellcheck disable=SC2086 # several paths
  now=$(sources $paths)
  if [ $nightly = no ] && [ "$(cat "$green" 2>/dev/null)" = "$now" ]; then
    end_step passed
    table+=$(printf '%6d s  %-9s  %s' 0 unchanged "$name")$'\n'
    return
  fi
  step "$name"
  "$@"
  mkdir -p .build/green
  echo "$now" >"$green"
}

# MARK: What there is to read

step "format"
swift format lint --strict --parallel --recursive \
  Package.swift Modules Plugins Testing Tools Tests Window Docs/Examples Samples

step "samples, tables, links, words and error codes of the pages"
for check in samples sources conformance links wording troubleshooting site planted-faults how-tested; do
  Tools/Scripts/$check.py --check
done

# MARK: What there is to build

step "build"
swift build --build-tests

step "what the libraries compile on Apple systems only"
Tools/Scripts/apple-check.py

# MARK: What there is to run

step "tests"
watched "Tools/test.sh --filter" -- swift test --skip-build --skip '^(File)?Proofs\.'

if [ $proofs = yes ]; then
  step "proofs"
  # One proof alone may take minutes.
  if [ $nightly = yes ]; then
    watched "Tools/proofs.sh --nightly" --quiet 3600 -- Tools/proofs.sh --nightly
  else
    watched Tools/proofs.sh --quiet 600 -- Tools/proofs.sh
  fi
fi

step "JavaScript, on the bridge of its tests"
watched "Tools/Scripts/javascript.sh --test" -- Tools/Scripts/javascript.sh

step "JavaScript, on the bridge of fieldforce"
watched "Tools/Scripts/javascript.sh --bridge --test" -- Tools/Scripts/javascript.sh --bridge \
  bridge contract cordova-plugins real browser client force mobilesync plugins react smartstore sample-mobilesync \
  sample-note sample-rest sample-warehouse

# A machine without Chromium says that this was not tried.
step "a login in a real browser"
Tools/Scripts/browser-login.py --if-there

products="Package.swift Modules Plugins Testing Tools/CLI"

step_if_changed "third-party clients" "$products Tests/Interop Tools/Scripts" Tools/Scripts/interop.sh

# Continuous integration installs WebKitGTK, which takes about a minute; a machine without it says that this was not tried.
step_if_changed "the window for apps written in JavaScript" "$products Window Tools/Scripts" \
  Tools/Scripts/window.sh $([ -n "${CI:-}" ] || echo --if-there)

step_if_changed "documentation site" "$products Docs README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md Tools" \
  Tools/docs.sh --skip-build

# The last step: packages of their own leave the build folder as they need it.
step_if_changed "packages of their own" "$products Docs/Examples Samples Tools/Scripts" Tools/Scripts/examples.sh

if [ $nightly = yes ]; then
  step "fuzzing"
  Tools/fuzz.sh

  step "packages of their own, as an outsider builds them"
  Tools/Scripts/examples.sh --apart
fi
