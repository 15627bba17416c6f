import assert from "node:assert/strict";
import test from "node:test";
import { createAll, onTestBridge, withPage } from "./support/harness.mjs";
import { plain } from "./support/page.mjs";

const SPECS = ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" }));
const TARGET = { type: "soql", query: "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY Name" };
const OPTIONS = { mergeMode: "OVERWRITE" };

async function withSync(t, options) {
  const all = await withPage(t, options);
  const sync = all.cordova.require("com.salesforce.plugin.mobilesync");
  const store = all.cordova.require("com.salesforce.plugin.smartstore.client");
  const { promiser } = all.cordova.require("com.salesforce.util.promiser");
  const promised = Object.fromEntries(
    ["syncDown", "syncUp", "reSync", "getSyncStatus", "deleteSync", "cleanResyncGhosts"].map((name) => [name, promiser(sync, name)])
  );
  // As pages do it: the listener is attached when the response is there, and takes the next DONE of any sync.
  const done = () =>
    new Promise((resolve) => {
      const listener = (event) => {
        if (event.detail.status !== "DONE") return;
        all.page.document.removeEventListener("sync", listener);
        resolve(plain(event.detail));
      };
      all.page.document.addEventListener("sync", listener);
    });
  await store.registerSoup("accounts", SPECS);
  return { ...all, sync, store, promised, done };
}

const sent = (bridge, action) => plain(bridge.calls.filter((one) => one.action === action).map((one) => one.args[0]));

test("MS-336 the store config, the target and the name may be left out", async (t) => {
  const { sync, bridge, fence } = await withSync(t);
  const none = () => {};
  sync.syncDown(TARGET, "s", OPTIONS, none, none);
  sync.syncDown(true, TARGET, "s", OPTIONS, "name", none, none);
  sync.syncDown(null, TARGET, "s", OPTIONS, undefined, none, none);
  sync.syncUp("s", OPTIONS, none, none);
  sync.syncUp({ storeName: "n" }, "s", OPTIONS, "name", none, none);
  sync.syncUp(false, null, "s", OPTIONS, undefined, none, none);
  sync.syncUp({ createFieldlist: ["Name"] }, "s", OPTIONS, none, none);
  await fence();
  const user = { isGlobalStore: false };
  const down = { target: TARGET, soupName: "s", options: OPTIONS };
  assert.deepEqual(sent(bridge, "syncDown"), [
    { ...down, ...user },
    { ...down, syncName: "name", isGlobalStore: true },
    { ...down, ...user },
  ]);
  const up = { target: {}, soupName: "s", options: OPTIONS };
  assert.deepEqual(sent(bridge, "syncUp"), [
    { ...up, ...user },
    { ...up, syncName: "name", storeName: "n", ...user },
    { ...up, ...user },
    { ...up, target: { createFieldlist: ["Name"] }, ...user },
  ]);
});

test("MS-336 a target that is null, or options that are left out, leave the callbacks in their places", async (t) => {
  const { sync } = await withSync(t);
  const outcome = (call) =>
    new Promise((resolve) => call((state) => resolve(state.status), (error) => resolve(String(error))));
  assert.match(await outcome((ok, fail) => sync.syncDown(null, "accounts", OPTIONS, ok, fail)), /target/);
  assert.match(await outcome((ok, fail) => sync.syncDown(undefined, "accounts", OPTIONS, "name", ok, fail)), /target/);
  assert.equal(await outcome((ok, fail) => sync.syncDown(TARGET, "accounts", ok, fail)), "RUNNING");
  assert.equal(await outcome((ok, fail) => sync.syncDown(true, TARGET, "accounts", ok, fail)), "RUNNING");
  assert.equal(await outcome((ok, fail) => sync.syncUp(null, "accounts", OPTIONS, ok, fail)), "RUNNING");
  assert.equal(await outcome((ok, fail) => sync.syncUp(null, "accounts", OPTIONS, "up", ok, fail)), "RUNNING");
  assert.equal(await outcome((ok, fail) => sync.syncUp("accounts", ok, fail)), "RUNNING");
});

