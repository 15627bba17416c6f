#!/usr/bin/env bash
# Builds the command line tool and tells the whole story in one run, against an embedded mock org.
#
#   Tools/demo.sh                            the sample org that the package ships
#   Tools/demo.sh --data path/to/plan.json   your own sObject tree files; may be repeated
set -euo pipefail
cd "$(dirname "$0")/.."
source Tools/Scripts/prerequisites.sh

echo "building (the first time takes some minutes)" >&2
swift build -c release --product fieldforce >&2
exec "$(swift build -c release --show-bin-path)/fieldforce" demo "$@"
