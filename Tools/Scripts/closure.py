#!/usr/bin/env python3
"""Checks what a target of this package needs, directly and through others.

    Tools/Scripts/closure.py TARGET                          prints the targets and packages
    Tools/Scripts/closure.py TARGET --without NAME...        fails if one of these is among them

For packages the products are not followed: a package that is named here may be fetched and built.
"""

import argparse
import json
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description="Checks what a target of this package needs.")
    parser.add_argument("target")
    parser.add_argument("--without", nargs="+", default=[])
    options = parser.parse_args()
    manifest = json.loads(subprocess.run(
        ["swift", "package", "dump-package"], cwd=root, capture_output=True, text=True, check=True).stdout)
    targets = {target["name"]: target["dependencies"] for target in manifest["targets"]}
    if options.target not in targets:
        sys.exit(f"error: this package has no target {options.target}.")
    needed, pending = set(), [options.target]
    while pending:
        for dependency in targets[pending.pop()]:
            # {"byName": ["GRDB", null]}, {"target": [...]}, {"product": ["GRDB", "GRDB.swift", ...]}
            (kind, parts), = ((kind, parts) for kind, parts in dependency.items())
            name = parts[1] if kind == "product" else parts[0]
            if name not in needed:
                needed.add(name)
                if name in targets:
                    pending.append(name)
    print(*sorted(needed))
    if forbidden := needed & set(options.without):
        sys.exit(f"error: {options.target} needs {', '.join(sorted(forbidden))}.")


main()
