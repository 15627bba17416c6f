#!/usr/bin/env bash
# Prints one table of speeds beside their peers, measured in one run.
#
#   Tools/bench.sh                    every row (about 15 minutes, building included)
#   Tools/bench.sh json store         some of: json store smartstore sync memory mock-org
#   ROUNDS=9 Tools/bench.sh json      more turns for each contender
set -euo pipefail
cd "$(dirname "$0")/.."
source Tools/Scripts/prerequisites.sh python3-venv wrk
source Tools/Scripts/python.sh

python=$(python_env bench "simple-salesforce==1.12.9" orjson | tail -n 1)
package=(--package-path Tools/Benchmarks --scratch-path .build-benchmarks -c release)
swift build "${package[@]}" >&2
exec "$python" Tools/Benchmarks/peers/table.py \
  "$(swift build "${package[@]}" --show-bin-path)/bench" "$python" "$@"
