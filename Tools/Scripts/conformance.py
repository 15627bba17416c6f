#!/usr/bin/env python3
"""Writes the tables of requirements: what is required, whether it holds, and which tests prove it.

    Tools/Scripts/conformance.py            writes Docs/Conformance/*.md
    Tools/Scripts/conformance.py --check    writes nothing; fails if the tables are wrong or not up to date
    Tools/Scripts/conformance.py --list STATE [NUMBER...]
                                            prints the requirements and points in a state

Docs/Conformance/CHAPTER.json holds "title", "ranges" (which numbers there are: prefix, first, last) and
"requirements", one entry for each number:

    "SS-12": {
      "requires": "What is required, in one sentence.",
      "state": "proved" | "partly" | "not built" | "decided against",
      "missing": "what no test proves or the code does not do (partly)",
      "why": "the reason (decided against)",
      "note": "what else a reader needs to know (optional)",
      "by": ["Tools/Scripts/examples.sh"]
    }

A requirement of several points has "points" in place of a state: {"1": {same keys}, "2": ...}. Its state
follows from theirs.

A trait names the requirements and points that a test proves:

    @Test(.covers("SS-12", "SS-13.2"))
    func `a damaged file is left as it is`() {

JavaScript has no traits: there the numbers stand at the start of the name.

    test("HT-7 and HT-10 a page sends its logout once", async (t) => {

What is proved needs such a test, or files that show it where no test can ("by"): a script that continuous
integration runs, a public document, the one place in the code. A number in a test's name is an error, since it
would count for nothing.
"""

import collections
import json
import pathlib
import re
import sys

total = 1077
states = ("proved", "partly", "not built", "decided against")
required = {"partly": "missing", "decided against": "why"}
keys = {"requires", "state", "missing", "why", "note", "by", "points"}
prefixes = "BX|CA|CO|HT|MS|SS"
number_form = rf"(?:{prefixes})-\d+(?:\.\d+)?"
test = re.compile(r"^\s*@Test\b(.*?)\bfunc\s+(`[^`]+`|\w+)", re.DOTALL | re.MULTILINE)
trait = re.compile(r"\.covers\(([^)]*)\)")

javascript_test = re.compile(rf'\btest\(\s*"((?:{number_form}(?:, | and | ))+)(.*?)"')

root = pathlib.Path(__file__).resolve().parents[2]
folder = root / "Docs/Conformance"
problems = []


def read_tests():
    """The names and files of all tests by requirement or point."""
    found = collections.defaultdict(list)
    for path in sorted((root / "Tests").rglob("*.swift")):
        file = path.relative_to(root / "Tests").with_suffix("")
        for attribute, name in test.findall(path.read_text()):
            name = name.strip("`")
            if re.search(number_form, name):
                problems.append(f"{file}: `{name}` has a number in its name, not in its trait")
            for number in re.findall(r'"([^"]*)"', " ".join(trait.findall(attribute))):
                if not re.fullmatch(number_form, number):
                    problems.append(f"{file}: `{name}` covers {number}, which is no requirement")
                found[number].append((name, file))
    for path in sorted([*root.glob("Plugins/**/tests/*.test.mjs"), *root.glob("Window/tests/*.test.mjs")]):
        file = path.relative_to(root).with_suffix("").with_suffix("").name
        for numbers, name in javascript_test.findall(path.read_text()):
            for number in re.findall(number_form, numbers):
                found[number].append((name, f"JavaScript/{file}"))
    return found


def numbers_of(chapter):
    return [
        f"{prefix}-{number}"
        for prefix, first, last in chapter["ranges"]
        for number in range(first, last + 1)
    ]


def state_of(requirement):
    """The state of a requirement; with points, the one that theirs have in common."""
    if "points" not in requirement:
        return requirement.get("state")
    found = {state_of(point) for point in requirement["points"].values()}
    if len(found) > 1:
        found.discard("decided against")  # the others say what is there
    return found.pop() if len(found) == 1 else "partly"


def check_entry(number, entry, tests):
    """Checks a requirement without points, or a point."""
    state = entry.get("state")
    if unknown := entry.keys() - keys:
        problems.append(f"{number}: unknown key {', '.join(sorted(unknown))}")
    if state not in states:
        problems.append(f"{number}: unknown state {state}")
        return
    if not entry.get("requires"):
        problems.append(f"{number}: does not say what is required")
    if state in required and not entry.get(required[state]):
        problems.append(f"{number}: {state}, without '{required[state]}'")
    for key in required.values():
        if key in entry and required.get(state) != key:
            problems.append(f"{number}: '{key}' does not belong to '{state}'")
    for path in entry.get("by", []):
        if not (root / path).is_file():
            problems.append(f"{number}: there is no file {path}")
    if state == "proved" and not tests[number] and not entry.get("by"):
        problems.append(f"{number}: proved, without a test")


