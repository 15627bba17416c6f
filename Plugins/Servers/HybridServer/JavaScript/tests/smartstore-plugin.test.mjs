import assert from "node:assert/strict";
import test from "node:test";
import { withPage } from "./support/harness.mjs";
import { plain } from "./support/page.mjs";

const SPECS = [{ path: "Name", type: "string" }, { path: "Id", type: "string" }];

async function withStore(t, options) {
  const all = await withPage(t, options);
  const smartstore = all.cordova.require("com.salesforce.plugin.smartstore");
  const client = all.cordova.require("com.salesforce.plugin.smartstore.client");
  const last = () => plain(all.bridge.calls.at(-1));
  return { ...all, smartstore, client, last };
}

// ------------------------------------------------------------------------------------------ first argument

test("HT-23 the first argument is a config, a boolean or nothing", async (t) => {
  const { client, last } = await withStore(t);
  const cases = [
    [["s"], { isGlobalStore: false }],
    [[true, "s"], { isGlobalStore: true }],
    [[false, "s"], { isGlobalStore: false }],
    [[{ isGlobalStore: true }, "s"], { isGlobalStore: true }],
    [[{ isGlobalStore: true, storeName: "n" }, "s"], { isGlobalStore: true, storeName: "n" }],
    [[{ storeName: "n" }, "s"], { isGlobalStore: false, storeName: "n" }],
    [[null, "s"], { isGlobalStore: false }],
    [[undefined, "s"], { isGlobalStore: false }],
    [[{ isGlobalStore: "false" }, "s"], { isGlobalStore: false }],
    [[{ isGlobalStore: "true" }, "s"], { isGlobalStore: true }],
  ];
  for (const [args, store] of cases) {
    assert.equal(await client.soupExists(...args), false);
    assert.deepEqual(last(), { service: "com.salesforce.smartstore", action: "pgSoupExists", args: [{ soupName: "s", ...store }] });
  }
});

test("HT-23 a null soup name is not taken for a missing config", async (t) => {
  const { client } = await withStore(t);
  await assert.rejects(client.registerSoup(null, SPECS), (error) => /Bogus soup name: null/.test(error));
  await assert.rejects(client.registerSoup(undefined, SPECS), (error) => /Bogus soup name/.test(error));
  await assert.rejects(client.registerSoup(true, null, SPECS), (error) => /Bogus soup name: null/.test(error));
});

test("HT-23 arguments that the caller left out do not take the callbacks' places", async (t) => {
  const { smartstore } = await withStore(t);
  const outcome = (call) =>
    new Promise((resolve) => call((value) => resolve({ value: plain(value) }), (error) => resolve({ error })));
  assert.match((await outcome((ok, fail) => smartstore.registerSoup("s", ok, fail))).error, /No indexSpecs/);
  assert.match((await outcome((ok, fail) => smartstore.registerSoup(true, ok, fail))).error, /Bogus soup name/);
  assert.deepEqual(await outcome((ok, fail) => smartstore.registerSoup("s", SPECS, ok, fail)), { value: "s" });
  assert.deepEqual(await outcome((ok, fail) => smartstore.alterSoup("s", SPECS, ok, fail)), { value: "s" });
  assert.ok((await outcome((ok, fail) => smartstore.upsertSoupEntries("s", ok, fail))).error);
  // A success callback that is null is not an argument that was left out.
  assert.match((await new Promise((resolve) => smartstore.clearSoup("none", null, resolve))), /does not exist/);
});

test("HT-6 the plug-in puts its version in front of the arguments", async (t) => {
  const { page, client } = await withStore(t);
  const sent = [];
  const { send } = page.sockets[0];
  page.sockets[0].send = function (text) {
    sent.push(JSON.parse(text));
    return send.call(this, text);
  };
  await client.getAllStores();
  assert.deepEqual(sent[0].args, ["pluginSDKVersion:14.0.0", {}]);
});

// ------------------------------------------------------------------------------------------ actions

