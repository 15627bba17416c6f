// The modules of react-native-force on a bridge.
import assert from "node:assert/strict";
import test from "node:test";
import { connect } from "../plugins/fieldforce/node/index.js";
import { forceTest, forceUtil, nativeModules, reactApp, reactForce } from "../plugins/fieldforce/react/index.js";
import { startBridge } from "./bridge.mjs";
import { tool } from "./support/real-bridge.mjs";

const { promiser, promiserNoRejection } = forceUtil;

/** A connection that notes its calls and responds with `respond`. */
function recorder(respond = () => "OK") {
  const calls = [];
  return { calls, call: async (service, action, args) => (calls.push([service, action, args]), respond(action, args)) };
}

const FUNCTIONS = {
  oauth: "getAuthCredentials authenticate logout",
  net: "setApiVersion getApiVersion sendRequest versions resources describeGlobal metadata describe describeLayout create retrieve upsert update del query queryMore search getAttachment collectionCreate collectionUpdate collectionUpsert collectionRetrieve collectionDelete",
  smartstore: "getDatabaseSize registerSoup registerSoupWithSpec removeSoup clearSoup soupExists getSoupIndexSpecs getSoupSpec alterSoup alterSoupWithSpec reIndexSoup upsertSoupEntries upsertSoupEntriesWithExternalId retrieveSoupEntries removeFromSoup querySoup runSmartQuery moveCursorToPageIndex moveCursorToNextPage moveCursorToPreviousPage closeCursor removeStore getAllStores getAllGlobalStores removeAllStores removeAllGlobalStores",
  mobilesync: "syncDown syncUp reSync getSyncStatus cleanResyncGhosts deleteSync MERGE_MODE",
};

test("HT-41 and BX-129 the modules have the functions of react-native-force", () => {
  const force = reactForce(recorder());
  for (const [module, names] of Object.entries(FUNCTIONS)) assert.deepEqual(Object.keys(force[module]).sort(), names.split(" ").sort());
  assert.equal(force.forceClient, force.net);
});

test("HT-41 each function of net makes the request of the table", async () => {
  const connection = recorder();
  const { net } = reactForce(connection);
  net.setApiVersion("v60.0");
  const cases = [
    [["versions"], "GET", "/", {}],
    [["resources"], "GET", "/v60.0/", {}],
    [["describeGlobal"], "GET", "/v60.0/sobjects/", {}],
    [["metadata", "A b"], "GET", "/v60.0/sobjects/A%20b/", {}],
    [["describe", "Account"], "GET", "/v60.0/sobjects/Account/describe/", {}],
    [["describeLayout", "Account", null], "GET", "/v60.0/sobjects/Account/describe/layouts/", {}],
    [["create", "Account", { Name: "a" }], "POST", "/v60.0/sobjects/Account/", { Name: "a" }],
    [["retrieve", "Account", "001", ["Id", "Name"]], "GET", "/v60.0/sobjects/Account/001", { fields: "Id,Name" }],
    [["retrieve", "Account", "001"], "GET", "/v60.0/sobjects/Account/001", {}],
    [["upsert", "Account", "X__c", "7", { Name: "a" }], "PATCH", "/v60.0/sobjects/Account/X__c/7", { Name: "a" }],
    [["upsert", "Account", "X__c", "", { Name: "a" }], "POST", "/v60.0/sobjects/Account/X__c/", { Name: "a" }],
    [["update", "Account", "001", { Name: "b" }], "PATCH", "/v60.0/sobjects/Account/001", { Name: "b" }],
    [["del", "Account", "001"], "DELETE", "/v60.0/sobjects/Account/001", {}],
    [["query", "SELECT"], "GET", "/v60.0/query", { q: "SELECT" }],
    [["search", "FIND"], "GET", "/v60.0/search", { q: "FIND" }],
    [["collectionCreate", true, [1]], "POST", "/v60.0/composite/sobjects", { allOrNone: true, records: [1] }],
    [["collectionUpdate", false, [1]], "PATCH", "/v60.0/composite/sobjects", { allOrNone: false, records: [1] }],
    [["collectionUpsert", true, "A", "X__c", [1]], "PATCH", "/v60.0/composite/sobjects/A/X__c", { allOrNone: true, records: [1] }],
    [["collectionRetrieve", "A", ["1"], ["Id"]], "POST", "/v60.0/composite/sobjects/A", { ids: ["1"], fields: ["Id"] }],
    [["collectionDelete", true, ["1", "2"]], "DELETE", "/v60.0/composite/sobjects", { allOrNone: true, ids: "1,2" }],
  ];
  for (const [[name, ...args], method, path, queryParams] of cases) {
    assert.equal(await promiser(net[name])(...args), "OK", name);
    const [service, action, message] = connection.calls.at(-1);
    assert.deepEqual([service, action, message.endPoint], ["SFNetReactBridge", "sendRequest", "/services/data"]);
    assert.deepEqual([message.method, message.path, message.queryParams], [method, path, queryParams], name);
  }
  await promiser(net.queryMore)("https://org.example.com/services/data/v60.0/query/01g-2000");
  assert.deepEqual([connection.calls.at(-1)[2].endPoint, connection.calls.at(-1)[2].path], ["", "/services/data/v60.0/query/01g-2000"]);
  await promiser(net.getAttachment)("00P");
  assert.equal(connection.calls.at(-1)[2].returnBinary, true);
});

