import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as browserEntry from "../plugins/fieldforce/index.js";
import * as coreErrors from "../plugins/fieldforce/core/errors.js";
import * as nodeEntry from "../plugins/fieldforce/node/index.js";
import { Fieldforce } from "../plugins/fieldforce/core/fieldforce.js";
import { MobileSync } from "../plugins/fieldforce/core/mobilesync.js";
import { RestClient } from "../plugins/fieldforce/core/rest.js";
import { QueryResult, QuerySpec, SmartStore } from "../plugins/fieldforce/core/smartstore.js";
import { Connection } from "../plugins/fieldforce/core/connection.js";
import * as reactEntry from "../plugins/fieldforce/react/index.js";
import { startBridge } from "./bridge.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

async function files(folder) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await files(name)));
    else found.push(name);
  }
  return found;
}

const read = (name) => readFile(path.join(root, name), "utf8");

test("the entries of the package resolve, by condition", async () => {
  const manifest = JSON.parse(await read("plugins/fieldforce/package.json"));
  const { node, default: other } = manifest.exports["."];
  for (const target of [node.types, node.default, other.types, other.default]) await read(path.join("plugins/fieldforce", target));
  assert.deepEqual(manifest.dependencies, undefined);
  assert.deepEqual(Object.keys(browserEntry).sort(), ["BridgeError", "QuerySpec", "RestError", "SyncError", "connect"]);
  assert.deepEqual(Object.keys(nodeEntry).sort(), ["BridgeError", "QuerySpec", "RestError", "SyncError", "connect", "launch"]);
});

