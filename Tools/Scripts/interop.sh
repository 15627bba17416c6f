#!/usr/bin/env bash
# Runs third-party clients, unmodified, against a mock org on a free port.
set -euo pipefail
cd "$(dirname "$0")/../.."
source Tools/Scripts/python.sh

python=$(python_env interop)
bin=${FIELDFORCE_BIN:-$(swift build --show-bin-path)}

work=$(mktemp -d)
mkfifo "$work/pipe"
"$bin/fieldforce" org serve --port 0 --source Tests/Interop/project >"$work/pipe" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
head -n 1 "$work/pipe" >"$work/connection"

for client in simple_salesforce_logins simple_salesforce_round_trip simple_salesforce_resources \
  aiosalesforce_round_trip; do
  "$python" "Tests/Interop/$client.py" <"$work/connection"
done