def check(chapters, tests):
    known = collections.Counter()
    for chapter in chapters.values():
        listed = numbers_of(chapter)
        known.update(listed)
        requirements = chapter["requirements"]
        for number in listed:
            if number not in requirements:
                problems.append(f"{number}: no entry")
        for number in requirements.keys() - set(listed):
            problems.append(f"{number}: outside the ranges of its chapter")
        for number, requirement in requirements.items():
            if "points" not in requirement:
                check_entry(number, requirement, tests)
                continue
            if not requirement.get("requires"):
                problems.append(f"{number}: does not say what is required")
            if extra := requirement.keys() - {"requires", "note", "points"}:
                problems.append(f"{number}: {', '.join(sorted(extra))} belongs to its points")
            for point, entry in requirement["points"].items():
                known[f"{number}.{point}"] += 1
                check_entry(f"{number}.{point}", entry, tests)
    for number, count in known.items():
        if count > 1:
            problems.append(f"{number}: in {count} ranges")
    for number in tests.keys() - known.keys():
        names = ", ".join(f"`{words}` ({file})" for words, file in tests[number])
        problems.append(f"{number}: no such requirement or point, but tests: {names}")
    count = sum("." not in number for number in known)
    if count != total:
        problems.append(f"{count} requirements, not {total}")


def sentence(text):
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."


def cells(number, entry, tests):
    """State and evidence, as the table shows them."""
    evidence = [f"{words} (`{file}`)" for words, file in tests[number]]
    evidence += [f"`{path}`" for path in entry.get("by", [])]
    said = [f"**Missing:** {sentence(entry['missing'])}"] if "missing" in entry else []
    said += [f"**Why:** {sentence(entry['why'])}"] if "why" in entry else []
    said += [f"*{sentence(entry['note'])}*"] if "note" in entry else []
    return state_of(entry), "<br>".join(said + evidence)


def row(*columns):
    return "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |"


def summary(counts):
    return ", ".join(f"{counts[state]} {state}" for state in states if counts[state])


def states_in(chapter):
    return collections.Counter(map(state_of, chapter["requirements"].values()))


def table(chapter, tests):
    requirements = chapter["requirements"]
    lines = [
        f"# {chapter['title']}",
        "",
        "Written by `Tools/Scripts/conformance.py`; do not edit.",
        "",
        f"{len(requirements)} requirements: {summary(states_in(chapter))}.",
        "",
        "| number | requirement | state | tests, or what is missing |",
        "| --- | --- | --- | --- |",
    ]
    for number in numbers_of(chapter):
        if number not in requirements:
            continue
        requirement = requirements[number]
        lines.append(row(number, requirement.get("requires", ""), *cells(number, requirement, tests)))
        for point, entry in requirement.get("points", {}).items():
            name = f"{number}.{point}"
            lines.append(row(name, entry.get("requires", ""), *cells(name, entry, tests)))
    return "\n".join(lines) + "\n"


def overview(chapters):
    lines = [
        "# Requirements and their tests",
        "",
        "Written by `Tools/Scripts/conformance.py`; do not edit.",
        "",
        row("chapter", "requirements", *states),
        "| --- | --- | --- | --- | --- | --- |",
    ]
    everything = collections.Counter()
    for name, chapter in chapters.items():
        counts = states_in(chapter)
        everything += counts
        values = [str(counts.total()), *(str(counts[state]) for state in states)]
        lines.append(row(f"[{chapter['title']}]({name}.md)", *values))
    lines.append(row("all", str(everything.total()), *(str(everything[state]) for state in states)))
    lines += [
        "",
        "- proved: a test fails if what is required is broken.",
        "- partly: the row says what the code does not do, or what no test proves.",
        "- decided against: the row says why.",
        "",
        "What the mock org supports of the platform stands in [a table of its own](mock-org.md).",
    ]
    return "\n".join(lines) + "\n"


def print_entries(state, numbers, chapters):
    """Prints the entries in a state: all, or those of some requirements."""
    for chapter in chapters.values():
        for number, requirement in chapter["requirements"].items():
            if numbers and number not in numbers:
                continue
            points = requirement.get("points")
            entries = {f"{number}.{p}": e for p, e in points.items()} if points else {number: requirement}
            for name, entry in entries.items():
                if entry.get("state") == state:
                    reason = entry.get("missing") or entry.get("why") or ""
                    print(f"{name}: {entry.get('requires', '')} {reason}".rstrip())


def main(arguments):
    tests = read_tests()
    chapters = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    if arguments[:1] == ["--list"]:
        print_entries(arguments[1], arguments[2:], chapters)
        return 0
    check(chapters, tests)
    pages = {name: table(chapter, tests) for name, chapter in chapters.items()}
    pages["README"] = overview(chapters)
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if "--check" not in arguments:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            problems.append(f"{path.relative_to(root)} is not up to date: run Tools/Scripts/conformance.py")
    for problem in problems:
        print(f"conformance: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