test("HT-43 a store comes first, a name may be left out, a text names a sync", async () => {
  const connection = recorder();
  const { mobilesync } = reactForce(connection);
  const [target, options] = [{ type: "soql" }, { mergeMode: "OVERWRITE" }];
  await promiser(mobilesync.syncDown)(false, target, "s", options);
  await promiser(mobilesync.syncUp)({ storeName: "n", isGlobalStore: true }, target, "s", options, "name");
  for (const [sync, member] of [[7, { syncId: 7 }], ["7", { syncName: "7" }]]) {
    await promiser(mobilesync.reSync)(null, sync);
    assert.deepEqual(connection.calls.at(-1), ["SFMobileSyncReactBridge", "reSync", { ...member, isGlobalStore: false }]);
  }
  assert.deepEqual(connection.calls.slice(0, 2).map(([, , args]) => args), [
    { target, soupName: "s", options, isGlobalStore: false },
    { target, soupName: "s", options, syncName: "name", isGlobalStore: true, storeName: "n" },
  ]);
});

test("HT-38 and CA-18 the log drops what is above its level, and an unknown level is info", () => {
  const { forceLog } = reactForce(recorder());
  const written = [];
  const sink = console.log;
  console.log = (text) => written.push(text);
  try {
    assert.equal(forceLog.getLogLevel(), "info");
    forceLog.setLogLevel("warn");
    for (const name of ["error", "warn", "info", "debug", "log"]) forceLog.console[name](name);
    forceLog.setLogLevel("unknown");
  } finally {
    console.log = sink;
  }
  assert.deepEqual(written, ["error", "warn"]);
  assert.equal(forceLog.getLogLevel(), "info");
});

test("HT-46 promises resolve and reject, or only resolve, and tests are registered by name", async () => {
  const fails = (text, ok, fail) => fail(text);
  await assert.rejects(promiser(fails)("no"), (error) => error === "no");
  assert.equal(await promiserNoRejection(fails)("no"), "no");
  await forceUtil.timeoutPromiser(1);
  const names = [];
  let ended = 0;
  const { registerTest, testDone } = forceTest((name) => names.push(name), () => ended++);
  registerTest(function testLogin() {});
  testDone();
  assert.deepEqual([names, ended], [["Login"], 1]);
});

test("HT-39 native modules have the calling forms of both platforms, once for each call", async () => {
  const connection = recorder((action) => {
    if (action === "fails") throw Object.assign(new Error("no"), { details: { message: "no", code: 1 } });
    return { a: 1 };
  });
  const ios = nativeModules(connection).SFNetReactBridge;
  const android = nativeModules(connection, "android").SalesforceNetReactBridge;
  assert.deepEqual(await new Promise((done) => ios.works({}, (...values) => done(values))), [null, { a: 1 }]);
  assert.deepEqual(await new Promise((done) => ios.fails({}, (...values) => done(values))), [{ message: "no", code: 1 }]);
  assert.equal(await new Promise((done, fail) => android.works({}, done, fail)), '{"a":1}');
  assert.equal(await new Promise((done, fail) => android.fails({}, fail, done)), '{"message":"no","code":1}');
});

