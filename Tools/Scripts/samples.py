#!/usr/bin/env python3
"""Puts the samples of the guides in, from tests that are compiled and run.

    Tools/Scripts/samples.py            writes Docs/Guides/*.md
    Tools/Scripts/samples.py --check    fails if a guide shows something else than the tests

In a guide, `<!-- sample: NAME -->` stands before a block of Swift; in a test, `// sample: NAME` and
`// end of sample` stand around what it shows.
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
    for path in sorted((root / "Tests").rglob("*.swift")):
        for name, text in region.findall(path.read_text()):
            if name in found:
                sys.exit(f"{path}: there are two samples {name}")
            found[name] = textwrap.dedent(text).strip() + "\n"
    return found


def main():
    texts = samples()
    failed = False
    place = re.compile(r"(<!-- sample: (\S+) -->\n```swift\n)(.*?)(```)", re.S)
    for path in sorted((root / "Docs/Guides").glob("*.md")):
        before = path.read_text()

        def fill(match):
            if match[2] not in texts:
                sys.exit(f"{path}: no test holds the sample {match[2]}")
            return match[1] + texts[match[2]] + match[4]

        after = place.sub(fill, before)
        if after == before:
            continue
        if "--check" in sys.argv:
            print(f"{path}: shows other samples than the tests; run Tools/Scripts/samples.py",
                  file=sys.stderr)
            failed = True
        else:
            path.write_text(after)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
