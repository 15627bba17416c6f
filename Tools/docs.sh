#!/usr/bin/env bash
# Builds the documentation site of all libraries in .build-docs/site. A warning or a link that leads nowhere fails.
#
#   Tools/docs.sh                         builds the package, then the site
#   Tools/docs.sh --serve [--port 8080]   serves the site as well, on this machine alone; port 0, the default, takes a free one
#   Tools/docs.sh --skip-build            takes what an earlier `swift build` left; comments that changed since are garbled
set -euo pipefail
cd "$(dirname "$0")/.."

serve=no
build=yes
port=0
while [ $# -gt 0 ]; do
  case "$1" in
    --serve) serve=yes ;;
    --skip-build) build=no ;;
    --port)
      [ $# -gt 1 ] || { echo "error: --port needs a number." >&2; exit 2; }
      port=$2
      shift
      ;;
    *)
      echo "error: Unknown argument '$1'. Use --serve, --port NUMBER or --skip-build." >&2
      exit 2
      ;;
  esac
  shift
done

if [ $build = yes ]; then
  source Tools/Scripts/prerequisites.sh python3
  swift build
fi
Tools/Scripts/site.py
if [ $serve = yes ]; then
  exec python3 -u -m http.server --bind 127.0.0.1 --directory .build-docs/site "$port"
fi
