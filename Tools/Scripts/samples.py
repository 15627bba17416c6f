#!/usr/bin/env python3
"""Copies the samples of the README, the guides and the catalogs from tests and examples, which are compiled and run.

    Tools/Scripts/samples.py            writes README.md, Docs/Guides/*.md and the pages in *.docc folders
    Tools/Scripts/samples.py --check    fails if a page differs from its source

In a page, `<!-- sample: NAME -->` precedes a block of Swift. In a test or an example, `// sample: NAME` and
`// end of sample` enclose the code of that block.
"""

import pathlib
import re
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parents[2]


def samples():
    """The texts by name."""
    found = {}
    region = re.compile(r"^ *// sample: (\S+)\n(.*?)^ *// end of sample$", re.M | re.S)
    sources = [*(root / "Tests").rglob("*.swift"), *(root / "Docs/Examples").glob("*/Sources/**/*.swift")]
    for path in sorted(sources):
        for name, text in region.findall(path.read_text()):
            if name in found:
                sys.exit(f"{path}: defines a second sample {name}")
            found[name] = textwrap.dedent(text).strip() + "\n"
    return found


def main():
    texts = samples()
    failed = False
    place = re.compile(r"(<!-- sample: (\S+) -->\n```swift\n)(.*?)(```)", re.S)
    pages = [root / "README.md", *sorted((root / "Docs/Guides").glob("*.md"))]
    for folder in ("Docs", "Modules", "Plugins", "Testing"):
        pages += sorted((root / folder).glob("**/*.docc/**/*.md"))
    for path in pages:
        before = path.read_text()

        def fill(match):
            if match[2] not in texts:
                sys.exit(f"{path}: no source has the sample {match[2]}")
            return match[1] + texts[match[2]] + match[4]

        after = place.sub(fill, before)
        if after == before:
            continue
        if "--check" in sys.argv:
            print(f"{path}: a sample differs from its source. Run Tools/Scripts/samples.py.",
                  file=sys.stderr)
            failed = True
        else:
            path.write_text(after)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
