// What the files of the page may hold: nothing that parses text as markup or code, nothing from elsewhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

const www = new URL("../www/", import.meta.url);
const tests = new URL("./", import.meta.url);
const read = async (folder, pattern) => Promise.all((await readdir(folder, { recursive: true })).filter((name) => pattern.test(name)).map(async (name) => [name, await readFile(new URL(name, folder), "utf8")]));

test("no file parses text as markup or code, or sets styles by text", async () => {
  for (const [name, text] of await read(www, /\.(js|html)$/)) {
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\("|srcdoc|DOMParser|createContextualFragment|cssText|setAttribute\("style"|javascript:/, name);
  }
  const [[, html]] = await read(www, /^index\.html$/);
  assert.doesNotMatch(html, /<style|style=|\son\w+=|<script(?![^>]*src=)/);
});

test("no file loads anything from elsewhere", async () => {
  for (const [name, text] of await read(www, /\.(js|html|css|svg)$/)) {
    for (const [address] of text.matchAll(/https?:\/\/[^\s"'`)]+/g)) assert.match(address, /^http:\/\/www\.w3\.org\//, name);
    for (const [, target] of text.matchAll(/\bfrom "([^"]+)"|\bimport "([^"]+)"/g)) {
      if (target) assert.match(target, /^\.{1,2}\/[\w./-]+\.js$/, name);
    }
  }
});

test("all modules are reached from main.js, and what they import exists", async () => {
  const files = new Map(await read(www, /\.js$/));
  const reached = new Set();
  const visit = (name) => {
    if (reached.has(name)) return;
    reached.add(name);
    assert.ok(files.has(name), `${name} does not exist`);
    for (const [, one, other] of files.get(name).matchAll(/^(?:import|export) [^;]*?"(\.[^"]+)"|^\} from "(\.[^"]+)"/gm)) visit(path.posix.join(path.posix.dirname(name), one ?? other));
  };
  visit("main.js");
  assert.deepEqual([...files.keys()].filter((name) => !reached.has(name)), []);
});

test("what a module imports, it uses", async () => {
  const unused = [];
  for (const [name, text] of [...await read(www, /\.js$/), ...await read(tests, /\.mjs$/)]) {
    for (const [statement, names] of text.matchAll(/^import \{([^}]+)\} from .*$/gm)) {
      const rest = text.replace(statement, "");
      for (const one of names.split(",").map((part) => part.trim().split(" as ").pop())) if (!new RegExp(`\\b${one}\\b`).test(rest)) unused.push(`${name}: ${one}`);
    }
  }
  assert.deepEqual(unused, []);
});

test("files are short, and none holds open ends", async () => {
  for (const [name, text] of [...await read(www, /\.(js|html|css)$/), ...await read(tests, /\.mjs$/)]) {
    assert.ok(text.split("\n").length <= 370, `${name} has ${text.split("\n").length} lines`);
    if (name !== "source.test.mjs") assert.doesNotMatch(text, /TODO|FIXME|XXX|debugger|console\.log\((?!server\.url)/, name);
  }
});