test("HT-24 each function sends its action with its members", async (t) => {
  const { smartstore, bridge, fence } = await withStore(t);
  const spec = smartstore.buildExactQuerySpec("Name", "x");
  const cases = [
    ["getDatabaseSize", [], "pgGetDatabaseSize", {}],
    ["registerSoup", ["s", SPECS], "pgRegisterSoup", { soupName: "s", indexes: SPECS }],
    ["registerSoupWithSpec", [{ name: "s", features: [] }, SPECS], "pgRegisterSoup", { soupSpec: { name: "s", features: [] }, indexes: SPECS }],
    ["getSoupSpec", ["s"], "pgGetSoupSpec", { soupName: "s" }],
    ["removeSoup", ["s"], "pgRemoveSoup", { soupName: "s" }],
    ["getSoupIndexSpecs", ["s"], "pgGetSoupIndexSpecs", { soupName: "s" }],
    ["alterSoup", ["s", SPECS, true], "pgAlterSoup", { soupName: "s", indexes: SPECS, reIndexData: true }],
    ["alterSoupWithSpec", ["s", { name: "s" }, SPECS, false], "pgAlterSoup", { soupName: "s", soupSpec: { name: "s" }, indexes: SPECS, reIndexData: false }],
    ["reIndexSoup", ["s", ["Name"]], "pgReIndexSoup", { soupName: "s", paths: ["Name"] }],
    ["clearSoup", ["s"], "pgClearSoup", { soupName: "s" }],
    ["soupExists", ["s"], "pgSoupExists", { soupName: "s" }],
    ["querySoup", ["s", spec], "pgQuerySoup", { soupName: "s", querySpec: plain(spec) }],
    ["retrieveSoupEntries", ["s", [1, 2]], "pgRetrieveSoupEntries", { soupName: "s", entryIds: [1, 2] }],
    ["upsertSoupEntries", ["s", [{ a: 1 }]], "pgUpsertSoupEntries", { soupName: "s", entries: [{ a: 1 }], externalIdPath: "_soupEntryId" }],
    ["upsertSoupEntriesWithExternalId", ["s", [{ a: 1 }], "a"], "pgUpsertSoupEntries", { soupName: "s", entries: [{ a: 1 }], externalIdPath: "a" }],
    ["removeFromSoup", ["s", [1]], "pgRemoveFromSoup", { soupName: "s", entryIds: [1] }],
    ["removeFromSoup", ["s", spec], "pgRemoveFromSoup", { soupName: "s", querySpec: plain(spec) }],
    ["moveCursorToPageIndex", [{ cursorId: 7 }, 2], "pgMoveCursorToPageIndex", { cursorId: 7, index: 2 }],
    ["moveCursorToNextPage", [{ cursorId: 7, currentPageIndex: 0, totalPages: 2 }], "pgMoveCursorToPageIndex", { cursorId: 7, index: 1 }],
    ["moveCursorToPreviousPage", [{ cursorId: 7, currentPageIndex: 1, totalPages: 2 }], "pgMoveCursorToPageIndex", { cursorId: 7, index: 0 }],
    ["closeCursor", [{ cursorId: 7 }], "pgCloseCursor", { cursorId: 7 }],
    ["removeStore", [], "pgRemoveStore", {}],
  ];
  const store = { isGlobalStore: true, storeName: "n" };
  for (const [name, args, action, message] of cases) {
    smartstore[name](store, ...args, () => {}, () => {});
    await fence();
    const sent = bridge.calls.filter((one) => one.service === "com.salesforce.smartstore").at(-1);
    assert.deepEqual(plain(sent), { service: "com.salesforce.smartstore", action, args: [{ ...message, ...store }] }, name);
  }
});

test("HT-24 functions on all stores send an empty message, with or without a config", async (t) => {
  const { client, last } = await withStore(t);
  for (const name of ["getAllStores", "getAllGlobalStores", "removeAllStores", "removeAllGlobalStores"]) {
    await client[name]();
    assert.deepEqual(last().args, [{}]);
    await client[name](true);
    assert.deepEqual(last().args, [{}]);
    assert.equal(last().action, `pg${name[0].toUpperCase()}${name.slice(1)}`);
  }
});

