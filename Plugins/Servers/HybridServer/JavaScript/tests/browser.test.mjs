// The same scripts in a real browser. Without Chromium this says so and is skipped.
import assert from "node:assert/strict";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { startBridge } from "./bridge.mjs";
import { Browser, chromium } from "../../../../../Tools/Scripts/chromium.mjs";
import { createAll, onTestBridge } from "./support/harness.mjs";
import { tool } from "./support/real-bridge.mjs";

const skip = chromium ? false : "there is no Chromium on this machine";
const here = fileURLToPath(new URL(".", import.meta.url));

const INDEX = `<!DOCTYPE html>
<script src="backbone.js"></script>
<script>
  window.order = [];
  document.addEventListener("deviceready", () => order.push("before cordova.js"));
</script>
<script src="cordova.js"></script>
<script>
  document.addEventListener("deviceready", () => order.push("after cordova.js"), false);
  window.ready = new Promise((resolve) => document.addEventListener("deviceready", resolve, false));
</script>
<script src="plugins/com.salesforce/libs/force.js"></script>
<script src="plugins/com.salesforce/libs/force+promise.js"></script>
<script src="plugins/com.salesforce/libs/mobilesync.js"></script>
<body></body>`;

const MODULE = `<!DOCTYPE html>
<script type="module">
  import { connect, QuerySpec } from "./plugins/fieldforce/index.js";
  window.result = (async () => {
    const fieldforce = connect();
    const store = fieldforce.store("modules");
    await store.registerSoup("s", ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" })));
    const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
    const statuses = [];
    for await (const state of fieldforce.syncs(store).syncDown({ target, soupName: "s" })) statuses.push(state.status);
    const names = [];
    for await (const entry of store.query("s", QuerySpec.all("Name", { pageSize: 2 }))) names.push(entry.Name);
    return { statuses, names };
  })();
</script>`;

const FORCE = `<!DOCTYPE html>
<script src="cordova.js"></script>
<script src="plugins/com.salesforce/libs/cordova.force.js"></script>
<script>window.early = typeof cordova.require("com.salesforce.plugin.mobilesync").syncDown;</script>`;

const MOCK = `<!DOCTYPE html>
<script src="mock/MockCordova.js"></script>
<script src="mock/MockSmartStore.js"></script>
<script src="plugins/com.salesforce/libs/cordova.force.js"></script>
<script src="plugins/com.salesforce/libs/force.js"></script>
<script src="backbone.js"></script>
<script src="plugins/com.salesforce/libs/mobilesync.js"></script>
<script src="mock/MockMobileSyncPlugin.js"></script>
<script src="mock/MockSDKInfo.js"></script>`;

