#!/usr/bin/env python3
"""Finds words that Docs/Language.md rules out.

    Tools/Scripts/wording.py --check

It searches the Markdown pages, the tables of requirements, comments and string literals of Swift files, and the names
and comments of tests. Code in Markdown (blocks and spans) and in interpolations is not searched. A word that is right in one place only, as in a quotation, belongs
into `allowed` below.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]

# What to write instead stands in Docs/Language.md.
words = [
    r"anew", r"nobody", r"somebody", r"whoever", r"meanwhile", r"strangers?", r"misfortunes?", r"misbehaviou?r",
    r"(?:is|are|was|were|be|been|being) (?:told|asked|looked for|given up|gone on with)",
    r"go(?:es)? on with", r"g(?:o|oes|ing|one) up", r"c(?:ome|omes|oming|ame) down",
    r"fold(?:s|ed|ing)? (?:it |the log |its log )?in", r"heed(?:s|ed)?", r"insist(?:s|ed)?", r"mend(?:s|ed)?",
    r"(?<!gnome[- ])keyrings?", r"leftovers", r"side soups?", r"so many bytes", r"sees one instant", r"made here", r"made there",
    r"settle[sd]?", r"settling", r"beside", r"lost (?:create|update|answer)s?", r"answers?", r"answered", r"answering",
]
pattern = re.compile(r"\b(?:" + "|".join(words) + r")\b", re.I)

# Pages that quote the words, are generated, or keep another vocabulary; and single lines.
skipped = ["Docs/Language.md"]
allowed = {
    "Docs/Guides/Mock-org.md": ["A client that insists on https"],
}


def pages():
    found = [root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    found += [path for path in sorted((root / "Docs").rglob("*.md")) if ".build" not in path.parts]
    return [path for path in found if str(path.relative_to(root)) not in skipped]


def prose(text):
    """The text with its code blanked, line by line."""
    text = re.sub(r"^```.*?^```", blanked, text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", blanked, text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", blanked, text)
    return re.sub(r"`[^`\n]*`", blanked, text)


def blanked(match):
    return re.sub(r"[^\n]", " ", match[0])


def comments_and_literals(text):
    """Comments and string literals, line by line."""
    kept = []
    is_inside = False
    for line in re.sub(r"\\\((?:[^()\n]|\([^()\n]*\))*\)", blanked, text).splitlines():
        if is_inside or line.count('"""') == 1:
            kept.append(line)
            is_inside ^= line.count('"""') == 1
            continue
        comment = re.search(r"(?<![:\"/])//.*", line)
        literals = re.findall(r'"(?:[^"\\]|\\.)*"', line)
        kept.append(" ".join(literals + ([comment[0]] if comment else [])))
    return "\n".join(kept)


def test_names(text):
    return "\n".join(" ".join(re.findall(r"(?:func|struct) `([^`]*)`", line)) for line in text.splitlines())


def comments(text):
    """Comments alone, line by line: literals of tests are data."""
    return "\n".join(match[0] if (match := re.search(r"(?<![:\"/])//.*", line)) else "" for line in text.splitlines())


def swift_files(*folders):
    return [path for folder in folders for path in sorted((root / folder).rglob("*.swift"))]


def search(path, text):
    name = str(path.relative_to(root))
    exceptions = allowed.get(name, [])
    found = 0
    for number, line in enumerate(text.splitlines(), 1):
        if any(exception in line for exception in exceptions):
            continue
        for match in pattern.finditer(line):
            print(f"{name}:{number}: '{match[0]}'. Docs/Language.md has the word to use.", file=sys.stderr)
            found += 1
    return found


def main():
    found = sum(search(path, prose(path.read_text())) for path in pages())
    found += sum(search(path, path.read_text()) for path in sorted((root / "Docs/Conformance").glob("*.json")))
    for path in swift_files("Modules", "Plugins", "Testing", "Tools", "Docs/Examples"):
        found += search(path, comments_and_literals(path.read_text()))
    for path in swift_files("Tests"):
        text = path.read_text()
        found += search(path, test_names(text)) + search(path, comments(text))
    found += search(root / "Package.swift", comments((root / "Package.swift").read_text()))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
