#!/usr/bin/env bash
# Builds fieldforce-window (Window/) and tests it on a display of its own, with .build/debug/fieldforce and a mock org.
#
#   Tools/Scripts/window.sh               installs what is missing: WebKitGTK and Xvfb
#   Tools/Scripts/window.sh --if-there    does nothing where these are missing
#
# WINDOW_SCREENSHOTS=folder keeps pictures of the windows.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" = --if-there ]; then
  { pkg-config --exists webkit2gtk-4.1 && command -v xvfb-run && command -v node; } >/dev/null 2>&1 || {
    echo "WebKitGTK, Xvfb or Node is missing: the window was not tried." >&2
    exit 0
  }
fi
set --
packages=(libwebkit2gtk-4.1-dev xvfb)
command -v node >/dev/null || packages+=(nodejs)
source Tools/Scripts/prerequisites.sh "${packages[@]}"

build=(--package-path Window --scratch-path .build-window)
swift build "${build[@]}" >&2
export FIELDFORCE_TOOL=${FIELDFORCE_TOOL:-$PWD/.build/debug/fieldforce}
FIELDFORCE_WINDOW=$(swift build "${build[@]}" --show-bin-path)/fieldforce-window
export FIELDFORCE_WINDOW
exec xvfb-run -a -s "-screen 0 1280x800x24" node --test --test-concurrency=1 Window/tests/window.test.mjs
