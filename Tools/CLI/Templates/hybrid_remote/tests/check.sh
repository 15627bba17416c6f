#!/bin/sh
# Tests the JavaScript if Node is installed.
set -eu
cd "$(dirname "$0")/.."
test -s www/bootconfig.json
if command -v node >/dev/null; then
  node --test tests/*.test.mjs
else
  echo "note: the JavaScript was not tested, since there is no node"
fi
