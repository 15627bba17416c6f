#!/usr/bin/env bash
# Prints one table of speeds beside their peers, measured in one run.
#
#   Tools/bench.sh                    every row (about 15 minutes, building included)
#   Tools/bench.sh json store         some of: core json store smartstore sync memory mock-org hybrid
#   ROUNDS=9 Tools/bench.sh json      more turns for each contender
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(python3-venv wrk)
# The rows of smartstore stand beside SQLCipher's; an unpacked copy of it may be named instead.
if [[ $# -eq 0 || " $* " == *" smartstore "* ]] && [ -z "${SQLCIPHER_ROOT:-}" ]; then
  packages+=(libsqlcipher-dev)
fi
if [[ $# -eq 0 || " $* " == *" hybrid "* ]]; then
  command -v node >/dev/null || packages+=(nodejs)
  command -v chromium >/dev/null || packages+=(chromium)
fi
source Tools/Scripts/prerequisites.sh "${packages[@]}"
source Tools/Scripts/python.sh

python=$(python_env bench)
package=(--package-path Tools/Benchmarks --scratch-path .build-benchmarks -c release)
swift build "${package[@]}" >&2
exec "$python" Tools/Benchmarks/peers/table.py \
  "$(swift build "${package[@]}" --show-bin-path)/bench" "$python" "$@"
