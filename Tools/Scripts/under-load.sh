#!/usr/bin/env bash
# Runs the tests without proofs several times beside four busy processes, and prints a table of the runs.
#
#   Tools/Scripts/under-load.sh [RUNS]             ten runs of the debug build
#   Tools/Scripts/under-load.sh --release [RUNS]   of a build with optimisation
#   Tools/Scripts/under-load.sh --quiet [RUNS]     without the busy processes
#
# A test that fails here and not alone depends on speed. Ends with 1 if a run failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
source Tools/Scripts/prerequisites.sh stress-ng gdb

options=()
is_loaded=yes
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --release) options=(-c release -Xswiftc -enable-testing --scratch-path .build-nightly) ;;
    --quiet) is_loaded=no ;;
    *)
      echo "error: Unknown argument '$1'. Use --release or --quiet." >&2
      exit 2
      ;;
  esac
  shift
done
runs=${1:-10}

swift build --build-tests "${options[@]}" >&2
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
logs=$(mktemp -d)
load=
if [ $is_loaded = yes ]; then
  stress-ng --cpu 4 --quiet &
  load=$!
fi
trap '[ -z "$load" ] || kill "$load" 2>/dev/null || true' EXIT

failed=0
for run in $(seq "$runs"); do
  began=$SECONDS
  code=0
  Tools/Scripts/watched.py --failures "$logs/$run.failures" -- \
    swift test "${options[@]}" --skip-build --skip '^(File)?Proofs\.' >"$logs/$run.log" 2>&1 || code=$?
  printf '%3d  %4d s  %s\n' "$run" $((SECONDS - began)) "$([ $code = 0 ] && echo passed || echo "failed ($code)")"
  if [ $code != 0 ]; then
    failed=1
    head -n 12 "$logs/$run.failures" 2>/dev/null || true
  fi
done
echo "logs: $logs"
exit $failed
