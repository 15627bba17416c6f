// What holds for the files of all samples.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const samples = fileURLToPath(new URL("../../../../../Samples/Hybrid/", import.meta.url));
const entries = await readdir(samples, { withFileTypes: true });
const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
const read = (...parts) => readFile(path.join(samples, ...parts), "utf8");

const SHARED = ["common.css", "common.js", "conflicts.js", "records.js", "sync.js", "versions.js"];

test("files that several samples share are the same in each", async () => {
  const shared = new Map();
  for (const name of names) {
    for (const file of await readdir(path.join(samples, name, "www"))) {
      // The notes have a sync.js of their own, over the plug-ins of the Mobile SDK.
      if (!SHARED.includes(file) || (name === "OfflineNotes" && file === "sync.js")) continue;
      shared.set(file, [...(shared.get(file) || []), await read(name, "www", file)]);
    }
  }
  assert.deepEqual([...shared.keys()].sort(), SHARED);
  for (const [file, texts] of shared) assert.equal(new Set(texts).size, 1, `${file} differs between samples. Copy it from one to the others.`);
});

test("every sample has the boot configuration and the files that its pages load", async () => {
  assert.deepEqual(names.sort(), ["AccountEditor", "ContactExplorer", "MobileSyncExplorer", "NoteSync", "OfflineNotes", "RestExplorer"]);
  for (const name of names) {
    const boot = JSON.parse(await read(name, "www/bootconfig.json"));
    for (const key of ["remoteAccessConsumerKey", "oauthRedirectURI", "startPage", "errorPage"]) assert.equal(typeof boot[key], "string", `${name}: ${key}`);
    assert.deepEqual([boot.isLocal, typeof boot.shouldAuthenticate, typeof boot.attemptOfflineLoad], [true, "boolean", "boolean"]);
    const { displayName, version } = JSON.parse(await read(name, "package.json"));
    const page = await read(name, "www", boot.startPage);
    assert.match(page, new RegExp(`<title>${displayName}</title>`));
    assert.match(version, /^\d+\.\d+\.\d+$/);
    // cordova.js and the plug-ins come from the bridge.
    const own = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]).filter((file) => !/^(cordova\.js|plugins\/|data:)/.test(file));
    for (const file of own) await read(name, "www", file);
    for (const file of (await readdir(path.join(samples, name, "www"))).filter((one) => one.endsWith(".json"))) JSON.parse(await read(name, "www", file));
  }
});
