#!/usr/bin/env python3
"""Finds words that Docs/Language.md rules out.

    Tools/Scripts/wording.py --check

It searches the Markdown pages, the tables of requirements, comments and string literals of Swift files, and the names
and comments of tests. Code in Markdown (blocks and spans) and in interpolations is not searched. Guides, decisions and
landing pages are also searched for phrases and for sentences that a reader has to read twice, and doc comments for
summaries that begin with a question word ("What became of it." in place of "The outcome."). A word that is right in one
place only, as in a quotation, belongs into `allowed` below.
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
    r"sees? to it", r"programmer's mistake", r"brought down",
]
pattern = re.compile(r"\b(?:" + "|".join(words) + r")\b", re.I)

# What to write instead, in pages for users.
phrases = {
    r"goes on": "continues", r"going on": "continuing", r"side by side": "in parallel", r"any more": "no longer",
    r"(?:is|are|was|were) taken for": "is mistaken for", r"in the place of": "in place of, instead of",
    r"modes? that compares?": "the names of the merge modes", r"in silence": "silently", r"to be had": "available",
    r"(?:is|are) (?:left alone|held back)": "is skipped", r"what (?:comes|goes|stands|lies) ": "the thing's name",
    r"of (?:whom|which) it (?:knows|tells)": "a sentence with a subject",
    r"(?<!there )is no (?:array|error|file|id|JSON|key|list|number|object|query|record|text)": "is not a",
}
phrase = re.compile(r"\b(?:" + "|".join(f"({words})" for words in phrases) + r")\b", re.I)

# A statement whose subject is a clause: "What broke off is kept." A question ends with a question mark.
clause = re.compile(r"(?:(?<=[.:;] )|(?<=\n\n)|(?<=\*\* )|(?<=\n- )|(?<=\n\d\. ))(?:What|Whatever|Whose) [^.?!:|\n]+[.:]", re.S)

# A summary is a noun phrase or a verb in the third person (Docs/Language.md, rule 5).
summary = re.compile(r"(?:What|Whose|Whom|Who|How|Where|When|Which|Why)\b")
# Folders whose summaries are still to be written that way.
pending = [
    "Plugins/FileSync", "Plugins/Login",
    "Testing/MockOrg", "Tools/CLI/Templates",
]

# Pages that quote the words, are generated, or keep another vocabulary; and single lines.
skipped = ["Docs/Language.md"]
allowed = {
    "Docs/Guides/Mock-org.md": ["A client that insists on https"],
}


def pages():
    found = [root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    found += [path for path in sorted((root / "Docs").rglob("*.md")) if ".build" not in path.parts]
    return [path for path in found if str(path.relative_to(root)) not in skipped]


def guides():
    """The pages that users read: no history, no tables of requirements, no list of open work."""
    found = [path for path in pages() if path.name != "CHANGELOG.md" and path.name != "Status.md"]
    found = [path for path in found if "Conformance" not in path.parts and "Benchmarks.md" != path.name]
    found.append(root / "SECURITY.md")
    for folder in ("Modules", "Plugins", "Testing"):
        found += sorted((root / folder).glob("**/*.docc/**/*.md"))
    return found


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


def report(path, text, offset, problem):
    line = text.count("\n", 0, offset) + 1
    print(f"{path.relative_to(root)}:{line}: {problem}", file=sys.stderr)
    return 1


def search_guide(path, text):
    """Phrases and sentences of a page for users."""
    exceptions = allowed.get(str(path.relative_to(root)), [])
    found = 0
    for match in phrase.finditer(text):
        instead = list(phrases.values())[match.lastindex - 1]
        if not any(exception in match[0] for exception in exceptions):
            found += report(path, text, match.start(), f"'{match[0].strip()}'. Write: {instead}.")
    # One line per paragraph, so that sentences are whole; headings, tables and code stay apart.
    joined = re.sub(r"(?<=[^\n])\n(?= *[^\s#|<\-*\d])", " ", text)
    for match in clause.finditer(joined):
        found += report(path, text, match.start(), f"'{match[0][:60]}'. Name the subject of the sentence.")
    return found


def search_summaries(path, text):
    """The first lines of doc comments."""
    found = 0
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        begins = re.match(r"\s*/// ?(.*)", line)
        if begins and summary.match(begins[1]) and (number == 1 or "///" not in lines[number - 2]):
            print(f"{path.relative_to(root)}:{number}: '{begins[1][:60]}'. Begin a summary with a noun or a verb.", file=sys.stderr)
            found += 1
        # Lists that were wrapped into one line: DocC needs a line for each parameter.
        if re.match(r"\s*/// +- Parameters: *\S", line):
            print(f"{path.relative_to(root)}:{number}: '- Parameters: -'. Give each parameter its own line.", file=sys.stderr)
            found += 1
    return found


def main():
    found = sum(search(path, prose(path.read_text())) for path in pages())
    found += sum(search_guide(path, prose(path.read_text())) for path in guides())
    for path in swift_files("Modules", "Plugins", "Testing", "Tools"):
        if not any(path.is_relative_to(root / folder) for folder in pending):
            found += search_summaries(path, path.read_text())
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
