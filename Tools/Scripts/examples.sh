#!/usr/bin/env bash
# Builds the packages under Docs/Examples, the sample AuthFlowTester, and a project from each Swift template of
# `fieldforce create`, runs their programs and tests. Arguments name examples and templates; none means all.
#
#   Tools/Scripts/examples.sh            in the build folder of this package, whose modules they use as they are
#   Tools/Scripts/examples.sh --apart    in folders of their own, as an outsider builds them
#
# Proves that a program that depends on SmartStore alone needs neither the mock org nor an HTTP server: by the
# dependencies of its targets, and with --apart also by what was compiled.
set -euo pipefail
cd "$(dirname "$0")/../.."

apart=no
if [ "${1:-}" = --apart ]; then
  apart=yes
  shift
fi
names=("$@")
root=$PWD

chosen() { [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]; }

# build NAME FOLDER: builds a package and its tests, and runs these. Prints the folder of its programs.
build() {
  local scratch=$root/.build
  if [ $apart = yes ]; then scratch=$root/.build-examples/$1; fi
  local options=(--package-path "$2" --scratch-path "$scratch") tests=()
  if [ -d "$2/Tests" ]; then tests=(--build-tests); fi
  swift build "${options[@]}" "${tests[@]}" >&2
  if [ ${#tests[@]} -gt 0 ]; then swift test "${options[@]}" --skip-build >&2; fi
  swift build "${options[@]}" --show-bin-path
}

# The tool is built before a package uses the build folder.
tool=$(swift build --show-bin-path)/fieldforce
if [ ! -x "$tool" ]; then swift build --product fieldforce >&2; fi

for example in Docs/Examples/*/ Samples/AuthFlowTester/; do
  name=$(basename "$example")
  chosen "$name" || continue
  echo "-- $name" >&2
  if [ "$name" = SmartStoreOnly ]; then
    Tools/Scripts/closure.py SmartStore --without SalesforceMockOrg MobileSync LocalServer hummingbird swift-nio >&2
  fi
  bin=$(build "$name" "$example")
  if [ "$name" = SmartStoreOnly ] && [ $apart = yes ]; then
    for forbidden in SalesforceMockOrg Hummingbird NIOCore MobileSync; do
      # Folders are made for all packages that are resolved; what was compiled has objects.
      if [ -n "$(find "$bin/$forbidden.build" -name '*.o' 2>/dev/null)" ]; then
        echo "error: $name built $forbidden, which SmartStore must not need" >&2
        exit 1
      fi
    done
  fi
  # A package of a library has no program.
  if [ -x "$bin/$name" ]; then "$bin/$name"; fi
done

projects="$root/.build-examples/generated"
for template in native_swift sync_target server_job; do
  chosen "$template" || continue
  echo "-- $template" >&2
  # Always the same folder, in which only the sources change: the build folder stays valid.
  rm -rf "$projects"
  mkdir -p "$projects"
  "$tool" create --non-interactive --apptype="$template" --appname=Generated --packagename=com.example.generated \
    --organization="Example \"Ltd\" & Söhne" --outputdir="$projects/project" \
    --sdkdependencies="{\"Fieldforce\": \"$root\"}" >&2
  build generated-project "$projects/project" >/dev/null
done
