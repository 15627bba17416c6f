#!/usr/bin/env python3
"""Plants faults in guards on purpose and reports those that no test notices.

Each clause of a `guard` or `if` in SUBJECTS that binds nothing is one fault: the guard lets everything pass, the
`if` is never taken. All faults are planted at once in a copy of the tree, each behind a switch that an environment
variable sets, and the copy is built once. Then the tests run once for each fault. A run that fails, crashes or does
not end has noticed the fault.

    Tools/Scripts/planted-faults.py --check                    whether its lists name what is in the code
    Tools/Scripts/planted-faults.py --list                     the faults, one a line
    Tools/Scripts/planted-faults.py --only 'Refresh|Login'     runs those whose line matches
    Tools/Scripts/planted-faults.py --scratch /tmp/faults      keeps the copy, and uses its build folder again

A fault that changes nothing which a caller can notice stands in planted-faults.txt with the reason.

Exit code: 0 if tests notice every other fault, 1 otherwise.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EQUIVALENT = pathlib.Path(__file__).with_suffix(".txt")

SESSIONS = (
    r"^CoreTests\.[^/]*(Account|Refresh|Rotation|Logout|Revocation|Login|Grant|Profile|Picture|Community|"
    "Configuration|OAuth|UserAgentFlow|ServerNumber)"
)
SENDING = r"^CoreTests\.[^/]*(Refresh|Sending|Redirect|Request|RestError|TokenConnection|Factory|BadResponse)"
FILES = r"^(CoreTests|CommonTests)\.[^/]*(Secret|KeyFile|File|Preferences|Folder|Lock|Download|AccountWrite)"
# What is changed, and the tests that run first. A fault that they do not notice gets a second run with TESTS.
SUBJECTS = {
    "Modules/Core/Accounts": SESSIONS,
    "Modules/Core/Login": SESSIONS,
    "Modules/Core/LoginHosts": SESSIONS,
    "Modules/Core/OAuth": SESSIONS,
    "Modules/Core/Sessions": SESSIONS,
    "Modules/Core/Rest/ClientSession.swift": SENDING,
    "Modules/Core/Rest/Interceptors": SENDING,
    "Modules/Core/Rest/RestClient.swift": SENDING,
    "Modules/Core/Rest/RestClient+Sending.swift": SENDING,
    "Modules/Common/Secrets": FILES,
    "Modules/Common/Files": FILES,
}
TESTS = r"^(CoreTests|CommonTests)\."
COPIED = ["Modules", "Plugins", "Testing", "Tests", "Tools", "Package.swift"]

SWITCH = """import Foundation