test("the declarations name the members of every class, and no other", async () => {
  const text = await read("plugins/fieldforce/core/types.d.ts");
  const classes = { ...coreErrors, Connection, Fieldforce, MobileSync, QueryResult, RestClient, SmartStore };
  for (const [name, type] of Object.entries(classes)) {
    const body = new RegExp(`export class ${name}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(text);
    assert.ok(body, name);
    const declared = [...body[1].matchAll(/^ {2}(\w+)(?:<.*?>)?\(/gm)].map((match) => match[1]).filter((one) => one !== "constructor");
    const methods = Object.getOwnPropertyNames(type.prototype).filter((one) => {
      return one !== "constructor" && typeof Object.getOwnPropertyDescriptor(type.prototype, one).value === "function";
    });
    assert.deepEqual(declared.sort(), methods.sort(), name);
  }
  for (const name of Object.keys(QuerySpec)) assert.match(text, new RegExp(`^ {2}${name}\\(`, "m"));
});

const wordsOf = (text) => text.split(",").map((word) => word.trim()).filter((word) => word !== "");

/** The names of values that a file of declarations exports, with those of the files that it re-exports. */
async function declaredValues(name) {
  const text = await read(name);
  const found = [...text.matchAll(/^export (?:declare )?(?:function|const|class) (\w+)/gm)].map((match) => match[1]);
  for (const [, list] of text.matchAll(/^export \{([^}]*)\}/gm)) found.push(...wordsOf(list));
  for (const [, other] of text.matchAll(/^export \* from "(.*)\.js"/gm)) {
    found.push(...(await declaredValues(path.join(path.dirname(name), `${other}.d.ts`))));
  }
  return found;
}

test("BX-129 the declarations of each entry export the values of its module, and no others", async () => {
  const entries = { "index.d.ts": browserEntry, "node/index.d.ts": nodeEntry, "react/index.d.ts": reactEntry };
  for (const [name, entry] of Object.entries(entries)) {
    const declared = await declaredValues(path.join("plugins/fieldforce", name));
    assert.deepEqual(declared.sort(), Object.keys(entry).sort(), name);
  }
  const types = await read("plugins/fieldforce/core/types.d.ts");
  const exported = /export type \{([^}]*)\}/.exec(await read("plugins/fieldforce/core/exports.d.ts"))[1];
  for (const name of wordsOf(exported)) assert.match(types, new RegExp(`^export (interface|type|class) ${name}\\b`, "m"));
});

test("BX-129 the declarations of the React Native modules name their functions, and no others", async () => {
  const text = await read("plugins/fieldforce/react/index.d.ts");
  const modules = reactEntry.reactForce({ call() {}, on() {} });
  const names = { Net: modules.net, ReactSmartStore: modules.smartstore, ReactMobileSync: modules.mobilesync };
  for (const [name, module] of Object.entries(names)) {
    const body = new RegExp(`export interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(text)[1];
    const declared = [...body.matchAll(/^ {2}(\w+)[(:]/gm)].map((match) => match[1]);
    assert.deepEqual(declared.sort(), Object.keys(module).sort(), name);
  }
  const whole = /export function reactForce[^{]*\{([\s\S]*?)\n\};/.exec(text)[1];
  const declared = [...whole.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1]);
  assert.deepEqual(declared.sort(), Object.keys(modules).sort());
  for (const [part, body] of Object.entries({ oauth: /oauth: \{(.*)\}/, forceUtil: /const forceUtil: \{([\s\S]*?)\n\}/ })) {
    const members = [...body.exec(text)[1].matchAll(/(\w+)(?:: Call|<|\()(?=[^:]*[:;>])/g)].map((match) => match[1]);
    for (const name of Object.keys(modules[part])) assert.ok(members.includes(name), `${part}.${name}`);
  }
});

test("the modules of a page import nothing that only Node has", async () => {
  for (const file of (await files(path.join(root, "plugins/fieldforce"))).filter((name) => !name.includes("/node/") && name.endsWith(".js"))) {
    const text = await readFile(file, "utf8");
    assert.doesNotMatch(text, /from "node:|process\.|Buffer/, file);
  }
});

test("a page finds the socket in its own address", async (t) => {
  const addresses = [];
  globalThis.WebSocket = class { constructor(address) { addresses.push(address); setTimeout(() => this.onclose({}), 0); } };
  globalThis.location = new URL("http://127.0.0.1:8080/token/sub/page.html");
  t.after(() => {
    delete globalThis.WebSocket;
    delete globalThis.location;
  });
  await assert.rejects(browserEntry.connect().info(), { code: "unreachable" });
  await assert.rejects(browserEntry.connect({ socket: "ws://127.0.0.1:1/x" }).info(), { code: "unreachable" });
  assert.deepEqual(addresses, ["ws://127.0.0.1:8080/token/_bridge", "ws://127.0.0.1:1/x"]);
});

test("every file that the bridge serves is served as a script", async (t) => {
  const bridge = await startBridge();
  t.after(() => bridge.close());
  const served = (await files(path.join(root, "plugins"))).map((file) => path.relative(root, file));
  for (const name of ["cordova.js", "cordova_plugins.js", ...served.filter((file) => file.endsWith(".js"))]) {
    const response = await fetch(bridge.url + name.split("/").map(encodeURIComponent).join("/"));
    assert.deepEqual([response.status, response.headers.get("content-type").split(";")[0]], [200, "text/javascript"], name);
    await response.arrayBuffer();
  }
});

test("no file holds words that the project avoids, or open ends", async () => {
  // In two pieces, so that this file passes too.
  const words = [["is t", "old"], ["is a", "sked"], ["who", "ever"], ["an", "ew"], ["no", "body"], ["some", "body"], ["strang", "er"]];
  const marks = [["TO", "DO"], ["FIX", "ME"]];
  const avoided = new RegExp([...words, ...marks].map((parts) => `\\b${parts.join("")}\\b`).join("|"), "g");
  const found = [];
  for (const file of await files(root)) {
    for (const [index, line] of (await readFile(file, "utf8")).split("\n").entries()) {
      if (avoided.test(line)) found.push(`${path.relative(root, file)}:${index + 1}: ${line.trim()}`);
    }
  }
  assert.deepEqual(found, []);
});
