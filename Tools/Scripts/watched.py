#!/usr/bin/env python3
"""Runs a command of tests; ends it, with the stacks of all its threads, if it makes no progress.

    Tools/Scripts/watched.py [--quiet SECONDS] [--failures FILE] [--repeat TEXT] -- COMMAND...

Passes the output on. After SECONDS without a line (default: 180), prints the tests that were running, and the stacks of
threads and tasks of all processes that the command started, kills them, and ends with 124. Otherwise ends as the command does. After a
failure the last lines list the tests that failed, with their seeds and the command that repeats each.

Stacks need gdb; without it, the state of each thread in the kernel is printed.
"""

import argparse
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

# Lines of Swift Testing, and of Node's test runner in its two forms.
NAME = r'Test (?P<name>".*"|\w+\(.*?\))'
STARTED = re.compile(rf"^◇ {NAME} started\.")
# A line that another one was printed into does not begin with its sign.
ENDED = re.compile(rf"[✔✘➜] {NAME}(?: with \d+ test cases?)? (?:passed|failed|skipped)\b")
FAILED = re.compile(
    rf"^✘ {NAME}(?: with \d+ test cases?)? (?P<rest>recorded an issue .*|failed after .*)"
    r"|^\s*(?:not ok \d+ - (?P<tap>.+)|✖ (?P<spec>.+) \([\d.]+ms\))$")
SEED = re.compile(r"\bseed[ :=]+(\d+)|FIELDFORCE_SEED=(\d+)", re.I)


def descendants(pid):
    """The processes that a process started, with their own, the process itself first."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name in parentheses may contain anything.
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, pending = [], [pid]
    while pending:
        found.append(pending.pop())
        pending += children.get(found[-1], [])
    return found


def print_stacks(pid):
    """What the threads of a process do, and what its Swift tasks wait for."""
    try:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
        is_swift = "libswift_Concurrency" in pathlib.Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return
    print(f"\n-- threads of process {pid}: {command}", flush=True)
    print_threads(pid)
    if is_swift:
        print(f"\n-- tasks of process {pid}", flush=True)
        script = pathlib.Path(__file__).with_name("async_tasks.py")
        subprocess.run([script, str(pid)], stderr=subprocess.STDOUT, timeout=300, check=False)


def print_threads(pid):
    if shutil.which("gdb"):
        subprocess.run(
            ["gdb", "--batch", "-p", str(pid), "-ex", "set pagination off", "-ex", "thread apply all bt 40"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
        return
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
        texts = [(task / part).read_text().strip() for part in ("comm", "wchan", "syscall") if (task / part).exists()]
        print(" ".join([task.name, *texts]))


def read_lines(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def failures(log, repeat):
    """The lines about each failed test: its first issue, and the command that runs it again."""
    found = {}
    for line in log:
        match = FAILED.match(line)
        if not match:
            continue
        test = found.setdefault(match["name"] or match["tap"] or match["spec"], {"issue": "", "seeds": []})
        rest = match["rest"] or ""
        if rest.startswith("recorded") and not test["issue"]:
            test["issue"] = ": " + rest.removeprefix("recorded an issue ")[:240]
        test["seeds"] += [first or second for first, second in SEED.findall(line)]
    for name, test in found.items():
        # The filter is a regular expression between quotes of the shell.
        words = re.sub(r"[^A-Za-z0-9 _,-]", ".", re.split(r" with \d+ argument", name)[0].removesuffix("()").strip('"'))
        seeds = list(dict.fromkeys(test["seeds"]))
        yield f"✘ {name}{test['issue']}"
        prefix = f"FIELDFORCE_SEED={seeds[0]} " if seeds else ""
        others = f" (seeds {', '.join(seeds)})" if len(seeds) > 1 else ""
        yield f"    {prefix}{repeat} '{words}'{others}"


def main():
    parser = argparse.ArgumentParser(description="Runs tests and ends them when they make no progress.")
    parser.add_argument("--quiet", type=float, default=180, help="seconds without output that count as no progress")
    parser.add_argument("--failures", type=pathlib.Path, help="a file for the list of failed tests")
    parser.add_argument("--repeat", default="Tools/test.sh --filter", help="the command that repeats one test")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    process = subprocess.Popen(
        options.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lines = queue.Queue()
    threading.Thread(target=read_lines, args=(process.stdout, lines), daemon=True).start()

    def report(found):
        if options.failures:
            options.failures.write_text("\n".join(found) + "\n")
        print("\n== failures", *found, sep="\n", flush=True)

    log, running, progress = [], {}, time.monotonic()
    try:
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                # A service that a test left may still hold the pipe.
                if process.poll() is not None:
                    break
                if time.monotonic() - progress < options.quiet:
                    continue
                print(f"\n== no progress for {options.quiet:.0f} s", flush=True)
                for pid in descendants(process.pid):
                    print_stacks(pid)
                report([
                    f"✘ no progress for {options.quiet:.0f} s in: {', '.join(running) or 'no test'}",
                    *failures(log, options.repeat),
                ])
                return 124
            if line is None:
                break
            progress = time.monotonic()
            sys.stdout.write(line)
            sys.stdout.flush()
            log.append(line.rstrip())
            if match := STARTED.match(line):
                running[match["name"]] = None
            elif match := ENDED.search(line):
                running.pop(match["name"], None)
        code = process.wait()
        if code != 0:
            report(list(failures(log, options.repeat)) or log[-12:])
        return code if code >= 0 else 128 - code
    finally:
        # What tests started goes with them, on a break too: the package manager runs them in a group of their own.
        for pid in descendants(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    sys.exit(main())
