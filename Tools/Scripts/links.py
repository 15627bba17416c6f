#!/usr/bin/env python3
"""Checks that the relative links and images of the Markdown pages lead to existing files and headings, and that
a link leads to each page and each diagram.

    Tools/Scripts/links.py --check
"""

import pathlib
import re
import sys
import urllib.parse

root = pathlib.Path(__file__).resolve().parents[2]
link = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
fence = re.compile(r"^```.*?^```", re.M | re.S)


def anchors(path):
    """The anchors of a page's headings, formed as on GitHub."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", fence.sub("", path.read_text()), re.M):
        text = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(text.replace(" ", "-"))
    return found


def main():
    pages = [root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    # Catalogs link in DocC's form, which site.py checks.
    pages += [path for path in sorted((root / "Docs").rglob("*.md"))
              if ".build" not in path.parts and not any(part.endswith(".docc") for part in path.parts)]
    failed = False
    reached = {root / "README.md"}
    for page in pages:
        text = re.sub(r"`[^`\n]*`", "", fence.sub("", page.read_text()))
        for target in link.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            path = (page.parent / name).resolve() if name else page
            if path != page:
                reached.add(path)
            if not path.exists():
                problem = "leads to no file"
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                problem = "leads to no heading"
            else:
                continue
            print(f"{page.relative_to(root)}: the link {target} {problem}. Correct it.", file=sys.stderr)
            failed = True
    expected = [path for path in pages if path.is_relative_to(root / "Docs")]
    expected += sorted((root / "Docs/Diagrams").glob("*.svg"))
    for path in expected:
        if path not in reached and not path.is_relative_to(root / "Docs/Examples"):
            print(f"{path.relative_to(root)}: no page links to it. Add a link.", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
