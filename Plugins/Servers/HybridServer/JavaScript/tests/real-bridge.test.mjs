// What only the bridge of `fieldforce` can show: its program, its login and its users.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { Browser, chromium } from "../../../../../Tools/Scripts/chromium.mjs";
import { connect, launch, QuerySpec } from "../plugins/fieldforce/node/index.js";
import { startBridge } from "./bridge.mjs";
import { openPage, plain } from "./support/page.mjs";
import { tool } from "./support/real-bridge.mjs";

const skip = tool ? false : "FIELDFORCE_TOOL names no program";
const INDEXES = [{ path: "Name", type: "string" }];
const file = (name) => new URL(`../plugins/com.salesforce/libs/${name}`, import.meta.url).href;

async function folder(t, files) {
  const name = await mkdtemp(path.join(tmpdir(), "www-"));
  t.after(() => rm(name, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(name, file), text);
  return name;
}

async function withBridge(t, options) {
  const bridge = await startBridge(options);
  const client = connect(bridge.line);
  t.after(async () => {
    client.close();
    await bridge.close();
  });
  return { bridge, client };
}

test("launch starts the program and ends it", { skip }, async (t) => {
  const www = await folder(t, { "index.html": "<p>hi</p>", "bootconfig.json": '{"startPage": "one.html"}' });
  const state = path.join(await folder(t, {}), "state");
  const client = await launch({ command: [tool], www, state, port: 0, appName: "An app", appVersion: "1.2", testRunner: true });
  assert.equal(client.bridge.startUrl, `${client.bridge.url}one.html`);
  const info = await client.info();
  assert.deepEqual([info.sdkVersion, info.appName, info.appVersion, info.bootConfig.startPage], ["14.0.0", "An app", "1.2", "one.html"]);
  assert.ok(info.forcePluginsAvailable.includes("com.salesforce.testrunner"));
  assert.ok(info.forcePluginsAvailable.every((name) => name.startsWith("com.salesforce.")));
  const start = Date.now();
  await client.close();
  assert.ok(Date.now() - start < 10_000);
});

test("5,000 calls at once get one response each, calls of the store in their order", { skip }, async (t) => {
  const { client } = await withBridge(t);
  const store = client.store();
  await store.registerSoup("s", INDEXES);
  const order = [];
  const call = (number) => client.connection.call("com.salesforce.smartstore", "pgSoupExists", { soupName: "s" }).then(() => order.push(number));
  await Promise.all(Array.from({ length: 5000 }, (_, number) => call(number)));
  assert.deepEqual(order, Array.from({ length: 5000 }, (_, number) => number));
});

test("a call of 17 MB fails alone, one of 15 MB is carried out", { skip }, async (t) => {
  const { client } = await withBridge(t);
  const store = client.store();
  await store.registerSoup("s", INDEXES);
  await assert.rejects(store.upsert("s", [{ Name: "x".repeat(17 << 20) }]), { code: "tooLarge" });
  const [entry] = await store.upsert("s", [{ Name: "n", text: "x".repeat(15 << 20) }]);
  assert.equal(entry.text.length, 15 << 20);
  assert.equal((await store.sql("select count(*) from {s}").toArray())[0][0], 1);
});

test("the modules of React Native respond on the same socket", { skip }, async (t) => {
  const { bridge, client } = await withBridge(t);
  await bridge.org.create("Account", { Name: "a" });
  const react = (module, method, message) => client.connection.call(module, method, message);
  const soup = { soupName: "s", indexes: ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" })) };
  assert.equal(await react("SFSmartStoreReactBridge", "registerSoup", soup), "s");
  const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
  const done = await react("MobileSyncReactBridge", "syncDown", { target, soupName: "s", options: { mergeMode: "OVERWRITE" } });
  assert.deepEqual([done.status, done.totalSize, done.isGlobalStore], ["DONE", 1, false]);
  assert.equal(await react("SFMobileSyncReactBridge", "getSyncStatus", { syncName: "none" }), null);
  const versions = await react("SalesforceNetReactBridge", "sendRequest", { endPoint: "/services/data", path: "/" });
  assert.ok(Array.isArray(versions));
  assert.equal((await react("SFOauthReactBridge", "getAuthCredentials", {})).userId, bridge.org.line.userId);
});

const BOOT = JSON.stringify({
  remoteAccessConsumerKey: "PlatformCLI",
  oauthRedirectURI: "http://localhost:0/OauthRedirect",
  oauthScopes: ["web", "api"],
  isLocal: true,
  startPage: "index.html",
  shouldAuthenticate: false,
});
const USER_STORE = JSON.stringify({ soups: [{ soupName: "mine", indexes: INDEXES }] });
const INDEX = `<!DOCTYPE html>
<script src="cordova.js"></script>
<script src="plugins/com.salesforce/libs/force.js"></script>
<script>
  window.ready = new Promise((resolve) => document.addEventListener("deviceready", resolve, false));
</script>`;

test("HT-20 a page without a user uses the global store, logs in when it wants, and gets the user's soups", { skip }, async (t) => {
  const www = await folder(t, { "index.html": INDEX, "bootconfig.json": BOOT, "userstore.json": USER_STORE });
  const { bridge, client } = await withBridge(t, { www, loggedIn: false });
  const page = await openPage(bridge.startUrl, ["cordova.js", file("force.js"), file("force+promise.js")]);
  t.after(() => page.unload());
  await page.deviceReady();
  const { force, forceJsClient, navigator } = page.window;
  assert.equal(await navigator.smartstoreClient.soupExists(true, "mine"), false);
  await assert.rejects(navigator.smartstoreClient.soupExists("mine"), (error) => /No user account found/.test(error));
  await assert.rejects(forceJsClient.versions(), (error) => /No user account found/.test(JSON.parse(error).error));
  const open = { path: `${bridge.org.line.url}/services/data/`, doesNotRequireAuthentication: true };
  const versions = await client.connection.call("com.salesforce.network", "pgSendRequest", open);
  assert.ok(Array.isArray(versions));
  // Two at a time share one login.
  const logins = [1, 2].map(() => new Promise((resolve, reject) => force.login(resolve, reject)));
  assert.match(await bridge.logInAtBrowser(), /You are logged in/);
  await Promise.all(logins);
  assert.equal(force.getUserId(), bridge.org.line.userId);
  assert.equal(await navigator.smartstoreClient.soupExists("mine"), true);
  assert.equal((await forceJsClient.query("SELECT Id FROM Account")).totalSize, 0);
  assert.equal(page.reloads, undefined);
});

test("HT-21 a logout in one page makes all pages load again", { skip }, async (t) => {
  const { bridge } = await withBridge(t);
  const pages = [];
  for (let i = 0; i < 2; i++) pages.push(await openPage(bridge.url + "index.html", ["cordova.js"]));
  t.after(() => pages.forEach((page) => page.unload()));
  await Promise.all(pages.map((page) => page.deviceReady()));
  const reloaded = pages.map((page) => new Promise((resolve) => page.document.addEventListener("fieldforceReload", resolve)));
  pages[0].window.cordova.require("com.salesforce.plugin.sfaccountmanager").logout();
  await Promise.all(reloaded);
  const fresh = await openPage(bridge.url + "index.html", ["cordova.js"]);
  t.after(() => fresh.unload());
  await fresh.deviceReady();
  const { exec } = fresh.window.cordova;
  const users = await new Promise((resolve, reject) => exec(resolve, reject, "com.salesforce.sfaccountmanager", "getUsers", []));
  assert.deepEqual(plain(users), []);
  assert.deepEqual(pages.map((page) => page.reloads), [1, 1]);
});

test("a bridge that ends in the middle of calls fails them, and ends with 0", { skip }, async (t) => {
  const { bridge, client } = await withBridge(t);
  const store = client.store();
  await store.registerSoup("s", INDEXES);
  const entries = Array.from({ length: 2000 }, (_, index) => ({ Name: `n${index}` }));
  const upserts = Array.from({ length: 20 }, () => store.upsert("s", entries).then(() => true, (error) => error.code));
  await upserts[0];
  const start = Date.now();
  assert.equal(await bridge.program.end(), 0, bridge.program.errors);
  assert.ok(Date.now() - start < 10_000);
  const outcomes = await Promise.all(upserts);
  assert.ok(outcomes.every((one) => one === true || one === "closed" || one === "unreachable"), JSON.stringify(outcomes));
});

test("HT-20 and HT-21 in Chromium: login, storage of the page, logout", { skip: skip || (chromium ? false : "there is no Chromium") }, async (t) => {
  const www = await folder(t, { "index.html": INDEX, "bootconfig.json": BOOT, "userstore.json": USER_STORE });
  const { bridge } = await withBridge(t, { www, loggedIn: false });
  const browser = await Browser.start();
  t.after(() => browser.close());
  await browser.open(bridge.startUrl);
  await browser.evaluate("ready");
  const login = browser.evaluate("new Promise((resolve, reject) => force.login(() => resolve(force.getUserId()), (error) => reject(new Error(error))))");
  await bridge.logInAtBrowser();
  assert.equal(await login, bridge.org.line.userId);
  assert.equal(await browser.evaluate("navigator.smartstoreClient.soupExists('mine')"), true);
  await browser.evaluate("localStorage.setItem('a', '1'), sessionStorage.setItem('b', '2'), window.former = true");
  await browser.evaluate("cordova.require('com.salesforce.plugin.oauth').logout()");
  for (;;) {
    const isFormer = await browser.evaluate("window.former === true || !window.ready").catch(() => true);
    if (!isFormer) break;
  }
  await browser.evaluate("ready");
  assert.deepEqual(await browser.evaluate("[localStorage.length, sessionStorage.length]"), [0, 0]);
  const error = await browser.evaluate("new Promise((resolve) => cordova.require('com.salesforce.plugin.oauth').getAuthCredentials(resolve, resolve))");
  assert.equal(error, "Not authenticated");
});

const noProc = process.platform === "linux" ? false : "only Linux lists the descriptors of a process";

test("clients that go away in the middle of anything leave no descriptor and whole batches", { skip: skip || noProc }, async (t) => {
  const { bridge, client } = await withBridge(t);
  const { host, port, pathname } = new URL(bridge.url);
  const descriptors = async () => (await readdir(`/proc/${bridge.program.process.pid}/fd`)).length;
  const indexes = ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" }));
  const entries = Array.from({ length: 500 }, (_, index) => ({ Name: `n${index}` }));
  const querySpec = QuerySpec.all("Name", { pageSize: 5 });
  const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  const beginnings = [
    "GET / HT", `GET ${pathname}cordova.js HTTP/1.1\r\nHost: ${host}\r\n\r\n`, `GET ${pathname}_bridge HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`,
  ];
  const leave = async () => {
    for (let i = 0; i < 6; i++) {
      const one = connect(bridge.line);
      const call = (service, action, message) => one.connection.call(`com.salesforce.${service}`, action, { soupName: "s", ...message });
      await call("smartstore", "pgRegisterSoup", { indexes });
      const { cursorId } = await call("smartstore", "pgQuerySoup", { querySpec });
      const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
      const calls = [
        call("smartstore", "pgUpsertSoupEntries", { entries }), call("smartstore", "pgMoveCursorToPageIndex", { cursorId, index: 1 }),
        call("mobilesync", "syncDown", { target, options: { mergeMode: "OVERWRITE" } }),
      ];
      one.close();
      await Promise.allSettled(calls);
    }
    for (const text of beginnings) {
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => {
          const socket = connectSocket(Number(port), "127.0.0.1", () => socket.write(text, () => socket.destroy()));
          socket.on("close", resolve).on("error", resolve);
        });
      }
    }
    const [[count]] = await client.store().sql("select count(*) from {s}").toArray();
    assert.equal(count % entries.length, 0);
  };
  await leave();
  // What the stores and the connections to the org keep open is open after the first time.
  const settled = async (limit) => {
    for (let last = Infinity, tries = 0; tries < 600; tries++) {
      last = await descriptors();
      if (last <= limit) return last;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return descriptors();
  };
  const before = await settled(40);
  for (let round = 0; round < 4; round++) await leave();
  // A busy machine has up to six connections to the org and some more readers of the store. A leak is at least one of each round's 21 clients.
  const most = before + 8;
  const after = await settled(most);
  assert.ok(after <= most, `${before} descriptors became ${after}`);
});

test("conflicts are listed and resolved, by a page and by a program", { skip }, async (t) => {
  const { bridge, client } = await withBridge(t);
  const store = client.store();
  const syncs = client.syncs();
  await store.registerSoup("accounts", ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" })));
  const ids = [await bridge.org.create("Account", { Name: "Arbour" }), await bridge.org.create("Account", { Name: "Birch" })];
  const options = { mergeMode: "MERGE_FIELDS", fieldlist: ["Name"] };
  await syncs.syncDown({ target: { type: "soql", query: "SELECT Id, Name FROM Account" }, soupName: "accounts", options });
  const entries = await store.query("accounts", QuerySpec.all("Name")).toArray();
  await store.upsert("accounts", entries.map((entry) => ({ ...entry, Name: `${entry.Name} here`, __local__: true, __locally_updated__: true })));
  for (const id of ids) await bridge.org.update("Account", id, { Name: "there" });
  await syncs.syncUp({ soupName: "accounts", options, name: "up" });
  const conflicts = await syncs.conflicts("accounts");
  assert.deepEqual(conflicts.map((one) => one.fields[0].theirs), ["there", "there"]);
  await assert.rejects(syncs.resolve(conflicts[0], "perhaps"), /resolution must be one of mine, theirs/);
  await syncs.resolve(conflicts[0], "mine");

  const page = await openPage(bridge.url + "index.html", ["cordova.js"]);
  t.after(() => page.unload());
  await page.deviceReady();
  const plugin = page.window.cordova.require("com.salesforce.plugin.mobilesync");
  const rest = await new Promise((resolve, reject) => plugin.getConflicts("accounts", resolve, reject));
  assert.deepEqual(plain(rest.map((one) => one.key)), [conflicts[1].key]);
  await new Promise((resolve, reject) => plugin.resolveConflict(rest[0].key, { values: { Name: "both" } }, resolve, reject));
  assert.deepEqual(plain(await new Promise((resolve, reject) => plugin.getConflicts(resolve, reject))), []);
  await syncs.reSync("up");
  const { records } = await bridge.org.query("SELECT Name FROM Account ORDER BY Name");
  assert.deepEqual(records.map((one) => one.Name), ["Arbour here", "both"]);
});
