#!/usr/bin/env bash
# Builds the packages under Docs/Examples, the sample AuthFlowTester, and a project from each Swift template of
# `fieldforce create`, as an outsider would, runs their programs and tests, and proves that a program that depends on SmartStore alone builds
# neither the mock org nor an HTTP server. Arguments name examples and templates; none means all.
set -euo pipefail
cd "$(dirname "$0")/../.."

for example in Docs/Examples/*/ Samples/AuthFlowTester/; do
  name=$(basename "$example")
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  scratch="$PWD/.build-examples/$name"
  echo "-- $name" >&2
  tests=()
  if [ -d "$example/Tests" ]; then tests=(--build-tests); fi
  swift build --package-path "$example" --scratch-path "$scratch" "${tests[@]}" >&2
  bin=$(swift build --package-path "$example" --scratch-path "$scratch" --show-bin-path)
  if [ "$name" = SmartStoreOnly ]; then
    for forbidden in SalesforceMockOrg Hummingbird NIOCore MobileSync; do
      # Folders are made for all packages that are resolved; what was compiled has objects.
      compiled=$(find "$bin/$forbidden.build" -name '*.o' 2>/dev/null || true)
      if [ -n "$compiled" ]; then
        echo "error: $name built $forbidden, which SmartStore must not need" >&2
        exit 1
      fi
    done
  fi
  # A package of a library has no program.
  if [ -x "$bin/$name" ]; then "$bin/$name"; fi
  if [ ${#tests[@]} -gt 0 ]; then
    swift test --package-path "$example" --scratch-path "$scratch" --skip-build >&2
  fi
done

# Generated projects. They share a build folder: the package is compiled once for all of them.
tool=$(swift build --product fieldforce --show-bin-path)/fieldforce
if [ ! -x "$tool" ]; then swift build --product fieldforce >&2; fi
projects="$PWD/.build-examples/generated"
for template in native_swift sync_target server_job; do
  if [ $# -gt 0 ] && [[ " $* " != *" $template "* ]]; then continue; fi
  echo "-- $template" >&2
  # Always the same folder, in which only the sources change: the build folder stays valid.
  rm -rf "$projects/project"
  mkdir -p "$projects"
  "$tool" create --non-interactive --apptype="$template" --appname=Generated --packagename=com.example.generated \
    --organization="Example \"Ltd\" & Söhne" --outputdir="$projects/project" \
    --sdkdependencies="{\"Fieldforce\": \"$PWD\"}" >&2
  swift build --package-path "$projects/project" --scratch-path "$projects/build" --build-tests >&2
  swift test --package-path "$projects/project" --scratch-path "$projects/build" --skip-build >&2
done
