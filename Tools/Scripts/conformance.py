#!/usr/bin/env python3
"""Writes the tables of requirements and their tests.

    Tools/Scripts/conformance.py            writes Docs/Conformance/*.md
    Tools/Scripts/conformance.py --check    fails if a requirement has neither a test nor a reason

A test covers a requirement if its name holds the number. Docs/Conformance/NAME.json says which numbers
there are ("ranges", each with the prefix that its numbers have), and why some have no test, or one that
expects something else ("notes").
"""

import collections
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
folder = root / "Docs/Conformance"


def tests():
    """The names and files of all tests by requirement."""
    found = collections.defaultdict(list)
    for path in sorted((root / "Tests").rglob("*.swift")):
        for name in re.findall(r"func\s+`([^`]+)`", path.read_text()):
            for number in dict.fromkeys(re.findall(r"\b[A-Z]{2}-\d+\b", name)):
                words = re.sub(r"^(?:[A-Z]{2}-\d+ )+", "", name)
                found[number].append((words, path.relative_to(root / "Tests").with_suffix("")))
    return found


def numbers(plan):
    for prefix, first, last in plan["ranges"]:
        for number in range(first, last + 1):
            yield f"{prefix}-{number}"


def table(plan, found):
    notes = plan["notes"]
    lines = [
        f"# {plan['title']}",
        "",
        "Written by `Tools/Scripts/conformance.py`; do not edit.",
        "",
        "| requirement | tests | note |",
        "| --- | --- | --- |",
    ]
    missing = []
    for number in numbers(plan):
        cells = [f"{words} (`{path}`)" for words, path in found[number]]
        if not cells and number not in notes:
            missing.append(number)
        text = "<br>".join(cells).replace("|", "\\|")
        lines.append(f"| {number} | {text} | {notes.get(number, '')} |")
    return "\n".join(lines) + "\n", missing


def main():
    found = tests()
    failed = False
    for path in sorted(folder.glob("*.json")):
        text, missing = table(json.loads(path.read_text()), found)
        if missing:
            print(f"{path.stem}: neither test nor reason: {', '.join(missing)}", file=sys.stderr)
            failed = True
        if "--check" not in sys.argv:
            path.with_suffix(".md").write_text(text)
    return 1 if failed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
