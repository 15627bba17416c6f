#!/usr/bin/env python3
"""Writes the numbers of Docs/How-it-is-tested.md, which it takes from the sources.

    Tools/Scripts/how-tested.py            writes the tables between the marks of the page
    Tools/Scripts/how-tested.py --check    writes nothing; fails if the page has other numbers than the sources

Numbers that nearly every change moves (tests, lines) are rounded down to hundreds and thousands.
"""

import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
page = root / "Docs/How-it-is-tested.md"
swift_test = re.compile(r"^\s*@Test\b", re.M)
script_test = re.compile(r"^test\(", re.M)
marks = re.compile(r"(<!-- numbers: (\w+) -->\n)(.*?)(<!-- end -->)", re.S)


def files(pattern, *folders):
    return [
        path
        for folder in folders
        for path in sorted((root / folder).rglob(pattern))
        if not any(part.startswith(".") or part == "node_modules" for part in path.relative_to(root).parts)
    ]


def count(expression, paths):
    return sum(len(expression.findall(path.read_text())) for path in paths)


def lines(paths):
    return sum(path.read_text().count("\n") for path in paths)


def constant(path, expression):
    """A number in a source file. The script fails if it is no longer there."""
    found = re.findall(expression, (root / path).read_text())
    if not found:
        sys.exit(f"{path} has no '{expression}' any more: correct Tools/Scripts/how-tested.py.")
    return sum(int(number.replace("_", "")) for number in found)


def down(number, step):
    return f"{number // step * step:,}"


def output(*command):
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def requirements():
    total = re.search(r"^\| all \|(.*)\|$", (root / "Docs/Conformance/README.md").read_text(), re.M)
    return [int(cell) for cell in total[1].split("|")]


def numbers():
    proofs = files("*.swift", "Tests/Proofs")
    tests = [path for path in files("*.swift", "Tests", "Tools/Fuzzing/Replay") if path not in proofs]
    scripts = files("*.test.mjs", "Plugins", "Window")
    product = files("*.swift", "Modules", "Plugins", "Tools/CLI") + files("*.c", "Modules", "Plugins")
    faults, equivalent = map(
        int, re.findall(r"(\d+) faults, (\d+) equivalent", output("Tools/Scripts/planted-faults.py", "--list"))[0]
    )
    codes = [
        line.split(": ")[1].split(", ") for line in output("Tools/Scripts/troubleshooting.py").splitlines() if ": " in line
    ]
    corpus = root / "Tools/Fuzzing/Corpus"
    parsers = sorted(path.name for path in corpus.iterdir())
    inputs = sum(1 for path in corpus.rglob("*") if path.is_file())
    needed, proved, partly, missing, against = requirements()
    suite = len(list((root / "Tests/Common/Resources/json-test-suite").rglob("*.json")))
    tampered = constant("Tests/Proofs/SmartStore/TamperingProof.swift", r"Effort\.times\((\d+)\)")
    drawn = sum(
        constant(path.relative_to(root), r"rounds: (\d+)\)")
        for path in files("*FuzzTests.swift", "Tests/Proofs/SmartStore")
    )
    requests = constant("Tests/Proofs/MockOrg/MalformedRequestTests.swift", r"let rounds = (\d+)") * constant(
        "Tests/Proofs/MockOrg/MalformedRequestTests.swift", r"Effort\.times\((\d+)\)"
    )
    differential = "Tests/Proofs/MockOrg/Differential/SOQLDifferentialTests.swift"
    overview = [
        ("lines of the product, without the mock org", down(lines(product), 1000)),
        ("lines of tests and proofs", down(lines(tests + proofs), 1000)),
        ("tests in Swift, of which many run with several arguments", down(count(swift_test, tests), 100)),
        ("tests in JavaScript", down(count(script_test, scripts), 10)),
        ("proofs: random histories, kills, faults", str(count(swift_test, proofs))),
        ("requirements; proved, partly proved, not built, decided against",
         f"{needed:,}; {proved}, {partly}, {missing}, {against}"),
        ("error codes, each with a row in Troubleshooting", str(sum(map(len, codes)))),
        ("planted faults; of them without a consequence that a caller can notice", f"{faults}; {equivalent}"),
        ("fuzzed parsers; inputs of the corpus that the tests replay", f"{len(parsers)}; {inputs}"),
    ]
    rounds = [
        ("histories of devices, org and faults (convergence)",
         constant("Tests/Proofs/MobileSync/ConvergenceTests.swift", r"let stories = ([\d_]+)")),
        ("histories of two devices of one user",
         constant("Tests/Proofs/MobileSync/TwinTests.swift", r"let histories = ([\d_]+)")),
        ("histories of offline files", constant("Tests/Proofs/Files/FileHistoryTests.swift", r"let histories = ([\d_]+)")),
        ("SIGKILLs of a process that writes to a store",
         constant("Tests/Proofs/SmartStore/KillProof.swift", r"Effort\.times\((\d+)\)")),
        ("changed bits and bytes of encrypted files", tampered),
        ("random Smart SQL statements, match keys, paths, query specs and stored texts", drawn),
        ("mutated requests to the mock org", requests),
        ("random SOQL queries, compared with a second implementation",
         constant(differential, r"let orgCount = (\d+)") * constant(differential, r"Effort\.times\((\d+)\)")),
        ("files of the public JSON test suite", suite),
    ]
    effort = constant("Tools/proofs.sh", r"FIELDFORCE_EFFORT:-(\d+)")
    fixed = {"files of the public JSON test suite"}
    return {
        "overview": ["| what | number |", "| --- | --- |"] + [f"| {what} | {number} |" for what, number in overview],
        "rounds": ["| in each run | number | nightly |", "| --- | --- | --- |"]
        + [f"| {what} | {number:,} | {number if what in fixed else number * effort:,} |" for what, number in rounds],
    }


def main():
    tables = numbers()

    def table(found):
        return found[1] + "\n".join(tables.pop(found[2])) + "\n" + found[4]

    before = page.read_text()
    after = marks.sub(table, before)
    if tables:
        sys.exit(f"{page.relative_to(root)} lacks the marks of: {', '.join(tables)}")
    if "--check" in sys.argv:
        if before != after:
            sys.exit(f"{page.relative_to(root)} has old numbers. Run Tools/Scripts/how-tested.py.")
    else:
        page.write_text(after)


main()
