"""Runs every contender of the benchmark table in turn, round after round, and prints the ratios.

A ratio compares medians of the same run; the contenders take turns, so that a slow moment of the
machine hits all of them. Arguments: the bench program, the peers' python, the rows to run.
"""

import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

import mock_org

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
            "alter": [bench, "store", "alter", "--elements", str(elements)],
        },
        rounds=3,
    )
    # The platform's guide says: about a second for a thousand elements.
    times["the guide's figure"] = elements / 1000
    row("upsert, encrypted", "encrypted", "C loop, plain", times, 0.6, elements, "elements/s")
    row("upsert, plain", "plain", "C loop, plain", times, None, elements, "elements/s")
    row("upsert, encrypted", "encrypted", "plain", times, None, elements, "elements/s")
    row(
        "alterSoup with re-indexing, encrypted",
        "alter",
        "the guide's figure",
        times,
        20,
        elements,
        "elements/s",
    )


def compile_loop(work, name, flags):
    """Builds the loop over SQLite's C interface against one library."""
    program = os.path.join(work, name)
    source = os.path.join(peers, "store_loop.c")
    subprocess.run(
        ["cc", "-O2", "-D_GNU_SOURCE", source, "-o", program, *flags], check=True, stdout=sys.stderr
    )
    return program


def loops(work):
    """The loop with the system's SQLite, and with SQLCipher where that is installed."""
    programs = {"C loop": [compile_loop(work, "loop", ["-DSTORE_LOOP_SQLITE=<sqlite3.h>", "-lsqlite3"])]}
    root = os.environ.get("SQLCIPHER_ROOT", "")
    header = f"{root}/usr/include/sqlcipher/sqlite3.h"
    if os.path.exists(header):
        flags = [f'-DSTORE_LOOP_SQLITE="{header}"', "-DSQLITE_HAS_CODEC"]
        for path in sorted(glob.glob(f"{root}/usr/lib/*-linux-gnu")) if root else []:
            flags += [f"-L{path}", f"-Wl,-rpath,{path}"]
        programs["SQLCipher"] = [compile_loop(work, "cipher-loop", flags + ["-lsqlcipher"])]
    else:
        print("SQLCipher is left out: install libsqlcipher-dev for its rows", file=sys.stderr)
    return programs


def loop_contender(program, elements, key):
    def once():
        with tempfile.TemporaryDirectory() as folder:
            return run(*program, elements, folder, *key)["rows"]

    return once


def smartstore_rows(work):
    elements = os.path.join(work, "elements.tsv")
    count = int(os.environ.get("ELEMENTS", "100000"))
    run(bench, "smartstore", "elements", "--elements", str(count), "--out", elements)
    contenders = {
        way: lambda way=way: run(bench, "smartstore", "rows", way, "--elements", str(count))["rows"]
        for way in ("encrypted", "plain")
    }
    for name, program in loops(work).items():
        contenders[name] = loop_contender(program, elements, ["07" * 32] if name == "SQLCipher" else [])
    # Debian's SQLCipher has no JSON: beside it stands a store with one index less.
    contenders["four indexes"] = lambda: run(
        bench, "smartstore", "rows", "encrypted", "--elements", str(count), "--without-json",
        "--only", "upsert,single,load",
    )["rows"]
    measured = {name: [] for name in contenders}
    for _ in range(int(os.environ.get("ROUNDS", "3"))):
        for name, once in contenders.items():
            measured[name].append(once())
    # What stands beside a row, if it is not the row of the same name.
    limits = {"load": "insert"}
    for what, amount, asked in (
        ("insert", count, 0.75),
        ("load", count, 1.3),
        ("upsert", 20_000, 0.75),
        ("single", 300, 0.8),
        ("exact", 20_000, 0.5),
        ("exactInSnapshot", 20_000, None),
        ("page", 500, 0.8),
        ("count", 20, 0.9),
        ("group", 10, 0.9),
        ("scan", 2, 0.9),
        ("match", 2000, 0.8),
    ):

        def seconds(name, row=what):
            values = [rows[row] for rows in measured.get(name, []) if row in rows]
            return statistics.median(values) if values else None

        own = {"encrypted": seconds("encrypted")}
        limit = {"C loop": seconds("C loop", limits.get(what, what))}
        row(f"{what}, encrypted", "encrypted", "C loop", own | limit, asked, amount, "/s")
        if what in limits:
            last = {"C loop, the same": seconds("C loop")}
            row(f"{what}, encrypted", "encrypted", "C loop, the same", own | last, None, amount, "/s")
        plain = {"plain": seconds("plain")}
        row(f"{what}, encrypted", "encrypted", "plain", own | plain, 1 / 1.35, amount, "/s")
        cipher = seconds("SQLCipher")
        if cipher:
            four = seconds("four indexes")
            name = "four indexes" if four else "encrypted"
            times = {name: four or own["encrypted"], "SQLCipher": cipher}
            row(f"{what}, {name}", name, "SQLCipher", times, 1, amount, "/s")
    one_second_rows(work)


