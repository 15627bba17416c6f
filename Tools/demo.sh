#!/usr/bin/env bash
# Builds the command line tool and tells the whole story in one run, against an embedded mock org.
#
#   Tools/demo.sh                            the sample org that the package ships
#   Tools/demo.sh --data path/to/plan.json   your own sObject tree files; may be repeated
#   Tools/demo.sh --release ...              an optimised build, which takes twice as long; for figures of speed
set -euo pipefail
cd "$(dirname "$0")/.."
source Tools/Scripts/prerequisites.sh

# The debug build is the one that Tools/test.sh goes on with.
configuration=debug
if [ "${1:-}" = --release ]; then
  configuration=release
  shift
fi
echo "building (the first time takes some minutes)" >&2
swift build -c "$configuration" --product fieldforce >&2
exec "$(swift build -c "$configuration" --show-bin-path)/fieldforce" demo "$@"
