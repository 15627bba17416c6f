"""Runs every contender of the benchmark table in turn, round after round, and prints the ratios.

A ratio compares medians of the same run; the contenders take turns, so that a slow moment of the
machine hits all of them. Arguments: the bench program, the peers' python, the rows to run.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

bench, python, *chosen = sys.argv[1:]
peers = os.path.dirname(os.path.abspath(__file__))
rounds = int(os.environ.get("ROUNDS", "5"))


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def turns(contenders, rounds=rounds):
    """The median seconds of each contender; they take turns."""
    seconds = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, command in contenders.items():
            seconds[name].append(run(*command)["seconds"])
    return {name: statistics.median(values) for name, values in seconds.items()}


def row(what, own, peer, times, asked=None, amount=None, unit=""):
    ratio = times[peer] / times[own]
    speed = f"{amount / times[own]:,.0f} {unit}" if amount else f"{times[own] * 1000:.2f} ms"
    target = f"{asked:g}" if asked else ""
    verdict = "" if asked is None else ("yes" if ratio >= asked else "NO")
    print(f"| {what} | {speed} | {peer} | {ratio:.2f} | {target} | {verdict} |", flush=True)


def json_rows(work):
    page = os.path.join(work, "page.json")
    made = run(bench, "page", "--records", "2000", "--out", page)
    megabytes = made["bytes"] / 1e6
    times = turns(
        {
            "validate and index": [bench, "json", "index", page],
            "validate, index and project 5 paths": [bench, "json", "project", page],
            "Foundation JSONSerialization": [bench, "json", "foundation", page],
            "orjson.loads": [python, f"{peers}/json_peer.py", "orjson", page, "50"],
        }
    )
    for own, asked in (("validate and index", 2), ("validate, index and project 5 paths", None)):
        row(f"JSON: {own}", own, "orjson.loads", times, asked, megabytes, "MB/s")
        row(f"JSON: {own}", own, "Foundation JSONSerialization", times, None, megabytes, "MB/s")


def store_rows(_):
    elements = 100_000
    times = turns(
        {
            "encrypted": [bench, "store", "encrypted", "--elements", str(elements)],
            "plain": [bench, "store", "plain", "--elements", str(elements)],
            "C loop, plain": [bench, "store", "c", "--elements", str(elements)],
            "bulk load": [bench, "store", "load", "--elements", str(elements)],
            "C loop, indexes last": [bench, "store", "c-load", "--elements", str(elements)],
            "alter": [bench, "store", "alter", "--elements", str(elements)],
        },
        rounds=3,
    )
    # The platform's guide says: about a second for a thousand elements.
    times["the guide's figure"] = elements / 1000
    row("upsert, encrypted", "encrypted", "C loop, plain", times, 0.6, elements, "elements/s")
    row("upsert, plain", "plain", "C loop, plain", times, None, elements, "elements/s")
    row("upsert, encrypted", "encrypted", "plain", times, None, elements, "elements/s")
    row("bulk load, encrypted", "bulk load", "C loop, plain", times, 1.3, elements, "elements/s")
    row(
        "bulk load, encrypted",
        "bulk load",
        "C loop, indexes last",
        times,
        None,
        elements,
        "elements/s",
    )
    row(
        "alterSoup with re-indexing, encrypted",
        "alter",
        "the guide's figure",
        times,
        20,
        elements,
        "elements/s",
    )


def sync_rows(_):
    records = 100_000
    server = subprocess.Popen(
        [bench, "serve", "--records", str(records)], stdout=subprocess.PIPE, text=True
    )
    try:
        url = json.loads(server.stdout.readline())["url"]
        times = turns(
            {
                "sync down": [bench, "sync-down", "--url", url],
                "simple-salesforce + sqlite3": [python, f"{peers}/sync_peer.py", url],
            },
            rounds=3,
        )
    finally:
        server.terminate()
        server.wait()
    row(
        "sync down, encrypted",
        "sync down",
        "simple-salesforce + sqlite3",
        times,
        1.2,
        records,
        "records/s",
    )


def memory_row(_):
    records = 1_000_000
    server = subprocess.Popen(
        [bench, "serve", "--records", str(records)], stdout=subprocess.PIPE, text=True
    )
    try:
        url = json.loads(server.stdout.readline())["url"]
        done = run(bench, "sync-down", "--url", url)
    finally:
        server.terminate()
        server.wait()
    peak = done["peakMegabytes"]
    verdict = "yes" if peak < 200 else "NO"
    speed = f"{done['records'] / done['seconds']:,.0f} records/s"
    print(f"| sync down of 1,000,000: {peak:.0f} MB peak | {speed} | | | 200 MB | {verdict} |")


tables = {"json": json_rows, "store": store_rows, "sync": sync_rows, "memory": memory_row}
print("| row | here | beside | times as fast | asked | reached |")
print("| --- | --- | --- | --- | --- | --- |")
with tempfile.TemporaryDirectory() as work:
    for name in chosen or tables:
        tables[name](work)