def one_second_rows(work):
    """Rows that stand for themselves: a long statement, and a large store in a new process."""
    conversion = run(bench, "smartstore", "convert")
    verdict = "yes" if conversion["seconds"] < 0.001 else "NO"
    milliseconds = conversion["seconds"] * 1000
    print(f"| convert {conversion['bytes']:,} characters | {milliseconds:.2f} ms | | | 1 ms | {verdict} |")
    large = os.environ.get("LARGE", "1000000")
    store = os.path.join(work, "large")
    run(bench, "smartstore", "prepare", store, "--elements", large)
    opened = [run(bench, "smartstore", "open", store) for _ in range(rounds)]
    seconds = statistics.median(one["seconds"] for one in opened)
    peak = max(one["peakMegabytes"] for one in opened)
    reached = "yes" if seconds < 0.05 else "NO"
    print(f"| open {int(large):,} elements and ask | {seconds * 1000:.0f} ms | | | 50 ms | {reached} |")
    reached = "yes" if peak < 64 else "NO"
    print(f"| memory of that process | {peak:.0f} MB | | | 64 MB | {reached} |", flush=True)


def replay(records):
    """A server that has the pages of a query in memory, and its address."""
    server = subprocess.Popen(
        [bench, "serve", "--records", str(records)], stdout=subprocess.PIPE, text=True
    )
    return server, json.loads(server.stdout.readline())["url"]


def limit_row(what, measured, asked, unit, peak=None, peak_asked=None):
    """A row that has no peer: what was measured, and the limit."""
    verdict = "yes" if measured < asked and (peak is None or peak < peak_asked) else "NO"
    memory = "" if peak is None else f", {peak:.0f} MB peak (asked: {peak_asked})"
    print(f"| {what} | {measured:,.4g} {unit}{memory} | | | {asked} {unit} | {verdict} |", flush=True)


def sync_rows(work):
    records = 100_000
    server, url = replay(records)
    try:
        for what, asked, own, peer in (
            ("an empty store", 3, [], []),
            ("a filled store", 1.5, ["--again"], ["again"]),
        ):
            times = turns(
                {
                    "sync down": [bench, "sync", "down", "--url", url, *own],
                    "simple-salesforce + sqlite3": [python, f"{peers}/sync_peer.py", url, *peer],
                },
                rounds=3,
            )
            row(
                f"sync down into {what}, encrypted",
                "sync down",
                "simple-salesforce + sqlite3",
                times,
                asked,
                records,
                "records/s",
            )
        done = run(bench, "sync", "down", "--url", url)
        limit_row("memory of a sync down of 100,000", done["peakMegabytes"], 120, "MB")
    finally:
        server.terminate()
        server.wait()

    folder = os.path.join(work, "synced")
    run(bench, "sync", "prepare", folder, "--records", str(records))
    for what, options in (("", []), (", with conflict detection", ["--detects-conflicts"])):
        done = run(bench, "sync", "up", folder, *options)
        limit_row(
            f"sync up of 10,000 edits in {done['records']} requests{what}, own time",
            done["seconds"], 3, "s", done["peakMegabytes"], 120,
        )
    done = run(bench, "sync", "ghosts", folder, "--records", str(records))
    limit_row(
        f"ghosts among 100,000, own time beside {done['records']} requests",
        done["seconds"], 2, "s", done["peakMegabytes"], 120,
    )
    large = os.environ.get("LARGE", "1000000")
    folder = os.path.join(work, "large-synced")
    run(bench, "sync", "prepare", folder, "--records", large)
    done = run(bench, "sync", "nothing", folder)
    limit_row(
        f"re-sync with nothing new among {int(large):,}, own time beside {done['records']} request",
        done["seconds"] * 1000, 50, "ms", done["peakMegabytes"], 120,
    )


def memory_row(_):
    records = 1_000_000
    server, url = replay(records)
    try:
        done = run(bench, "sync", "down", "--url", url)
    finally:
        server.terminate()
        server.wait()
    limit_row("memory of a sync down of 1,000,000", done["peakMegabytes"], 200, "MB")


def mock_org_rows(work):
    mock_org.rows(bench, run, work, min(rounds, 3))


