"""The rows of the mock org: asked over HTTP by wrk, as fast as one org answers on one machine.

The rows that a limit was given for say whether it is reached; the bare route is a server of the same
library, in the same minutes, that answers as many bytes with nothing behind it.
"""

import json
import os
import statistics
import subprocess
import urllib.parse
import urllib.request

peers = os.path.dirname(os.path.abspath(__file__))
data = "/services/data/v66.0"
fields = (
    "Id,Name,AccountNumber,Industry,Type,Phone,BillingStreet,BillingCity,BillingPostalCode,"
    "NumberOfEmployees,AnnualRevenue,Website,Description,LastModifiedDate"
)


class Serving:
    """A server in a process of its own, by the line that it prints when it listens."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def wrk(url, seconds, connections, headers, *body):
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", f"{peers}/report.lua"]
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    done = subprocess.run([*command, url, "--", *body], stdout=subprocess.PIPE, text=True, check=True)
    report = json.loads(done.stdout.splitlines()[-1])
    if report["failed"] or not report["requests"]:
        raise SystemExit(f"failed: {report} from {url}")
    return report


def ask(url, headers, body=None):
    request = urllib.request.Request(url, data=body, headers=headers)
    if body:
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def line(what, figure, beside, times, asked, reached):
    verdict = "" if reached is None else ("yes" if reached else "NO")
    print(f"| {what} | {figure} | {beside} | {times} | {asked} | {verdict} |", flush=True)


def milliseconds(what, seconds, limit=None):
    asked = f"{limit:g} ms" if limit else ""
    line(what, f"{seconds * 1000:.2f} ms", "", "", asked, limit and seconds * 1000 < limit)


def median_of(rounds, once):
    return statistics.median(once() for _ in range(rounds))


def request_rows(bench, work, rounds):
    with Serving(bench, "mock-org", "serve", "--records", "100000") as org:
        headers = {"Authorization": f"Bearer {org['accessToken']}"}
        base = org["url"] + data
        query = f"{base}/query?q="
        one = urllib.parse.quote_plus("SELECT Id FROM Account LIMIT 1")
        record = json.loads(ask(query + one, headers))["records"][0]["attributes"]["url"]
        size = len(ask(org["url"] + record, headers))
        with Serving(bench, "mock-org", "bare-route", "--bytes", str(size)) as bare:
            rates = {"org": [], "bare": []}
            for _ in range(rounds):
                for name, server in (("org", org), ("bare", bare)):
                    report = wrk(server["url"] + record, 3, 16, headers)
                    rates[name].append(report["requests"] / report["seconds"])
        rate, bare_rate = (statistics.median(rates[name]) for name in ("org", "bare"))
        line(
            f"GET of one record, {size:,} bytes",
            f"{rate:,.0f} requests/s",
            f"a bare route: {bare_rate:,.0f} requests/s",
            f"{rate / bare_rate:.2f}",
            "5,000",
            rate >= 5000,
        )

        page = urllib.parse.quote_plus(f"SELECT {fields} FROM Account LIMIT 2000")
        size = len(ask(query + page, headers))
        gzip = {**headers, "Accept-Encoding": "gzip"}
        for what, limit, way in (("", 15, headers), (", gzip", None, gzip)):
            median = median_of(rounds, lambda: wrk(query + page, 2, 1, way)["median"])
            milliseconds(f"a page of 2,000 records, 14 fields, {size:,} bytes{what}", median, limit)
        whole = urllib.parse.quote_plus(f"SELECT {fields} FROM Account")
        median = median_of(rounds, lambda: wrk(query + whole, 2, 1, headers)["median"])
        milliseconds("the first page of 100,000 records", median)
        following = org["url"] + json.loads(ask(query + whole, headers))["nextRecordsUrl"]
        median = median_of(rounds, lambda: wrk(following, 2, 1, headers)["median"])
        milliseconds("the next page", median)

        body = os.path.join(work, "collection.json")
        with open(body, "w") as file:
            records = [
                {
                    "attributes": {"type": "Account"},
                    "Name": f"Collection {number}",
                    "Industry": "Banking",
                    "Phone": "(617) 555-0100",
                    "NumberOfEmployees": number,
                    "Description": "Visited by the north team.",
                }
                for number in range(200)
            ]
            json.dump({"allOrNone": False, "records": records}, file)
        url = f"{base}/composite/sobjects"
        with open(body, "rb") as file:
            results = json.loads(ask(url, headers, file.read()))
        if not all(result["success"] for result in results):
            raise SystemExit(f"failed: {results[0]}")
        median = median_of(rounds, lambda: wrk(url, 2, 1, headers, body)["median"])
        milliseconds("200 inserts by composite/sobjects", median, 20)


def load_rows(bench, run, rounds):
    small = statistics.median(
        run(bench, "mock-org", "load", "--records", "100000")["seconds"] for _ in range(rounds)
    )
    line("100,000 made-up records", f"{small:.2f} s", "", "", "5 s", small < 5)
    large = run(bench, "mock-org", "load", "--records", "1000000")
    line("1,000,000 made-up records", f"{large['seconds']:.1f} s", "", "", "60 s", large["seconds"] < 60)
    peak = large["peakMegabytes"]
    line("memory of that process", f"{peak:,.0f} MB", "", "", "1,500 MB", peak < 1500)


def state_rows(bench, run):
    for records in (1_000, 100_000):
        medians = run(bench, "mock-org", "snapshots", "--records", str(records))
        for what in ("save", "restore", "reset"):
            milliseconds(f"{what} with {records:,} records", medians[what])


def rows(bench, run, work, rounds):
    request_rows(bench, work, rounds)
    load_rows(bench, run, rounds)
    state_rows(bench, run)