test("MS-340 the user's store and the app's store of one name are made when they are used, and are two", async (t) => {
  const { store, promised, done } = await withSync(t);
  const config = (isGlobalStore) => ({ isGlobalStore, storeName: "shared" });
  const sizes = () =>
    Promise.all(
      [false, true].map(async (isGlobal) => {
        const spec = { queryType: "smart", smartSql: "SELECT count(*) FROM {s}", pageSize: 1 };
        return (await store.runSmartQuery(config(isGlobal), spec)).currentPageOrderedEntries[0][0];
      })
    );
  for (const isGlobal of [false, true]) {
    assert.equal(await store.soupExists(config(isGlobal), "s"), false);
    await store.registerSoup(config(isGlobal), "s", SPECS);
  }
  assert.deepEqual(plain(await sizes()), [0, 0]);
  for (const isGlobal of [true, false]) {
    await store.upsertSoupEntries(config(isGlobal), "s", [{ Name: "one" }]);
    assert.equal(await promised.getSyncStatus(config(isGlobal), "down"), null);
    const started = await promised.syncDown(config(isGlobal), TARGET, "s", OPTIONS, "down");
    assert.equal(started.status, "RUNNING");
    const last = await done();
    assert.deepEqual([last.name, last.isGlobalStore, last.storeName], ["down", isGlobal, "shared"]);
    assert.deepEqual(plain(await sizes()), isGlobal ? [0, 1] : [1, 1]);
  }
});

test("MS-336 a string names a sync, also one of digits, and a number is an id", async (t) => {
  const { sync, bridge, fence } = await withSync(t);
  const none = () => {};
  for (const name of ["reSync", "getSyncStatus", "deleteSync"]) {
    sync[name](7, none, none);
    sync[name]("7", none, none);
    sync[name]({ isGlobalStore: true, storeName: "n" }, "x", none, none);
    sync[name](undefined, 8, none, none);
    await fence();
    const user = { isGlobalStore: false };
    assert.deepEqual(sent(bridge, name), [
      { syncId: 7, ...user },
      { syncName: "7", ...user },
      { syncName: "x", isGlobalStore: true, storeName: "n" },
      { syncId: 8, ...user },
    ]);
  }
  sync.cleanResyncGhosts(true, 9, none, none);
  await fence();
  assert.deepEqual(sent(bridge, "cleanResyncGhosts"), [{ syncId: 9, isGlobalStore: true }]);
});

test("MS-337 and MS-338 a sync responds with RUNNING first and DONE comes as an event, once, last", async (t) => {
  const { promised, done, bridge, store, page } = await withSync(t);
  for (const name of ["a", "b", "c"]) await bridge.org.create("Account", { Name: name });
  const all = [];
  page.document.addEventListener("sync", (event) => all.push(event.detail.status));
  const state = await promised.syncDown(TARGET, "accounts", OPTIONS, "named");
  assert.equal(state.status, "RUNNING");
  const last = await done();
  assert.deepEqual([last.status, last.progress, last.totalSize, last.name, last.isGlobalStore], ["DONE", 100, 3, "named", false]);
  assert.equal(all.at(-1), "DONE");
  const cursor = await store.querySoup("accounts", { queryType: "range", indexPath: "Name", pageSize: 9, order: "ascending", orderPath: "Name" });
  assert.deepEqual(plain(cursor.currentPageOrderedEntries.map((entry) => [entry.Name, entry.__local__])), [["a", false], ["b", false], ["c", false]]);
});

test("MS-337 the status of a sync that is not there is null", async (t) => {
  const { promised, done, bridge } = await withSync(t);
  await bridge.org.create("Account", { Name: "a" });
  const { _soupEntryId: id } = await promised.syncDown(TARGET, "accounts", OPTIONS, "named");
  await done();
  assert.equal((await promised.getSyncStatus(id)).progress, 100);
  assert.equal((await promised.getSyncStatus("named"))._soupEntryId, id);
  assert.equal(await promised.getSyncStatus(true, id), null);
  assert.equal(await promised.deleteSync("named"), undefined);
  assert.equal(await promised.getSyncStatus(id), null);
  assert.equal(await promised.getSyncStatus("named"), null);
});

test("MS-339 errors of the manager reach the error callback as text", async (t) => {
  const { promised, sync, fence, bridge } = await withSync(t);
  await promised.syncDown(TARGET, "accounts", OPTIONS, "named");
  await assert.rejects(promised.syncDown(TARGET, "accounts", OPTIONS, "named"), (error) => error === "already a sync with name:named");
  await assert.rejects(promised.reSync("other"), (error) => /No sync with name: other|other.* does not exist/.test(error));
  await assert.rejects(promised.getSyncStatus(undefined), (error) => /neither syncId nor syncName/.test(error));
  sync.reSync("other");
  await fence();
  assert.equal(await promised.getSyncStatus("other"), null);
});