test("in Chromium", { skip }, async (t) => {
  const www = await mkdtemp(path.join(tmpdir(), "www-"));
  for (const [name, text] of Object.entries({ "index.html": INDEX, "module.html": MODULE, "force.html": FORCE, "mock.html": MOCK })) {
    await writeFile(path.join(www, name), text);
  }
  await cp(path.join(here, "support/backbone.js"), path.join(www, "backbone.js"));
  await cp(path.join(here, "../mock"), path.join(www, "mock"), { recursive: true });
  const bridge = await startBridge({ www });
  const browser = await Browser.start();
  t.after(async () => {
    await browser.close();
    await bridge.close();
    await rm(www, { recursive: true });
  });
  await createAll(bridge.org, "Account", Array.from({ length: 5 }, (_, i) => ({ Name: `a${i}` })));

  await t.test("deviceready comes once to listeners of any time", async () => {
    await browser.open(bridge.startUrl);
    await browser.evaluate("ready");
    await browser.evaluate("new Promise((done) => document.addEventListener('deviceready', () => { order.push('late'); done(); }))");
    assert.deepEqual(await browser.evaluate("order"), ["before cordova.js", "after cordova.js", "late"]);
  });

  await t.test("stores, cursors and errors", async () => {
    const result = await browser.evaluate(`(async () => {
      const store = navigator.smartstoreClient;
      await store.registerSoup("s", [{ path: "Name", type: "string" }]);
      await store.upsertSoupEntries("s", Array.from({ length: 25 }, (_, i) => ({ Name: "n" + String(i).padStart(2, "0") })));
      let cursor = await store.querySoup("s", navigator.smartstore.buildAllQuerySpec("Name", null, 10));
      cursor = await store.moveCursorToNextPage(cursor);
      const error = await store.querySoup("none", navigator.smartstore.buildAllQuerySpec("Name")).catch((reason) => reason);
      return [cursor.totalPages, cursor.currentPageOrderedEntries[0].Name, error];
    })()`);
    assert.deepEqual(result.slice(0, 2), [3, "n10"]);
    assert.match(result[2], /^Soup: none does not exist/);
  });

  await t.test("a listener attached after the response gets DONE, also as window.event", async () => {
    const result = await browser.evaluate(`(async () => {
      const sync = cordova.require("com.salesforce.plugin.mobilesync");
      const { promiser } = cordova.require("com.salesforce.util.promiser");
      await navigator.smartstoreClient.registerSoup("accounts", ["Id", "__local__"].map((path) => ({ path, type: "string" })));
      const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
      const state = await promiser(sync, "syncDown")(target, "accounts", { mergeMode: "OVERWRITE" });
      const done = await new Promise((resolve) => document.addEventListener("sync", () => {
        if (window.event.detail.status === "DONE") resolve(window.event.detail);
      }));
      return [state.status, done.status, done.totalSize, done.isGlobalStore];
    })()`);
    assert.deepEqual(result, ["RUNNING", "DONE", 5, false]);
  });

  await t.test("requests leave through the bridge alone, models are saved and fetched", async () => {
    const result = await browser.evaluate(`(async () => {
      await new Promise((resolve, reject) => force.login(resolve, reject));
      Force.init();
      const cache = new Force.StoreCache("models");
      await cache.init();
      const Account = Force.SObject.extend({ sobjectType: "Account", fieldlist: ["Id", "Name"], cache });
      const account = new Account({ Name: "from a page" });
      await new Promise((success, error) => account.save(null, { success, error }));
      const { records } = await forceJsClient.query("SELECT Id, Name FROM Account WHERE Id = '" + account.id + "'");
      const outside = performance.getEntriesByType("resource").filter((one) => !one.name.startsWith(location.origin));
      return [records[0].Name, (await cache.retrieve(account.id)).Name, outside.length];
    })()`);
    assert.deepEqual(result, ["from a page", "from a page", 0]);
  });

  await t.test("navigator.connection can be replaced by a plug-in", async () => {
    const replaced = await browser.evaluate(`(() => {
      cordova.define("mine", (require, exports, module) => (module.exports = { type: "wifi" }));
      const mapper = cordova.require("cordova/modulemapper");
      mapper.reset();
      mapper.clobbers("mine", "navigator.connection");
      mapper.mapModules(window);
      return navigator.connection.type;
    })()`);
    assert.equal(replaced, "wifi");
  });

  await t.test("a reload in the middle of calls gives a working page", async () => {
    for (let round = 0; round < 5; round++) {
      await browser.evaluate(`for (let i = 0; i < 200; i++) navigator.smartstoreClient.upsertSoupEntries("s", [{ Name: "r" }]).catch(() => {})`);
      await browser.open(bridge.startUrl);
      await browser.evaluate("ready");
    }
    assert.equal(await browser.evaluate("navigator.smartstoreClient.soupExists('s')"), true);
    if (!tool) assert.equal(bridge.connections, 1);
  });

  await t.test("HT-10 the list of accounts switches to the user who is chosen, and says what went wrong", onTestBridge, async () => {
    const user = (userId, isCurrent) => ({ orgId: "00D000000000001AAA", userId, username: `${userId}@example.com`, isCurrent });
    const show = (users) => bridge.emit("fieldforceChooseUser", { users, canLogIn: true });
    const list = `document.querySelector("body > div")?.shadowRoot?.querySelector("dialog[open]")`;
    const buttons = `[...${list}.querySelectorAll("button")]`;
    const press = (text) => browser.evaluate(`${buttons}.find((button) => button.textContent === ${JSON.stringify(text)}).click()`);
    const sent = () => bridge.calls.filter((one) => one.action === "switchToUser").map((one) => one.args);
    show([user("005000000000001AAA", false), user("005000000000009AAA", false), user("005000000000002AAA", true)]);
    await browser.waitFor(list + " !== undefined");
    assert.deepEqual(await browser.evaluate(`${buttons}.map((button) => [button.textContent, button.ariaCurrent])`), [
      ["005000000000001AAA@example.com", null], ["005000000000009AAA@example.com", null], ["005000000000002AAA@example.com", "true"],
      ["Log in as another user", null], ["Cancel", null],
    ]);
    await press("005000000000009AAA@example.com");
    await browser.waitFor(`${list}.querySelector("[role=alert]").textContent === "No user with id 005000000000009AAA"`);
    await press("005000000000001AAA@example.com");
    await browser.waitFor(list + " === undefined");
    show([user("005000000000002AAA", true)]);
    await browser.waitFor(list + " !== undefined");
    await press("Log in as another user");
    await browser.waitFor(list + " === undefined");
    assert.deepEqual(sent(), [[user("005000000000009AAA", false)], [user("005000000000001AAA", false)], [{ newUser: true }]]);
    await browser.evaluate(`document.addEventListener("fieldforceChooseUser", (event) => { event.preventDefault(); window.own = true; })`);
    show([user("005000000000002AAA", true)]);
    await browser.waitFor("window.own === true");
    assert.equal(await browser.evaluate(list + " === undefined"), true);
  });

  await t.test("a bridge that drops its sockets fails the calls of the page", onTestBridge, async () => {
    const error = browser.evaluate(`new Promise((resolve) => cordova.exec(resolve, resolve, "test", "slow", [1, 5000]))`);
    await browser.evaluate(`new Promise((resolve, reject) => cordova.exec(resolve, reject, "test", "echo", []))`);
    bridge.dropSockets();
    assert.match(await error, /connection to the bridge is closed/);
    assert.match(await browser.evaluate(`navigator.smartstoreClient.soupExists("s").catch((reason) => reason)`), /closed/);
  });

  await t.test("modules for new apps run in the page", async () => {
    await browser.open(`${bridge.url}module.html`);
    const { statuses, names } = await browser.evaluate("result");
    assert.deepEqual([statuses[0], statuses.at(-1), names.length], ["RUNNING", "DONE", 6]);
  });

  await t.test("cordova.force.js defines the modules for the next script", async () => {
    await browser.open(`${bridge.url}force.html`);
    assert.equal(await browser.evaluate("early"), "function");
  });

  await t.test("the mocks work without a bridge and keep their stores over a reload", async () => {
    const client = `cordova.require("com.salesforce.plugin.smartstore.client")`;
    await browser.open(`${bridge.url}mock.html`);
    await browser.evaluate(`${client}.registerSoup("mocked", [{ path: "Name", type: "string" }])`);
    await browser.open(`${bridge.url}mock.html`);
    assert.equal(await browser.evaluate(`${client}.soupExists("mocked")`), true);
    const synced = await browser.evaluate(`(async () => {
      Force.init();
      Force.forceJsClient = { query: async () => ({ totalSize: 1, records: [{ Id: "1", Name: "a" }] }) };
      const cache = new Force.StoreCache("synced");
      await cache.init();
      const done = new Promise((resolve) => document.addEventListener("sync", ({ detail }) => detail.status !== "RUNNING" && resolve(detail)));
      cordova.require("com.salesforce.plugin.smartsync").syncDown({ type: "soql", query: "q" }, "synced", {});
      return [(await done).status, (await cache.retrieve("1")).Name, mockSDKInfo.features.has("SJ")];
    })()`);
    assert.deepEqual(synced, ["DONE", "a", true]);
  });

  await t.test("a bridge that ends fails the calls of its pages", async () => {
    await browser.open(bridge.startUrl);
    await browser.evaluate("ready");
    await bridge.close();
    const error = await browser.evaluate(`navigator.smartstoreClient.soupExists("s").catch((reason) => reason)`);
    assert.match(error, /connection to the bridge is closed/);
  });

  assert.deepEqual(browser.errors, []);
});
