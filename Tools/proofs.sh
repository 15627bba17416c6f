#!/usr/bin/env bash
# Runs the proofs: random histories, kills, lost power, failing disks, malformed input (Tests/Proofs).
#
#   Tools/proofs.sh                        the form of continuous integration: minutes
#   Tools/proofs.sh --nightly              40 times as much of each, in a release build: hours
#   Tools/proofs.sh [--nightly] NAME...    the proofs whose name matches: KillProof ConvergenceTests
#
# A failure names its seed: FIELDFORCE_SEED=797 Tools/proofs.sh ConvergenceTests repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tools/Scripts/prerequisites.sh

options=()
if [[ "${1:-}" == --nightly ]]; then
  shift
  export FIELDFORCE_EFFORT="${FIELDFORCE_EFFORT:-40}"
  options=(-c release -Xswiftc -enable-testing --scratch-path .build-nightly)
fi
filters=()
for name in "${@:-}"; do
  filters+=(--filter "^(File)?Proofs\..*$name")
done

# Proofs hold threads while they wait for processes and files: a few at a time keep the others going.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
exec swift test "${options[@]}" "${filters[@]}"
