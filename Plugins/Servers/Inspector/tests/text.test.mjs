// Text that is shown, words that differ, numbers, and the frames of the event stream.
import assert from "node:assert/strict";
import { test } from "node:test";
import { takeToken } from "../www/data/api.js";
import { diffWords } from "../www/data/diff.js";
import { age, bytes, count, duration, milliseconds, time } from "../www/data/format.js";
import { cutAt, plainText } from "../www/data/marks.js";
import { CursorRun } from "../www/data/run.js";
import { FrameReader } from "../www/data/stream.js";
import { HOSTILE_VALUES } from "./server/world.mjs";

test("what cannot be seen has its number in a label", () => {
  assert.equal(plainText("a\u202eb"), "a⟨U+202E⟩b");
  assert.equal(plainText("pay\u200bpal\u00ad\ufeff"), "pay⟨U+200B⟩pal⟨U+00AD⟩⟨U+FEFF⟩");
  assert.equal(plainText("x\u{e0041}"), "x⟨U+E0041⟩");
  assert.equal(plainText("\ud800 a \udc00"), "⟨U+D800⟩ a ⟨U+DC00⟩");
  for (const text of Object.values(HOSTILE_VALUES)) assert.doesNotMatch(plainText(text, 10_000), /[\u0000-\u001f\u0080-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/);
});

test("letters of all scripts and emoji stay as they are", () => {
  for (const text of ["Grüße 東京 עברית العربية हिन्दी", "👩‍💻 👍🏽 ❤️ 🏳️‍🌈 1️⃣"]) assert.equal(plainText(text), text);
});

test("a flood of combining marks is cut", () => {
  assert.equal(plainText("z" + "\u0301".repeat(300), 1000), "z" + "\u0301".repeat(8) + "⟨+292⟩");
});

test("a text is cut between characters, and says so", () => {
  assert.equal(plainText("abcdef", 3), "abc…");
  assert.equal(cutAt("ab😀", 3), "ab");
  assert.equal(plainText("abc", 3), "abc");
});

test("the token leaves the address and stays for the tab", () => {
  const kept = new Map();
  const storage = { setItem: (key, value) => kept.set(key, value), getItem: (key) => kept.get(key) ?? null };
  const replaced = [];
  const history = { replaceState: (_, __, address) => replaced.push(address) };
  assert.equal(takeToken({ hash: "#token=AAAAAAAAAAAAAAAAAAAAAA", pathname: "/p/" }, history, storage), "AAAAAAAAAAAAAAAAAAAAAA");
  assert.deepEqual(replaced, ["/p/#/"]);
  assert.equal(takeToken({ hash: "#/stores", pathname: "/p/" }, history, storage), "AAAAAAAAAAAAAAAAAAAAAA");
  for (const hash of ["#token=", "#token=<script>", "#token=a b", "#/token=AAAAAAAAAAAAAAAAAAAAAA"]) {
    assert.equal(takeToken({ hash, pathname: "/p/" }, history, { setItem() {}, getItem: () => null }), null);
  }
});

test("a diff has all words of both texts", () => {
  const cases = [["", ""], ["a b c", "a c"], ["one two three", "one 2 three four"], ["", "x"], ["x", ""], ["same", "same"], ["ab\ncd", "ab\nxy\ncd"]];
  for (const [before, after] of cases) {
    const parts = diffWords(before, after);
    const text = (...kinds) => parts.filter(({ kind }) => kinds.includes(kind)).map((part) => part.text).join("");
    assert.equal(text("same", "removed"), before);
    assert.equal(text("same", "added"), after);
  }
  // Texts whose table of all pairs would fill the memory.
  assert.ok(diffWords("a b ".repeat(5000), "b a c ".repeat(5000)).length > 0);
});

test("numbers and times are written for people", () => {
  assert.deepEqual([count(1_000_000), count(null), count(-1)], ["1,000,000", "–", "–"]);
  assert.deepEqual([0, 999, 1000, 1_500_000, 9.999e8].map(bytes), ["0 B", "999 B", "1.0 kB", "1.5 MB", "1.0 GB"]);
  assert.deepEqual([3.14159, 250, 12_345].map(milliseconds), ["3.14 ms", "250 ms", "12.3 s"]);
  assert.deepEqual([0, 4.56, 59, 3_725, 90_000].map(duration), ["0 s", "4.6 s", "59 s", "1 h 2 min", "1 d 1 h"]);
  assert.deepEqual([time(0), time(-1)], ["–", "–"]);
  assert.deepEqual([age(0), age(1000, 61_000), age(61_000, 1000)], ["age unknown", "1 min old", "in 1 min"]);
});

test("events come out of a stream however it is cut", () => {
  const text = ": hello\n\nid: 1\nevent: log\ndata: {\"a\":\ndata: 1}\n\nid: 2\r\nevent: sync\r\ndata: {}\r\n\r\n";
  for (let size = 1; size < text.length; size++) {
    const reader = new FrameReader();
    const found = [];
    for (let index = 0; index < text.length; index += size) found.push(...reader.read(text.slice(index, index + size)));
    assert.deepEqual(found, [{ id: "1", event: "log", data: '{"a":\n1}' }, { id: "2", event: "sync", data: "{}" }], `parts of ${size}`);
  }
});

/** A table of which the run sees only what it needs. */
function fakeTable() {
  return {
    rows: [], scrollToTop() {}, scrollToEnd() {}, checks: 0, checkEdges() { this.checks++; },
    extendEnd(rows, dropped) { this.rows = [...this.rows.slice(dropped), ...rows]; },
    extendStart(rows, dropped) { this.rows = [...rows, ...(dropped ? this.rows.slice(0, -dropped) : this.rows)]; },
  };
}

test("a run joins pages without a gap, drops far ones, and finds them again", async () => {
  const table = fakeTable();
  const fetch = async ({ after, before, at = 0 }) => {
    const start = after !== undefined ? Number(after) + 1 : before !== undefined ? Math.max(Number(before) - 100, 0) : at;
    const rows = Array.from({ length: 100 }, (_, index) => start + index);
    return { rows, next: String(rows.at(-1)), previous: start > 0 ? String(start) : null, total: 1e6 };
  };
  const run = new CursorRun(table, fetch);
  await run.open({ at: 5000 });
  const turn = async (edge, times) => {
    for (let index = 0; index < times; index++) {
      table.onedge(edge);
      await new Promise(setImmediate);
      assert.deepEqual(table.rows, Array.from({ length: table.rows.length }, (_, offset) => table.rows[0] + offset));
    }
  };
  await turn("end", 60);
  assert.deepEqual([table.rows.length, table.rows.at(-1)], [3000, 11_099]);
  await turn("start", 110);
  assert.deepEqual([table.rows.length, table.rows[0]], [3000, 0]);
});

test("a page that comes late, after its neighbour was dropped, leaves no gap", async () => {
  const table = fakeTable();
  const late = [];
  const fetch = async ({ after, before, at = 0 }) => {
    if (before !== undefined) await new Promise((done) => late.push(done));
    const start = after !== undefined ? Number(after) + 1 : before !== undefined ? Number(before) - 100 : at;
    const rows = Array.from({ length: 100 }, (_, index) => start + index);
    return { rows, next: String(rows.at(-1)), previous: String(start), total: 1e6 };
  };
  const run = new CursorRun(table, fetch);
  await run.open({ at: 5000 });
  table.onedge("start");
  for (let index = 0; index < 40; index++) {
    table.onedge("end");
    await new Promise(setImmediate);
  }
  late.shift()();
  await new Promise(setImmediate);
  assert.deepEqual(table.rows, Array.from({ length: 3000 }, (_, offset) => table.rows[0] + offset));
  // The page is not shown: the end where it was missed asks for another one.
  assert.equal(table.checks, 1);
});

test("a search runs on until it has found something to show, and an error stops it once", async () => {
  const table = fakeTable();
  let calls = 0;
  const run = new CursorRun(table, async () => {
    calls++;
    if (calls === 6) throw new Error("broken");
    return { rows: calls === 3 ? [1] : [], next: "n", previous: null, scanned: 10, complete: false };
  });
  const errors = [];
  let scanned = 0;
  run.onerror = (error) => errors.push(error.message);
  run.onprogress = (progress) => (scanned = progress.scanned);
  await run.open({ search: "x" });
  for (let index = 0; index < 20; index++) await new Promise(setImmediate);
  assert.deepEqual([calls, scanned, errors, table.rows], [6, 50, ["broken"], [1]]);
});
