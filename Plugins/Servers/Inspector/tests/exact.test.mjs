// The JSON parser of the page, with the cases that must and must not parse.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readdir, readFile } from "node:fs/promises";
import { exactText, parseExact, plain } from "../www/data/exact.js";

test("numbers, order and duplicates stay as they were written", () => {
  const text = '{"b":12345678901234567890,"10":1.50,"2":-0,"a":[1e5,1E+2,0.1],"b":null,"":{"":[]},"t":"é😀\\ud800"}';
  assert.equal(exactText(parseExact(text)), text);
  assert.deepEqual(parseExact(text).members.map(([name]) => name), ["b", "10", "2", "a", "b", "", "t"]);
});

test("indented text parses to the same value", () => {
  const text = '{"a":[1,{"b":[]}],"c":{},"d":"x\\ny"}';
  assert.equal(exactText(parseExact(exactText(parseExact(text), 2))), text);
});

test("a member named __proto__ is a member", () => {
  const value = parseExact('{"__proto__":{"polluted":true},"toString":1}');
  assert.equal(plain(value).polluted, undefined);
  assert.deepEqual(Object.keys(plain(value)), ["__proto__", "toString"]);
  assert.equal(value.get("toString"), 1);
  assert.equal(value.get("valueOf"), undefined);
});

test("2,000 levels parse and 2,001 are an error, not a crash", () => {
  assert.equal(exactText(parseExact("[".repeat(2000) + "]".repeat(2000))).length, 4000);
  assert.throws(() => parseExact("[".repeat(100_000)), SyntaxError);
});

test("a text of 10 MB parses", () => {
  assert.equal(parseExact(`{"text":"${"x".repeat(5e6)}\\n${"y".repeat(5e6)}"}`).get("text").length, 10_000_001);
});

// The corpus of the Swift parser: y_ must parse, n_ must not.
test("the JSON test suite", async (t) => {
  const folder = new URL("../../../../Tests/Common/Resources/", import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(^|\/)[yn]_.*\.json$/.test(name));
  assert.ok(files.length > 200, `${files.length} files`);
  for (const file of files) {
    const bytes = await readFile(new URL(file.split("/").map(encodeURIComponent).join("/"), folder));
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      continue;
    }
    if (/(^|\/)y_/.test(file)) {
      assert.doesNotThrow(() => parseExact(text), file);
      assert.deepEqual(JSON.parse(exactText(parseExact(text))), JSON.parse(text), file);
    } else {
      assert.throws(() => parseExact(text), SyntaxError, file);
    }
  }
});
