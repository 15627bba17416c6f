#!/usr/bin/env bash
# Runs the tests of the JavaScript that the bridge serves (Plugins/HybridServer/JavaScript), with Node's own test runner.
#
#   Tools/Scripts/javascript.sh             all tests
#   Tools/Scripts/javascript.sh force       the test files whose name begins so
set -euo pipefail
cd "$(dirname "$0")/../.."

filter=${1:-}
# A sourced script without arguments of its own would see these.
set --
# Node from elsewhere is as good as Debian's.
packages=()
command -v node >/dev/null || packages+=(nodejs)
source Tools/Scripts/prerequisites.sh "${packages[@]}"

version=$(node --version)
major=${version#v}
if [ "${major%%.*}" -lt 18 ]; then
  echo "error: the tests need Node 18 or later, and this is $version. Install a newer one." >&2
  exit 1
fi

cd Plugins/HybridServer/JavaScript
exec node --test tests/"$filter"*.test.mjs