test("SS-228 removeStore takes the bare name of a user store too", async (t) => {
  const { client, last } = await withStore(t);
  assert.equal(await client.removeStore("n"), "OK");
  assert.deepEqual(last().args, [{ isGlobalStore: false, storeName: "n" }]);
});

test("showInspector takes a config or nothing", async (t) => {
  const { smartstore, fence, bridge } = await withStore(t);
  smartstore.showInspector();
  smartstore.showInspector({ isGlobalStore: true, storeName: "n" });
  await fence();
  assert.deepEqual(
    plain(bridge.calls.filter((one) => one.action === "pgShowInspector").map((one) => one.args[0])),
    [{ isGlobalStore: false }, { isGlobalStore: true, storeName: "n" }]
  );
});

test("SS-233 the lists of stores say which are global", async (t) => {
  const { client } = await withStore(t);
  await client.registerSoup({ storeName: "a" }, "s", SPECS);
  await client.registerSoup({ isGlobalStore: true, storeName: "b" }, "s", SPECS);
  assert.deepEqual(plain(await client.getAllStores()), [{ storeName: "a", isGlobalStore: false }]);
  assert.deepEqual(plain(await client.getAllGlobalStores()), [{ storeName: "b", isGlobalStore: true }]);
});

// ------------------------------------------------------------------------------------------ specs

test("HT-25, SS-129.2 and SS-230 the builders take their arguments in the documented orders", async (t) => {
  const { smartstore } = await withStore(t);
  const full = { indexPath: "p", order: "descending", pageSize: 17, orderPath: "o", selectPaths: ["x", "y"] };
  const none = { matchKey: null, likeKey: null, beginKey: null, endKey: null, smartSql: null };
  const select = ["x", "y"];
  const spec = (name, ...args) => plain(smartstore[`build${name}QuerySpec`](...args));
  assert.deepEqual(spec("Exact", "p", "k", 17, "descending", "o", select), { ...none, ...full, queryType: "exact", matchKey: "k" });
  assert.deepEqual(spec("Range", "p", "b", "e", "descending", 17, "o", select), { ...none, ...full, queryType: "range", beginKey: "b", endKey: "e" });
  assert.deepEqual(spec("Like", "p", "k", "descending", 17, "o", select), { ...none, ...full, queryType: "like", likeKey: "k" });
  assert.deepEqual(spec("Match", "p", "k", "descending", 17, "o", select), { ...none, ...full, queryType: "match", matchKey: "k" });
  assert.deepEqual(spec("All", "p", "descending", 17, select), { ...none, ...full, queryType: "range", orderPath: "p" });
  const least = { indexPath: "p", order: "ascending", pageSize: 10, orderPath: "p", selectPaths: null };
  assert.deepEqual(spec("Exact", "p", "k", null, null), { ...none, ...least, queryType: "exact", matchKey: "k" });
  assert.deepEqual(spec("All", "p"), { ...none, ...least, queryType: "range" });
  assert.deepEqual(spec("Like", "p", "k", null, 0), { ...none, ...least, queryType: "like", likeKey: "k" });
  assert.equal(spec("Range", "p", "b").endKey, undefined);
  assert.equal(smartstore.buildMatchQuerySpec(null, "k", "ascending", 10, "name").indexPath, null);
  assert.equal(spec("Exact", "p", false).matchKey, false);
  const smart = spec("Smart", "select 1", 5);
  assert.deepEqual([smart.queryType, smart.smartSql, smart.pageSize], ["smart", "select 1", 5]);
});

