#!/usr/bin/env python3
"""Finds words that Docs/Language.md rules out.

    Tools/Scripts/wording.py --check            the Markdown pages; fails if a page has such a word
    Tools/Scripts/wording.py --swift FOLDER...  comments and string literals of Swift files, with a count at the end

Code in Markdown (blocks and spans) is not searched. A word that is right in one place only, as in a quotation, belongs
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
    r"keyrings?", r"leftovers", r"side soups?", r"so many bytes", r"sees one instant", r"made here", r"made there",
    r"settle[sd]?", r"settling", r"beside", r"lost (?:create|update|answer)s?", r"answers?", r"answered", r"answering",
]
pattern = re.compile(r"\b(?:" + "|".join(words) + r")\b", re.I)

# Pages that quote the words, are generated, or keep another vocabulary; and single lines.
skipped = ["Docs/Language.md"]
generated = re.compile(r"Docs/Conformance/(?!mock-org)")
allowed = {
    "Docs/Guides/Mock-org.md": ["A client that insists on https"],
}


def pages():
    found = [root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    found += [path for path in sorted((root / "Docs").rglob("*.md")) if ".build" not in path.parts]
    return [path for path in found if str(path.relative_to(root)) not in skipped]


def prose(text):
    """The text with its code blanked, line by line."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", blank, text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", blank, text)
    return re.sub(r"`[^`\n]*`", blank, text)


def swift(text):
    """Comments and string literals, line by line."""
    kept = []
    for line in text.splitlines():
        comment = re.search(r"//.*", line)
        literals = re.findall(r'"(?:[^"\\]|\\.)*"', line)
        kept.append(" ".join(literals + ([comment[0]] if comment else [])))
    return "\n".join(kept)


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
    if sys.argv[1:2] == ["--swift"]:
        paths = [p for folder in sys.argv[2:] for p in sorted((root / folder).rglob("*.swift"))]
        found = sum(search(path, swift(path.read_text())) for path in paths)
        print(f"{found} words in {len(paths)} files")
        return 0
    checked = [path for path in pages() if not generated.match(str(path.relative_to(root)))]
    return 1 if sum(search(path, prose(path.read_text())) for path in checked) else 0


if __name__ == "__main__":
    sys.exit(main())
