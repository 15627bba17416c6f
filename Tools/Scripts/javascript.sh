#!/usr/bin/env bash
# Runs the tests of the JavaScript that the package serves, with Node's own test runner: what pages of hybrid apps load
# (Plugins/Servers/HybridServer/JavaScript), and the inspector's page (Plugins/Servers/Inspector).
#
#   Tools/Scripts/javascript.sh                all tests
#   Tools/Scripts/javascript.sh force react    the test files whose names begin so, such as force.test.mjs
#   Tools/Scripts/javascript.sh --test TEXT    the tests whose name matches the regular expression
#   Tools/Scripts/javascript.sh --bridge       with the bridge and the inspector of .build/debug/fieldforce, in place of
#                                              the servers of the tests; also before the other arguments
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" = --bridge ]; then
  export FIELDFORCE_TOOL=${FIELDFORCE_TOOL:-$PWD/.build/debug/fieldforce}
  shift
fi
options=()
if [ "${1:-}" = --test ]; then
  options=(--test-name-pattern "${2:?a regular expression is missing}")
  shift 2
fi
names=("$@")
# A sourced script without arguments of its own would see these.
set --
# Node from elsewhere is as good as Debian's.
packages=()
command -v node >/dev/null || packages+=(nodejs)
# Elsewhere the tests that need a browser are skipped without one.
if [ -n "${CI:-}" ] && [ -z "${CHROMIUM:-}" ] && ! command -v chromium >/dev/null; then packages+=(chromium); fi
source Tools/Scripts/prerequisites.sh "${packages[@]}"

version=$(node --version)
major=${version#v}
if [ "${major%%.*}" -lt 18 ]; then
  echo "error: the tests need Node 18 or later, and this is $version. Install a newer one." >&2
  exit 1
fi

shopt -s nullglob
files=()
for name in "${names[@]:-}"; do
  found=({Plugins/Servers/HybridServer/JavaScript,Plugins/Servers/Inspector}/tests/"$name"*.test.mjs)
  if [ ${#found[@]} -eq 0 ]; then
    echo "error: the name of no test file begins with '$name'." >&2
    exit 1
  fi
  files+=("${found[@]}")
done
# Files that drive a browser would slow each other down until they run out of time.
exec node --test --test-concurrency=2 "${options[@]}" "${files[@]}"