/// The planted fault that is on. This file exists in the copy that planted-faults.py makes, and nowhere else.
package enum PlantedFault {
  private static let number = ProcessInfo.processInfo.environment["PLANTED_FAULT"].flatMap { Int($0) }
  package static func isOn(_ fault: Int) -> Bool { fault == number }
}
"""


class Fault:
    """One clause of a condition, from `start` to `end` in the text of `file`."""

    def __init__(self, file, tests, keyword, clause, start, end):
        self.file, self.tests, self.keyword, self.clause = file, tests, keyword, " ".join(clause.split())
        self.start, self.end = start, end
        self.name = self.number = None

    def __str__(self):
        return f"{self.name}: {self.keyword} {self.clause}"

    @property
    def key(self):
        """The form in planted-faults.txt: equal clauses of a file are one."""
        return f"{pathlib.Path(self.file).name}: {self.keyword} {self.clause}"


def outside_of_brackets(text):
    """The offsets and characters that stand in no bracket and no string literal."""
    depth = 0
    quoted = False
    for offset, char in enumerate(text):
        if char == '"' and text[offset - 1] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if depth == 0:
            yield offset, char
        depth += (char in "([{") - (char in ")]}")


def condition(keyword, text):
    """The condition at the beginning of the text; None if its end is not found."""
    for offset, char in outside_of_brackets(text[:600]):
        if char == "{" if keyword == "if" else re.match(r"(?<!\w)else\b", text[offset:]):
            return text[:offset]
    return None


def clauses(condition):
    """The clauses of a condition with their offsets."""
    commas = [offset for offset, char in outside_of_brackets(condition) if char == ","]
    for start, end in zip([0] + [comma + 1 for comma in commas], commas + [len(condition)]):
        clause = condition[start:end]
        yield start + len(clause) - len(clause.lstrip()), clause.strip()


def faults_in(file, tests):
    text = (ROOT / file).read_text()
    found = []
    for match in re.finditer(r"(?m)^\s*(?:\} else )?(guard|if) ", text):
        whole = condition(match[1], text[match.end():])
        if whole is None or re.search(r"#|//", whole):
            continue
        for offset, clause in clauses(whole):
            if clause and not re.match(r"(let|var|case)\b", clause):
                start = match.end() + offset
                found.append(Fault(file, tests, match[1], clause, start, start + len(clause)))
    for number, fault in enumerate(found, 1):
        fault.name = f"{pathlib.Path(file).stem}-{number}"
    return found


def all_faults():
    faults = []
    for subject, tests in SUBJECTS.items():
        path = ROOT / subject
        for file in sorted(path.glob("*.swift")) if path.is_dir() else [path]:
            faults += faults_in(file.relative_to(ROOT), tests)
    for number, fault in enumerate(faults, 1):
        fault.number = number
    return faults


def planted(faults):
    """The text of each file that has faults, with all of them behind their switches."""
    texts = {pathlib.Path("Modules/Common/Files/PlantedFault.swift"): SWITCH}
    for file in {fault.file for fault in faults}:
        text = (ROOT / file).read_text()
        for fault in sorted((f for f in faults if f.file == file), key=lambda f: -f.start):
            operator = "|| " if fault.keyword == "guard" else "&& !"
            changed = f"({text[fault.start:fault.end]}) {operator}PlantedFault.isOn({fault.number})"
            text = text[:fault.start] + changed + text[fault.end:]
        if "Common" not in file.parts and not re.search(r"(?m)^\w* ?import SalesforceSDKCommon", text):
            text = "import SalesforceSDKCommon\n" + text
        texts[file] = text
    return {file: text.encode() for file, text in texts.items()}


def write_copy(faults, scratch):
    """Makes the copy with the faults. Files that are right already keep their times, and are not built again."""
    wanted = planted(faults)
    for name in COPIED:
        path = ROOT / name
        for source in path.rglob("*") if path.is_dir() else [path]:
            if source.is_file():
                wanted.setdefault(source.relative_to(ROOT), source.read_bytes())
    for name in COPIED:
        for old in (scratch / name).rglob("*"):
            if old.is_file() and old.relative_to(scratch) not in wanted:
                old.unlink()
    for file, content in wanted.items():
        target = scratch / file
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def run_tests(scratch, fault, limit, tests):
    """What noticed the fault with this number: the first failing test, a crash, no end; None if nothing did."""
    command = [scratch / ".build/debug/FieldforcePackageTests.xctest", "--testing-library", "swift-testing",
               "--filter", tests]
    environment = dict(os.environ, PLANTED_FAULT=str(fault), NO_COLOR="1")
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT)
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = None
        output.seek(0)
        failed = re.search(r"Test (.*?) recorded an issue", output.read())
    if status == 0:
        return None
    if failed:
        return failed[1]
    return f"no end after {limit} s" if status is None else f"exit status {status}"


def noticed_by(scratch, fault, limit, quick):
    first = run_tests(scratch, fault.number, limit, fault.tests)
    return first if first or quick else run_tests(scratch, fault.number, limit, TESTS)


def equivalent():
    """The keys of the faults that change nothing, with the reasons."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return dict(line.split(" | ", 1) for line in lines if line and not line.startswith("#"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="check the lists and end")
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--only", default="", help="a regular expression; default: all faults")
    parser.add_argument("--scratch", type=pathlib.Path, help="the folder of the copy; default: a temporary one")
    parser.add_argument("--built", action="store_true", help="the copy in --scratch is built already")
    parser.add_argument("--quick", action="store_true", help="leave out the second run of unnoticed faults")
    parser.add_argument("--jobs", type=int, default=1, help="the number of runs at the same time; default: 1")
    parser.add_argument("--limit", type=int, default=600, help="the seconds that one run may take; default: 600")
    options = parser.parse_args()

    missing = [subject for subject in SUBJECTS if not (ROOT / subject).exists()]
    if missing:
        sys.exit(f"planted-faults.py names what is not in the code: {', '.join(missing)}")
    faults = all_faults()
    reasons = equivalent()
    stale = reasons.keys() - {fault.key for fault in faults}
    if stale:
        sys.exit("\n".join(["planted-faults.txt names what is not in the code:"] + sorted(stale)))
    if options.check:
        return 0
    chosen = [fault for fault in faults if re.search(options.only, str(fault)) and fault.key not in reasons]
    if options.list:
        print(*chosen, sep="\n")
        print(f"{len(chosen)} faults, {len(reasons)} equivalent")
        return 0

    scratch = options.scratch or pathlib.Path(tempfile.mkdtemp(prefix="fieldforce-faults-"))
    try:
        if not options.built:
            write_copy(faults, scratch)
            subprocess.run(["swift", "build", "--build-tests"], cwd=scratch, check=True)
        failure = run_tests(scratch, 0, options.limit, "|".join(SUBJECTS.values()) if options.quick else TESTS)
        if failure:
            sys.exit(f"The tests fail without a fault: {failure}")
        unnoticed = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = pool.map(lambda fault: noticed_by(scratch, fault, options.limit, options.quick), chosen)
            for fault, notice in zip(chosen, results):
                unnoticed += notice is None
                print(f"noticed by {notice}" if notice else "UNNOTICED", fault, sep="  |  ", flush=True)
        print(f"{len(chosen)} faults, {unnoticed} unnoticed")
        return 1 if unnoticed else 0
    finally:
        if not options.scratch:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