/** A connection with a user who may log in and out. */
function switchable() {
  const listeners = new Set();
  const connection = recorder((action) => {
    if (action === "getAuthCredentials" && !connection.user) throw new Error("Not authenticated");
    if (action === "authenticate") connection.user = connection.next;
    return { userId: connection.user };
  });
  connection.on = (event, listener) => (listeners.add(listener), () => listeners.delete(listener));
  connection.change = (user) => {
    connection.user = user;
    for (const listener of listeners) listener(null);
  };
  return connection;
}

test("HT-47 an app starts when a user has logged in, and again for each next user", async () => {
  const connection = switchable();
  connection.next = "ada";
  const seen = [];
  const next = { resolve() {} };
  const app = reactApp(connection, async ({ oauth }) => {
    const { userId } = await promiser(oauth.getAuthCredentials)();
    seen.push(`start ${userId}`);
    next.resolve();
    return () => seen.push(`end ${userId}`);
  });
  await app.started;
  const started = () => new Promise((resolve) => (next.resolve = resolve));
  for (const user of ["grace", null]) {
    const again = started();
    connection.change(user);
    await again;
  }
  await app.close();
  connection.change("mallory");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ["start ada", "end ada", "start grace", "end grace", "start ada", "end ada"]);
});

test("HT-44 and HT-47 an app with a deferred login starts without a user, and a failed start is reported", async () => {
  const connection = switchable();
  let starts = 0;
  await reactApp(connection, () => void (starts += 1), { shouldAuthenticate: false }).started;
  assert.equal(starts, 1);
  assert.deepEqual(connection.calls, []);
  const errors = [];
  const failing = () => Promise.reject(new Error("no bundle"));
  await reactApp(connection, failing, { shouldAuthenticate: false, failed: (error) => errors.push(error.message) }).started;
  assert.deepEqual(errors, ["no bundle"]);
});

test("the modules work on the bridge of fieldforce", { skip: tool ? false : "FIELDFORCE_TOOL names no program" }, async (t) => {
  const bridge = await startBridge();
  const client = connect(bridge.line);
  t.after(async () => {
    client.close();
    await bridge.close();
  });
  const { oauth, net, smartstore, mobilesync } = reactForce(client.connection);
  assert.equal((await promiser(oauth.getAuthCredentials)()).userId, bridge.org.line.userId);
  const { id } = await promiser(net.create)("Account", { Name: "Arbour" });
  assert.equal((await promiser(net.retrieve)("Account", id, ["Name"])).Name, "Arbour");
  await assert.rejects(promiser(net.del)("Account", "none"), (error) => error.response.statusCode === 404);
  const indexes = ["Id", "Name", "__local__"].map((path) => ({ path, type: "string" }));
  assert.equal(await promiser(smartstore.registerSoup)(false, "s", indexes), "s");
  const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
  const state = await promiser(mobilesync.syncDown)(false, target, "s", { mergeMode: "OVERWRITE" }, "down");
  assert.deepEqual([state.status, state.totalSize, state.isGlobalStore], ["DONE", 1, false]);
  const spec = { queryType: "range", indexPath: "Name", orderPath: "Name", order: "ascending", pageSize: 1 };
  const cursor = await promiser(smartstore.querySoup)(false, "s", spec);
  assert.equal(cursor.currentPageOrderedEntries[0].Name, "Arbour");
  await assert.rejects(promiser(smartstore.moveCursorToNextPage)(false, cursor), /last page/);
  assert.equal(await promiser(smartstore.closeCursor)(false, cursor), "OK");
  assert.equal(await promiser(mobilesync.getSyncStatus)(false, "none"), null);
  assert.equal(await promiser(mobilesync.deleteSync)(false, "down"), "OK");
});