test("a re-sync downloads what changed, ghosts are cleaned, local changes go up", async (t) => {
  const { promised, done, bridge, store } = await withSync(t);
  const ids = await createAll(bridge.org, "Account", ["a", "b", "c"].map((Name) => ({ Name })));
  const { _soupEntryId: id } = await promised.syncDown(TARGET, "accounts", OPTIONS);
  await done();
  await bridge.org.update("Account", ids[0], { Name: "a2" });
  await promised.reSync(id);
  assert.equal((await done()).totalSize, 1);
  await bridge.org.delete("Account", ids[2]);
  assert.equal(await promised.cleanResyncGhosts(id), 1);
  const byId = { queryType: "exact", indexPath: "Id", matchKey: ids[0], pageSize: 1 };
  const [entry] = (await store.querySoup("accounts", byId)).currentPageOrderedEntries;
  assert.equal(entry.Name, "a2");
  await store.upsertSoupEntries("accounts", [
    { ...entry, Name: "a3", __local__: true, __locally_updated__: true },
    { Name: "new", attributes: { type: "Account" }, __local__: true, __locally_created__: true },
  ]);
  await promised.syncUp("accounts", { fieldlist: ["Name"], mergeMode: "OVERWRITE" });
  assert.equal((await done()).totalSize, 2);
  const { records } = await bridge.org.query("SELECT Name FROM Account ORDER BY Name");
  assert.deepEqual(records.map((record) => record.Name), ["a3", "b", "new"]);
  const dirty = await store.querySoup("accounts", { queryType: "exact", indexPath: "__local__", matchKey: true, pageSize: 9 });
  assert.equal(dirty.totalEntries, 0);
});

test("an upload in LEAVE_IF_CHANGED leaves records that were changed or deleted on the server", onTestBridge, async (t) => {
  const { promised, done, bridge, store } = await withSync(t);
  const names = ["changed", "deleted", "both deleted", "alone"];
  const ids = names.map((name) => bridge.org.create("Account", { Name: name }));
  await promised.syncDown(TARGET, "accounts", OPTIONS);
  await done();
  const all = { queryType: "range", indexPath: "Name", pageSize: 9, order: "ascending", orderPath: "Name" };
  const entries = (await store.querySoup("accounts", all)).currentPageOrderedEntries;
  const edit = (entry) =>
    entry.Name === "both deleted" ? { __locally_deleted__: true } : { Name: `${entry.Name} here`, __locally_updated__: true };
  await store.upsertSoupEntries("accounts", entries.map((entry) => ({ ...entry, ...edit(entry), __local__: true })));
  bridge.org.update("Account", ids[0], { Name: "changed there" });
  for (const id of ids.slice(1, 3)) bridge.org.delete("Account", id);
  const up = { fieldlist: ["Name"], mergeMode: "LEAVE_IF_CHANGED" };
  await promised.syncUp("accounts", up);
  assert.equal((await done()).status, "DONE");
  const left = (await store.querySoup("accounts", all)).currentPageOrderedEntries.map((entry) => [entry.Name, entry.__local__]);
  assert.deepEqual(plain(left), [["alone here", false], ["changed here", true], ["deleted here", true]]);
  assert.deepEqual(bridge.org.query("SELECT Name FROM Account ORDER BY Name").records.map((one) => one.Name), ["alone here", "changed there"]);
  bridge.org.isReachable = false;
  const { _soupEntryId: id } = await promised.syncUp("accounts", up);
  await bridge.sync.running;
  assert.equal((await promised.getSyncStatus(id)).status, "FAILED");
});

test("HT-14 the mock sync keeps an edit that is made while the record is uploaded", async () => {
  const { MockMobileSync, MockStores } = globalThis;
  const stores = new MockStores();
  const store = stores.get({});
  store.registerSoup("s", SPECS);
  const local = { attributes: { type: "Account" }, __local__: true };
  const [created] = store.upsertSoupEntries("s", [{ ...local, Name: "created", __locally_created__: true }]);
  const [updated] = store.upsertSoupEntries("s", [{ ...local, Id: "1", Name: "updated", __locally_updated__: true }]);
  const edit = ({ _soupEntryId }) => {
    const [now] = store.retrieveSoupEntries("s", [_soupEntryId]);
    store.upsertSoupEntries("s", [{ ...now, Name: `${now.Name} again` }]);
  };
  const server = { create: async () => (edit(created), { id: "2" }), update: async () => edit(updated) };
  const sync = new MockMobileSync({ stores, server, emit: () => {} });
  sync.syncUp({ soupName: "s", options: { fieldlist: ["Name"], mergeMode: "OVERWRITE" } });
  await sync.running;
  const entries = store.retrieveSoupEntries("s", [created._soupEntryId, updated._soupEntryId]);
  const found = entries.map((entry) => [entry.Id, entry.Name, entry.__local__, entry.__locally_created__, entry.__locally_updated__]);
  assert.deepEqual(found, [["2", "created again", true, false, true], ["1", "updated again", true, false, true]]);
});
