#!/usr/bin/env bash
# Runs the parsers of bytes from outside under libFuzzer, guided by coverage (Tools/Fuzzing).
#
#   Tools/fuzz.sh                     every parser for 600 seconds: the nightly form, hours
#   Tools/fuzz.sh json                one parser for 600 seconds
#   Tools/fuzz.sh json 60             one parser for 60 seconds
#   Tools/fuzz.sh all 60              every parser for 60 seconds
#   Tools/fuzz.sh --list              the names of the parsers
#   Tools/fuzz.sh --keep json FILE    adds an input to the corpus that the tests replay
#
# Ends with a table: parser, inputs, edges of the code that they reach, result. An input that ends the process, that takes
# more than 10 seconds or 2 GiB, or that breaks a property is kept in .build-fuzzing/findings/NAME and named, with status 1. What a run
# learns stays in .build-fuzzing/corpus, where the next one begins.
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=Tools/Fuzzing/Corpus
work=$PWD/.build-fuzzing
fuzzer=$work/debug/fuzz

if [ "${1:-}" = --list ]; then
  exec ls "$corpus"
fi
if [ "${1:-}" = --keep ]; then
  name=${2:?name a parser} file=${3:?name a file}
  cp "$file" "$corpus/$name/$(sha256sum "$file" | cut -c 1-16)"
  exit
fi

name=${1:-all}
seconds=${2:-600}
if [ "$name" = all ]; then
  mapfile -t names < <(ls "$corpus")
elif [ -d "$corpus/$name" ]; then
  names=("$name")
else
  echo "error: '$name' is no parser. Tools/fuzz.sh --list names them." >&2
  exit 2
fi

source Tools/Scripts/prerequisites.sh
swift build --package-path Tools/Fuzzing --scratch-path "$work" --sanitize fuzzer --product fuzz

# The fuzzer reports a crash itself, and an input that hangs would wait for a backtrace.
export SWIFT_BACKTRACE=enable=no
status=0
table=
for name in "${names[@]}"; do
  mkdir -p "$work/corpus/$name" "$work/findings/$name" "$work/logs"
  log=$work/logs/$name.txt
  result=passed
  FIELDFORCE_PARSER=$name "$fuzzer" "$work/corpus/$name" "$corpus/$name" -max_total_time="$seconds" \
    -artifact_prefix="$work/findings/$name/" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    >"$log" 2>&1 || { result=FAILED status=1; }
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -c 6- || true)
  table+=$(printf '%-16s %12s %8s  %s' "$name" "${inputs:-?}" "${edges:-?}" "$result")$'\n'
  if [ $result = FAILED ]; then
    grep -hE 'Fatal error|ERROR: libFuzzer|Test unit written' "$log" >&2 || tail -n 5 "$log" >&2
  fi
done
printf '%-16s %12s %8s  %s\n%s' parser inputs edges result "$table"
exit $status