test("SS-230 the classes have the documented members", async (t) => {
  const { smartstore } = await withStore(t);
  const { QuerySpec, SoupIndexSpec, SoupSpec, StoreConfig, StoreCursor } = smartstore;
  assert.equal(new QuerySpec("p").queryType, "exact");
  assert.equal(new QuerySpec(null).indexPath, null);
  assert.deepEqual(plain(new SoupIndexSpec("p", "string")), { path: "p", type: "string" });
  assert.deepEqual(plain(new SoupSpec("s", ["externalStorage"])), { name: "s", features: ["externalStorage"] });
  assert.deepEqual(plain(new StoreConfig("n", true)), { storeName: "n", isGlobalStore: true });
  assert.deepEqual(Object.keys(new StoreCursor()).sort(),
    ["currentPageIndex", "currentPageOrderedEntries", "cursorId", "pageSize", "totalEntries", "totalPages"]);
});

test("SS-231 the kinds of queries are kept apart before anything is sent", async (t) => {
  const { smartstore, client, bridge } = await withStore(t);
  const smart = smartstore.buildSmartQuerySpec("select 1");
  const exact = smartstore.buildExactQuerySpec("Name", "x");
  assert.throws(() => smartstore.querySoup("s", smart), /Smart queries can only be run using runSmartQuery/);
  assert.throws(() => smartstore.runSmartQuery(exact), /runSmartQuery can only run smart queries/);
  await assert.rejects(client.querySoup("s", smart), /Smart queries can only be run/);
  assert.equal(bridge.calls.length, 0);
});

test("HT-25 and SS-129.2 an order without an order path orders by the index path", async (t) => {
  const { smartstore, client, last } = await withStore(t);
  await client.registerSoup("s", SPECS);
  const spec = { queryType: "exact", indexPath: "Name", matchKey: "x", order: "descending", pageSize: 3 };
  await client.querySoup("s", spec);
  assert.equal(last().args[0].querySpec.orderPath, "Name");
  assert.equal(spec.orderPath, undefined);
  await client.querySoup("s", { queryType: "exact", indexPath: "Name", matchKey: "x" });
  assert.equal(last().args[0].querySpec.orderPath, undefined);
  assert.equal(typeof smartstore.querySoup, "function");
});

// ------------------------------------------------------------------------------------------ cursors

test("HT-26 a cursor walks its pages and stops at both ends without a call", async (t) => {
  const { smartstore, client, bridge } = await withStore(t);
  await client.registerSoup("s", SPECS);
  await client.upsertSoupEntries("s", Array.from({ length: 42 }, (_, i) => ({ Name: `n${String(i).padStart(2, "0")}` })));
  let cursor = await client.querySoup("s", smartstore.buildAllQuerySpec("Name", null, 20));
  assert.deepEqual([cursor.totalEntries, cursor.totalPages, cursor.pageSize, cursor.currentPageIndex], [42, 3, 20, 0]);
  const before = bridge.calls.length;
  await assert.rejects(client.moveCursorToPreviousPage(cursor), (error) => error.message === "moveCursorToPreviousPage called while on first page");
  assert.equal(bridge.calls.length, before);
  cursor = await client.moveCursorToNextPage(cursor);
  cursor = await client.moveCursorToNextPage(cursor);
  assert.deepEqual(plain(cursor.currentPageOrderedEntries.map((entry) => entry.Name)), ["n40", "n41"]);
  await assert.rejects(client.moveCursorToNextPage(cursor), (error) => error.message === "moveCursorToNextPage called while on last page");
  cursor = await client.moveCursorToPreviousPage(cursor);
  assert.equal(cursor.currentPageIndex, 1);
  cursor = await client.moveCursorToPageIndex(cursor, 99);
  assert.equal(cursor.currentPageIndex, 2);
  assert.equal(await client.closeCursor(cursor), "OK");
  assert.equal(await client.closeCursor(cursor), "OK");
  await assert.rejects(client.moveCursorToPageIndex(cursor, 0), (error) => /Invalid cursor id/.test(error));
  smartstore.moveCursorToNextPage(cursor);
});

