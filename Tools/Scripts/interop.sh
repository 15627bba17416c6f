#!/usr/bin/env bash
# Runs clients that nobody here wrote, unmodified, against a mock org on a free port.
set -euo pipefail
cd "$(dirname "$0")/../.."
source Tools/Scripts/python.sh

python=$(python_env interop "simple-salesforce==1.12.9" | tail -n 1)
bin=${FIELDFORCE_BIN:-$(swift build --show-bin-path)}

work=$(mktemp -d)
mkfifo "$work/connection"
"$bin/fieldforce" org serve --port 0 >"$work/connection" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

"$python" Tests/Interop/simple_salesforce_round_trip.py <"$work/connection"
