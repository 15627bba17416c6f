#!/bin/sh
# Checks the files of soups and syncs, and tests the JavaScript if Node is installed.
set -eu
cd "$(dirname "$0")/.."
fieldforce checkconfig --configpath=www/userstore.json --configtype=store
fieldforce checkconfig --configpath=www/usersyncs.json --configtype=syncs
if command -v node >/dev/null; then
  node --test tests/*.test.mjs
else
  echo "note: the JavaScript was not tested, since there is no node"
fi