test("HT-26 a cursor that arrives as JSON text is parsed", async (t) => {
  const { smartstore, cordova } = await withStore(t);
  cordova.exec = (success) => success(JSON.stringify({ cursorId: 1, currentPageOrderedEntries: [] }));
  const cursor = await new Promise((resolve) => smartstore.querySoup("s", smartstore.buildAllQuerySpec("Name"), resolve));
  assert.equal(cursor.cursorId, 1);
});

test("SS-140 a cursor belongs to the store that it came from", async (t) => {
  const { smartstore, client } = await withStore(t);
  await client.registerSoup("s", SPECS);
  const cursor = await client.querySoup("s", smartstore.buildAllQuerySpec("Name"));
  await assert.rejects(client.moveCursorToPageIndex(true, cursor, 0), (error) => /Invalid cursor id/.test(error));
});

// ------------------------------------------------------------------------------------------ behaviour

test("HT-27 without a user, user stores fail and global stores work", async (t) => {
  const { client } = await withStore(t, { loggedIn: false });
  await assert.rejects(client.registerSoup("s", SPECS), (error) => /No user account found/.test(error));
  assert.equal(await client.registerSoup(true, "s", SPECS), "s");
});

test("HT-29 store calls get their responses in the order of the calls", async (t) => {
  const { client } = await withStore(t);
  const order = [];
  const note = (name) => () => order.push(name);
  await Promise.all([
    client.registerSoup("s", SPECS).then(note("register")),
    client.upsertSoupEntries("s", [{ Name: "a" }]).then(note("upsert")),
    client.soupExists("s").then(note("exists")),
    client.removeSoup("s").then(note("remove")),
    client.soupExists("s").then((exists) => order.push(exists)),
  ]);
  assert.deepEqual(order, ["register", "upsert", "exists", "remove", false]);
});

test("HT-30 messages above the log level are dropped and never hold entries", async (t) => {
  const { smartstore, client, page } = await withStore(t);
  assert.equal(smartstore.getLogLevel(), "info");
  const debugLines = () => page.messages.filter((line) => line.startsWith("debug: SmartStore")).length;
  await client.registerSoup("s", SPECS);
  assert.equal(debugLines(), 0);
  smartstore.setLogLevel("DEBUG");
  assert.equal(smartstore.getLogLevel(), "debug");
  await client.upsertSoupEntries("s", [{ Name: "secret" }]);
  assert.equal(debugLines(), 1);
  assert.ok(!page.messages.some((line) => line.includes("secret")));
  smartstore.setLogLevel("nonsense");
  await client.soupExists("s");
  assert.equal(debugLines(), 1);
});

test("HT-31 and BX-118 the promise client has every function but the local ones", async (t) => {
  const { smartstore, client } = await withStore(t);
  const local = (name) => /^(build|show|setLog|getLog|[A-Z])/.test(name);
  const expected = Object.keys(smartstore).filter((name) => !local(name));
  assert.deepEqual(Object.keys(client).sort(), expected.sort());
});

test("SS-96 to SS-98 entries are inserted, replaced, and found by external ids", async (t) => {
  const { client } = await withStore(t);
  await client.registerSoup("s", SPECS);
  const [first] = await client.upsertSoupEntriesWithExternalId("s", [{ Id: "1", Name: "a", extra: 1 }], "Id");
  const [second] = await client.upsertSoupEntriesWithExternalId("s", [{ Id: "1", Name: "b" }], "Id");
  assert.equal(second._soupEntryId, first._soupEntryId);
  assert.equal(second.extra, undefined);
  await assert.rejects(client.upsertSoupEntriesWithExternalId("s", [{ Id: "2" }, { Name: "x" }], "Id"), (error) => /cannot be empty/.test(error));
  await assert.rejects(client.upsertSoupEntriesWithExternalId("s", [{ Id: "1" }], "other"), (error) => /^s does not have an index on other|^No index column defined for field 'other'/.test(error));
  const { totalEntries } = await client.querySoup("s", { queryType: "range", indexPath: "Id", pageSize: 10 });
  assert.equal(totalEntries, 1);
});