def core_rows(_):
    # Without a backend spans and metrics cost next to nothing.
    times = turns({name: [bench, "core", "reads", name] for name in ("plain", "traced")})
    row("empty reads of a store, without a tracer", "plain", "traced", times, 1, 100_000, "/s")
    server = subprocess.Popen([bench, "core", "serve"], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        for parallel in (1, 6):
            options = ["--url", url, "--parallel", str(parallel)]
            times = turns(
                {
                    "client": [bench, "core", "requests", "client", *options],
                    "bare URLSession": [bench, "core", "requests", "bare", *options],
                }
            )
            what = f"requests through RestClient, {parallel} at a time"
            row(what, "client", "bare URLSession", times, 0.85, 3000, "/s")
        for direction in ("down", "up"):
            done = run(bench, "core", "transfer", direction, "--url", url)
            peak = done["peakMegabytes"]
            verdict = "yes" if peak < 64 else "NO"
            speed = f"{done['bytes'] / done['seconds'] / 1e6:,.0f} MB/s"
            print(f"| 1 GB {direction}: {peak:.0f} MB peak | {speed} | | | 64 MB | {verdict} |", flush=True)
    finally:
        server.terminate()
        server.wait()


def hybrid_rows(work):
    """Node and a page on the bridge, beside the Swift calls, IndexedDB and a sync without a page."""
    www = os.path.join(work, "www")
    entries = os.path.join(www, "entries.json")
    os.mkdir(www)
    with open(os.path.join(www, "index.html"), "w") as page:
        page.write('<!DOCTYPE html><title>bench</title><script src="cordova.js"></script>')
    count, records = 10_000, 100_000
    run(bench, "hybrid", "entries", "--count", str(count), "--out", entries)
    node, page, swift, synced, peaks = [], [], [], [], []
    with mock_org.Serving(bench, "mock-org", "serve", "--records", str(records)) as info:
        org = json.dumps(info)
        for _ in range(min(rounds, 3)):
            server = subprocess.Popen(
                [bench, "hybrid", "serve", "--www", www, "--org", org],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            try:
                line = server.stdout.readline()
                node.append(run("node", f"{peers}/hybrid.mjs", line, entries))
                page.append(run("node", f"{peers}/hybrid-page.mjs", line, synced_fields))
                peaks.append(peak_megabytes(server.pid))
            finally:
                server.stdin.close()
                server.wait()
            if page[-1]["total"] != records:
                raise SystemExit(f"failed: the page's sync downloaded {page[-1]['total']} records")
            swift.append(run(bench, "hybrid", "write", entries)["seconds"])
            synced.append(run(bench, "hybrid", "sync", "--org", org)["seconds"])
    from_node = {name: statistics.median(one[name] for one in node) for name in node[0]}
    from_page = {name: statistics.median(one[name] for one in page) for name in page[0]}
    reached = "yes" if from_node["calls"] >= 8000 else "NO"
    print(f"| 10,000 small calls from Node, at once | {from_node['calls']:,.0f} /s | | | 8000 /s | {reached} |")
    print(f"| small calls from Node, one after the other | {from_node['callsInTurn']:,.0f} /s | | | | |")
    limit_row("a query page of 100 entries, from Node", from_node["page"] * 1000, 1.5, "ms")
    limit_row("a query page of 100 entries, from a page", from_page["page"] * 1000, 1.5, "ms")
    times = {
        "Node": from_node["upsert"], "page": from_page["upsert"],
        "the Swift call": statistics.median(swift), "IndexedDB": from_page["indexed"],
    }
    what = "upsert of 10,000 entries, encrypted, from"
    row(f"{what} Node", "Node", "the Swift call", times, 0.5, count, "/s")
    row(f"{what} a page", "page", "the Swift call", times, 0.5, count, "/s")
    row(f"{what} a page", "page", "IndexedDB", times, 3, count, "/s")
    times = {"page": from_page["sync"], "the same sync without a page": statistics.median(synced)}
    row("sync down of 100,000 from a page", "page", "the same sync without a page", times, 0.9, records, "/s")
    limit_row("memory of the server in all of these", max(peaks), 150, "MB")


synced_fields = (
    "Id, Name, AccountNumber, Industry, Type, Phone, BillingStreet, BillingCity, BillingPostalCode, "
    "NumberOfEmployees, AnnualRevenue, Website, Description, LastModifiedDate"
)


def peak_megabytes(process):
    """The largest resident set that a process had so far."""
    with open(f"/proc/{process}/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


tables = {
    "core": core_rows,
    "json": json_rows,
    "store": store_rows,
    "smartstore": smartstore_rows,
    "sync": sync_rows,
    "memory": memory_row,
    "mock-org": mock_org_rows,
    "hybrid": hybrid_rows,
}
print("| row | here | beside | times as fast | asked | reached |")
print("| --- | --- | --- | --- | --- | --- |")
with tempfile.TemporaryDirectory() as work:
    for name in chosen or tables:
        tables[name](work)
