#!/usr/bin/env python3
"""Checks what must stand in no source of the libraries: isolation to the main actor, and random numbers from
anything but the system's generator.

    Tools/Scripts/sources.py --check
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
comment = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
rules = [
    # Callers run anywhere; a library that needs the main actor blocks servers and command line tools (BX-58).
    (re.compile(r"@MainActor\b|\bMainActor\.|@UIApplicationMain|DispatchQueue\.main\b"),
     "needs the main actor or the main queue"),
    # C generators are predictable, and so is a generator of one's own (BX-116).
    (re.compile(r"(?<!func )(?<![.\w])(?:s?rand|s?random|rand_r|random_r|[dejlmn]rand48|srand48)\s*\("),
     "calls a generator of C that can be predicted"),
    (re.compile(r"\b(?:struct|class|actor|enum|extension)\b[^{\n]*:[^{]*\bRandomNumberGenerator\b"),
     "has a random number generator of its own"),
    (re.compile(r"\bGK\w*RandomSource\b|\bimport\s+GameplayKit\b"), "uses a generator for games"),
]
passed = re.compile(r"\busing:\s*&\s*(\w+)")


def problems(text):
    """What is wrong with a source, each with its line."""
    text = comment.sub(lambda match: "\n" * match[0].count("\n"), text)

    def line(match):
        return text.count("\n", 0, match.start()) + 1

    for pattern, what in rules:
        for match in pattern.finditer(text):
            yield line(match), f"{what}: {' '.join(match[0].split())}"
    for match in passed.finditer(text):
        name = re.escape(match[1])
        if not re.search(rf"\bvar\s+{name}\s*(?::\s*|=\s*)SystemRandomNumberGenerator\b", text):
            yield line(match), f"passes a generator that is not the system's: {match[0]}"


def main():
    if sys.argv[1:] != ["--check"]:
        sys.exit(__doc__)
    failed = False
    for folder in ("Modules", "Plugins"):
        for path in sorted((root / folder).rglob("*.swift")):
            for line, problem in problems(path.read_text()):
                failed = True
                print(f"{path.relative_to(root)}:{line}: {problem}", file=sys.stderr)
    sys.exit(failed)


main()
