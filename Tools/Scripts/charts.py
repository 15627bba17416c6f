#!/usr/bin/env python3
"""Draws the ratios of Docs/Benchmarks.md as bar charts.

    Tools/Scripts/charts.py            writes Docs/Diagrams/benchmark-*.svg
    Tools/Scripts/charts.py --check    fails if a chart differs from the tables

The tables are the source: paste what Tools/bench.sh prints, then run this. The style is that of
Docs/Diagrams/layers.svg.
"""

import html
import math
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
page = root / "Docs/Benchmarks.md"
diagrams = root / "Docs/Diagrams"

width, left, right, top = 860, 404, 96, 64


def tables(heading):
    """The rows of the tables below a heading, as dictionaries by column."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^##)", page.read_text() + "\n## ", re.M | re.S)
    rows, names = [], None
    for line in section[1].splitlines():
        if not line.startswith("|"):
            names = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if names is None:
            names = cells
        elif not re.fullmatch(r"[-\s|]+", line):
            rows.append(dict(zip(names, cells)))
    return rows


def number(text):
    """The plain number of a cell, with a remark behind it or none; None for amounts with a unit."""
    found = re.match(r"(\d+(?:\.\d+)?)(?:, [a-z].*)?$", text or "")
    return float(found[1]) if found else None


def chart(title, rows, note, scale, ticks):
    """The SVG of bars; a row is (name, its peer or "", value, required or None, second value or None)."""
    step = 40 if any(row[1] for row in rows) else 30
    style = re.search(r" *<style>.*?</style>", (diagrams / "layers.svg").read_text(), re.S)[0]
    height = top + step * len(rows) + 58
    span = width - left - right
    x = lambda value: left + round(span * scale(value), 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{html.escape(title)}">',
        f"  <title>{html.escape(title)}</title>",
        "  <!-- Written by Tools/Scripts/charts.py. -->",
        style,
        f'  <rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>',
        f'  <text class="title" x="24" y="36">{html.escape(title)}</text>',
    ]
    bottom = top + step * len(rows)
    for tick in ticks:
        out.append(f'  <path class="rule" d="M{x(tick)} {top - 6} V{bottom + 4}"/>')
        out.append(f'  <text class="small" x="{x(tick)}" y="{bottom + 20}" text-anchor="middle">{tick:g}</text>')
    for index, (name, peer, value, required, second) in enumerate(rows):
        y = top + step * index
        out.append(f'  <text style="font-size: 12px" x="{left - 12}" y="{y + 16}" text-anchor="end">{html.escape(name)}</text>')
        if peer:
            out.append(f'  <text class="small" x="{left - 12}" y="{y + 31}" text-anchor="end">{html.escape(peer)}</text>')
        reached = required is None or value >= required
        out.append(
            f'  <rect class="{"disk" if reached else "stop"}" x="{left}" y="{y + 3}" '
            f'width="{round(x(value) - left, 1)}" height="18" rx="3"/>')
        out.append(f'  <text class="small" x="{width - 24}" y="{y + 16}" text-anchor="end">{value:.2f}</text>')
        if required is not None:
            out.append(f'  <path class="line" style="marker-end: none" d="M{x(required)} {y} V{y + 24}"/>')
        if second is not None:
            out.append(f'  <circle class="box" cx="{x(second)}" cy="{y + 12}" r="5"/>')
    out.append(f'  <text class="small" x="24" y="{height - 14}">{html.escape(note)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def named(rows):
    """The rows, with the name of the row before in place of "the same"."""
    last = ""
    rows = [row for row in rows if "what" in row]
    for row in rows:
        what = row["what"].replace("`", "")
        if what.startswith("the same"):
            rest = what.removeprefix("the same")
            separator = " into " if rest.startswith(" into ") else ";" if rest.startswith(";") else ","
            what = last.rsplit(separator, 1)[0] + rest if rest else last
        row["what"] = last = what
    return rows


def charts():
    store = [
        (row["what"], "", number(row["ratio to the C loop"]), number(row["required"]),
         number(row["ratio to SQLCipher"]))
        for row in named(tables("SmartStore"))
        if number(row.get("ratio to the C loop")) is not None
    ]
    yield "benchmark-store", chart(
        "SmartStore, encrypted: speed relative to a C loop over plaintext SQLite", store,
        "Bar: ratio to the C loop, longer is faster. Vertical line: the target; orange misses it. "
        "Circle: ratio to SQLCipher.",
        lambda value: value / 1.4, [0, 0.25, 0.5, 0.75, 1, 1.25])
    others = [
        (row["what"], row["peer"].replace("`", ""), number(row["ratio"]), number(row["required"]), None)
        for row in named(tables("JSON and store")) + named(tables("Sync"))
        if number(row.get("ratio")) is not None
    ]
    yield "benchmark-others", chart(
        "JSON, writes and sync: speed relative to a peer", others,
        "Ratio to the peer below each name, on a logarithmic scale; longer is faster. Vertical line: the target.",
        lambda value: (math.log10(value) + 0.5) / 2.3, [0.5, 1, 2, 5, 10, 50])


def main():
    failed = False
    for name, text in charts():
        path = diagrams / f"{name}.svg"
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.relative_to(root)}: differs from the tables. Run Tools/Scripts/charts.py.", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
