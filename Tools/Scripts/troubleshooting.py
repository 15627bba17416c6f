#!/usr/bin/env python3
"""Compares Docs/Guides/Troubleshooting.md with the error codes of the sources.

    Tools/Scripts/troubleshooting.py            lists the codes of the sources, by type
    Tools/Scripts/troubleshooting.py --check    fails if the page lacks a code, or has one that does not exist

A section of the page is named after an error type; the first cell of a row of its tables is a code. The codes of a
type are the static members of its nested `Code`. The section `fieldforce` has the codes of the command line itself,
which are the literals in `CommandFailure("…")`.
"""

import collections
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
page = root / "Docs/Guides/Troubleshooting.md"
folders = ["Modules", "Plugins", "Testing", "Tools"]

error_type = re.compile(r"^(?:public|package) struct (\w+): [^{\n]*Error\b[^{\n]*\{", re.M)
code_type = re.compile(r"^ +public struct Code: [^{\n]*\{", re.M)
member = re.compile(r"^ +public static (?:let (\w+)(?:: Code)? =|func (\w+)\(.*-> Code)", re.M)
extended = re.compile(r"^extension (\w+)\.Code \{\n(.*?)^\}", re.M | re.S)
failure = re.compile(r'CommandFailure\(\s*"(\w+)"')


def body(text, start):
    """The text from the brace that ends at `start` to the one that closes it."""
    depth = 1
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return text[start:]


def members(text):
    return {first or second for first, second in member.findall(text)}


def sources():
    """The codes by type."""
    found = collections.defaultdict(set)
    texts = [
        path.read_text()
        for folder in folders
        for path in sorted((root / folder).rglob("*.swift"))
        if ".build" not in path.parts
    ]
    for text in texts:
        for error in error_type.finditer(text):
            inside = body(text, error.end())
            code = code_type.search(inside)
            if code:
                found[error[1]] |= members(body(inside, code.end()))
        for name, inside in extended.findall(text):
            found[name] |= members(inside)
        found["fieldforce"] |= set(failure.findall(text))
    return {name: codes for name, codes in found.items() if codes}


def documented():
    """The codes of the page by section, and those that stand there twice."""
    found = collections.defaultdict(set)
    twice = []
    section = None
    for line in page.read_text().splitlines():
        if heading := re.match(r"## `?(\w+)`?$", line):
            section = heading[1]
        elif line.startswith("## "):
            section = None
        elif section and (row := re.match(r"\| `(\w+)(?:\([^`]*\))?`", line)):
            if row[1] in found[section]:
                twice.append(f"{section}.{row[1]}")
            found[section].add(row[1])
    return found, twice


def main():
    codes = sources()
    if "--check" not in sys.argv:
        for name, names in sorted(codes.items()):
            print(f"{name}: {', '.join(sorted(names))}")
        return 0
    on_page, twice = documented()
    problems = [f"{code} has two rows" for code in twice]
    for name in sorted(codes.keys() | on_page.keys()):
        for code in sorted(codes.get(name, set()) - on_page[name]):
            problems.append(f"{name}.{code} has no row. Add what it means, why it happens and what to do.")
        for code in sorted(on_page[name] - codes.get(name, set())):
            problems.append(f"{name}.{code} is not in the sources. Remove its row.")
    for problem in problems:
        print(f"{page.relative_to(root)}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
