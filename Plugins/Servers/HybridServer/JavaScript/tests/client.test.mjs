import assert from "node:assert/strict";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { BridgeError, connect, launch, QuerySpec, RestError, SyncError } from "../plugins/fieldforce/node/index.js";
import { Connection } from "../plugins/fieldforce/core/connection.js";
import { NodeWebSocket } from "../plugins/fieldforce/node/websocket.js";
import { startBridge } from "./bridge.mjs";
import { createAll, onTestBridge } from "./support/harness.mjs";
import { Org } from "./support/org.mjs";
import { tool } from "./support/real-bridge.mjs";

const INDEXES = [{ path: "Id", type: "string" }, { path: "Name", type: "string" }, { path: "__local__", type: "string" }];

async function withClient(t, options) {
  const bridge = await startBridge(options);
  const client = connect(bridge.line);
  t.after(async () => {
    client.close();
    await bridge.close();
  });
  return { bridge, client, store: client.store(), org: bridge.org };
}

// ------------------------------------------------------------------------------------------ connection

test("a client connects with the line of the bridge, its object, its socket address or the environment", async (t) => {
  const bridge = await startBridge();
  process.env.FIELDFORCE_BRIDGE = bridge.line;
  const clients = [connect(bridge.line), connect(JSON.parse(bridge.line)), connect(bridge.socket), connect()];
  delete process.env.FIELDFORCE_BRIDGE;
  t.after(async () => {
    for (const client of clients) client.close();
    await bridge.close();
  });
  for (const client of clients) assert.equal((await client.info()).sdkVersion, "14.0.0");
  for (const wrong of [undefined, "", "{broken", "{}", "http://127.0.0.1:1/", "ws://", "ws://:1/", 5, null]) {
    assert.throws(() => connect(wrong), (error) => error instanceof BridgeError && error.code === "unreachable");
  }
});

test("a client connects to this computer alone, in every spelling, and sends nothing elsewhere", async (t) => {
  const bridge = await startBridge();
  const spelled = (host) => bridge.socket.replace("127.0.0.1", host);
  const clients = ["localhost", "LOCALHOST", "127.1", "0x7f000001", "2130706433"].map((host) => connect(spelled(host)));
  t.after(async () => {
    for (const client of clients) client.close();
    await bridge.close();
  });
  for (const client of clients) assert.equal((await client.info()).sdkVersion, "14.0.0");
  const others = [
    "example.com", "127.0.0.1.example.com", "127.0.0.1@example.com", "localhost.example.com", "x.localhost", "localhost.",
    "0.0.0.0", "10.0.0.1", "128.0.0.1", "169.254.169.254", "[::]", "[::2]", "[fe80::1]", "[::ffff:10.0.0.1]",
    "[::ffff:127.0.0.1]",
  ];
  for (const host of others) {
    for (const form of [spelled(host), { socket: spelled(host) }, JSON.stringify({ socket: spelled(host) })]) {
      assert.throws(() => connect(form), (error) => {
        assert.ok(error instanceof BridgeError, `${host}: ${error}`);
        assert.equal(error.code, "unreachable");
        // The address has the token.
        assert.ok(!error.message.includes(new URL(bridge.socket).pathname));
        return /not this computer/.test(error.message);
      }, host);
    }
    assert.throws(() => new NodeWebSocket(spelled(host)), SyntaxError);
  }
});

test("a client without a bridge, or with a wrong token, gets an error that says so", async (t) => {
  const bridge = await startBridge();
  const wrong = connect(bridge.socket.replace(/\/[0-9a-f]{32,}\//, "/0/"));
  await assert.rejects(wrong.info(), (error) => error.code === "unreachable" && /403/.test(error.message));
  await bridge.close();
  await assert.rejects(connect(bridge.line).info(), (error) => error.code === "unreachable" && /ECONNREFUSED/.test(error.message));
});

test("an error of the bridge says which call failed", onTestBridge, async (t) => {
  const { client } = await withClient(t);
  await assert.rejects(client.connection.call("test", "fail", "why"), (error) => {
    assert.ok(error instanceof BridgeError);
    assert.deepEqual([error.code, error.message, error.service, error.action], ["refused", "why", "test", "fail"]);
    return true;
  });
  await assert.rejects(client.connection.call("test", "fail", { message: "m", more: 1 }), (error) => error.message === "m" && error.details.more === 1);
  await assert.rejects(client.connection.call("test", "fail", 5), { message: "test.fail failed." });
});

test("calls keep their order, 5,000 at once get one response each", onTestBridge, async (t) => {
  const { client, bridge } = await withClient(t);
  const numbers = Array.from({ length: 5000 }, (_, index) => index);
  const responses = await Promise.all(numbers.map((number) => client.connection.call("test", "echo", number)));
  assert.deepEqual(responses.map(([number]) => number), numbers);
  assert.deepEqual(bridge.calls.map((call) => call.args[0]), numbers);
});

test("a call that is too large fails alone", onTestBridge, async (t) => {
  const { client } = await withClient(t);
  await assert.rejects(client.connection.call("test", "echo", "x".repeat(17 * 1024 * 1024)), { code: "tooLarge" });
  assert.deepEqual(await client.connection.call("test", "echo", 1), [1]);
});

test("when the connection breaks, calls without a response fail and the next call reconnects", onTestBridge, async (t) => {
  const { client, bridge } = await withClient(t);
  const waiting = client.connection.call("test", "slow", 1, 5000);
  await client.connection.call("test", "echo");
  bridge.dropSockets();
  await assert.rejects(waiting, (error) => error.code === "closed" && /test.slow has no response/.test(error.message));
  assert.deepEqual(await client.connection.call("test", "echo", 2), [2]);
  assert.equal(bridge.calls.filter((call) => call.action === "slow").length, 1);
});

test("frames without meaning change nothing, a second response to a call neither", async (t) => {
  const sockets = [];
  const connection = new Connection(() => {
    const socket = { readyState: 1, sent: [], send: (text) => socket.sent.push(JSON.parse(text)), close: () => {} };
    sockets.push(socket);
    setTimeout(() => socket.onopen(), 0);
    return socket;
  });
  t.after(() => connection.close());
  const waiting = connection.call("a", "b");
  await new Promise((resolve) => setTimeout(resolve, 5));
  const [socket] = sockets;
  const { id } = socket.sent[0];
  for (const data of ["", "{", "null", "5", "[]", "{}", '{"id":"x","status":"ok"}', JSON.stringify({ id, status: "pending", value: 1 })]) socket.onmessage({ data });
  for (const value of [2, 3]) socket.onmessage({ data: JSON.stringify({ id, status: "ok", value }) });
  assert.equal(await waiting, 2);
});

test("a closed client fails at once and stays closed", onTestBridge, async (t) => {
  const { client } = await withClient(t);
  const waiting = client.connection.call("test", "slow", 1, 5000);
  await client.connection.call("test", "echo");
  client.close();
  await assert.rejects(waiting, { code: "closed" });
  await assert.rejects(client.info(), { code: "closed" });
  client.close();
});

test("closing while the socket opens ends the waiting call", async (t) => {
  const { client } = await withClient(t);
  const waiting = client.info();
  client.close();
  await assert.rejects(waiting, (error) => error instanceof BridgeError);
});

// ------------------------------------------------------------------------------------------ stores

test("a store keeps entries, by id and by external id", async (t) => {
  const { store } = await withClient(t);
  assert.equal(await store.registerSoup("s", INDEXES), "s");
  assert.equal(await store.soupExists("s"), true);
  assert.deepEqual(await store.soupIndexes("s"), INDEXES);
  const [first] = await store.upsert("s", [{ Id: "1", Name: "a" }], { externalIdPath: "Id" });
  await store.upsert("s", [{ Id: "1", Name: "b" }], { externalIdPath: "Id" });
  const [entry] = await store.retrieve("s", [first._soupEntryId, 99]);
  assert.equal(entry.Name, "b");
  assert.ok((await store.size()) > 0);
  assert.equal(await store.remove("s", [first._soupEntryId]), undefined);
  await store.upsert("s", [{ Id: "2", Name: "c" }]);
  await store.remove("s", QuerySpec.exact("Id", "2"));
  assert.deepEqual(await store.query("s", QuerySpec.all("Id")).toArray(), []);
  await store.alterSoup("s", [{ path: "Name", type: "string" }]);
  await store.reIndexSoup("s", ["Name"]);
  await store.clearSoup("s");
  await store.removeSoup("s");
  assert.equal(await store.soupExists("s"), false);
});

test("queries are iterated page by page, and every cursor is closed", onTestBridge, async (t) => {
  const { store, bridge } = await withClient(t);
  await store.registerSoup("s", INDEXES);
  await store.upsert("s", Array.from({ length: 25 }, (_, i) => ({ Name: String(i).padStart(2, "0") })));
  const result = store.query("s", QuerySpec.all("Name", { pageSize: 10 }));
  const names = [];
  for await (const entry of result) names.push(entry.Name);
  assert.deepEqual([names.length, names[24]], [25, "24"]);
  const sizes = [];
  for await (const page of result.pages()) sizes.push([page.index, page.entries.length, page.totalEntries, page.totalPages]);
  assert.deepEqual(sizes, [[0, 10, 25, 3], [1, 10, 25, 3], [2, 5, 25, 3]]);
  const before = bridge.calls.filter((call) => /Move/.test(call.action)).length;
  for await (const entry of result) if (entry.Name === "03") break;
  assert.equal(bridge.calls.filter((call) => /Move/.test(call.action)).length, before);
  assert.equal((await result.first()).Name, "00");
  await assert.rejects((async () => { for await (const entry of result) throw new Error(entry.Name); })(), { message: "00" });
  assert.equal((await store.query("s", QuerySpec.exact("Name", "none")).first()), undefined);
  assert.equal(bridge.stores.get({}).cursors.size, 0);
  const rows = await store.sql("select {s:Name} from {s} where {s:Name} like '1%'", { pageSize: 3 }).toArray();
  assert.deepEqual(rows.flat(), ["10", "11", "12", "13", "14", "15", "16", "17", "18", "19"]);
  const specs = { range: [QuerySpec.range("Name", "05", "06"), 2], like: [QuerySpec.like("Name", "2%"), 5] };
  for (const [name, [spec, count]] of Object.entries(specs)) assert.equal((await store.query("s", spec).toArray()).length, count, name);
  await assert.rejects(store.query("s", QuerySpec.exact("other", 1)).toArray(), { message: "s does not have an index on other" });
});

test("a connection that breaks in the middle of a query ends the iteration with an error", onTestBridge, async (t) => {
  const { store, bridge } = await withClient(t);
  await store.registerSoup("s", INDEXES);
  await store.upsert("s", Array.from({ length: 5 }, (_, i) => ({ Name: String(i) })));
  const seen = [];
  const iteration = (async () => {
    for await (const entry of store.query("s", QuerySpec.all("Name", { pageSize: 2 }))) {
      seen.push(entry.Name);
      if (seen.length === 2) {
        bridge.dropSockets();
        // A bridge that starts again knows none of its old cursors.
        bridge.stores.get({}).cursors.clear();
      }
    }
  })();
  await assert.rejects(iteration, BridgeError);
  assert.deepEqual(seen, ["0", "1"]);
});

test("named and global stores are apart, and are listed", async (t) => {
  const { client } = await withClient(t);
  await client.store("n").registerSoup("s", INDEXES);
  await client.store("g", { isGlobal: true }).registerSoup("s", INDEXES);
  assert.deepEqual(await client.stores(), [{ storeName: "n", isGlobalStore: false }, { storeName: "g", isGlobalStore: true }]);
  await client.store("n").delete();
  assert.deepEqual(await client.stores(), [{ storeName: "g", isGlobalStore: true }]);
});

// ------------------------------------------------------------------------------------------ syncs

const TARGET = { type: "soql", query: "SELECT Id, Name, LastModifiedDate FROM Account" };

async function withAccounts(t, count = 5) {
  const all = await withClient(t, { org: new Org({ pageSize: 2 }) });
  await createAll(all.org, "Account", Array.from({ length: count }, (_, i) => ({ Name: `a${i}` })));
  await all.store.registerSoup("s", INDEXES);
  return { ...all, syncs: all.client.syncs() };
}

test("a sync is an async iterable of its states and a promise of the last", onTestBridge, async (t) => {
  const { syncs, store } = await withAccounts(t);
  const run = syncs.syncDown({ target: TARGET, soupName: "s", options: { mergeMode: "OVERWRITE" }, name: "accounts" });
  const states = [];
  for await (const state of run) states.push([state.status, state.progress]);
  assert.deepEqual(states, [["RUNNING", 0], ["RUNNING", 40], ["RUNNING", 80], ["DONE", 100]]);
  assert.equal((await run).totalSize, 5);
  const again = [];
  for await (const state of run) again.push(state.status);
  assert.equal(again.length, 4);
  assert.equal((await store.query("s", QuerySpec.all("Name")).toArray()).length, 5);
  assert.equal((await syncs.status("accounts")).status, "DONE");
});

test("changes go up, re-syncs take ids and names, ghosts are cleaned", async (t) => {
  const { syncs, store, org } = await withAccounts(t, 3);
  const { _soupEntryId: id } = await syncs.syncDown({ target: TARGET, soupName: "s", name: "down" });
  const [entry] = await store.query("s", QuerySpec.exact("Name", "a0")).toArray();
  await store.upsert("s", [{ ...entry, Name: "changed", __local__: true, __locally_updated__: true }]);
  await syncs.syncUp({ soupName: "s", options: { fieldlist: ["Name"], mergeMode: "OVERWRITE" } });
  const { records } = await org.query(`SELECT Name FROM Account WHERE Id = '${entry.Id}'`);
  assert.equal(records[0].Name, "changed");
  assert.equal((await syncs.reSync("down")).status, "DONE");
  assert.equal((await syncs.reSync(id)).status, "DONE");
  await org.delete("Account", entry.Id);
  assert.equal(await syncs.cleanGhosts(id), 1);
  await syncs.delete(id);
  assert.equal(await syncs.status("down"), null);
});

test("a failed sync rejects with its state, in both forms", async (t) => {
  const { syncs } = await withAccounts(t);
  // The bridge of fieldforce refuses what is no query at once; this one the org refuses.
  const query = tool ? "SELECT Id FROM Nothing__c" : "nonsense";
  const run = syncs.syncDown({ target: { type: "soql", query }, soupName: "s" });
  const states = [];
  await assert.rejects((async () => { for await (const state of run) states.push(state.status); })(), SyncError);
  assert.deepEqual([states[0], states.at(-1)], ["RUNNING", "FAILED"]);
  await assert.rejects(Promise.resolve(run), (error) => error instanceof SyncError && /MALFORMED_QUERY|INVALID_TYPE/.test(error.state.error));
  await assert.rejects(Promise.resolve(syncs.reSync("none")), BridgeError);
});

test("two syncs at a time each see their own states", async (t) => {
  const { client, store } = await withAccounts(t);
  const other = client.store("other");
  await other.registerSoup("s", INDEXES);
  const runs = [store, other].map((one) => client.syncs(one).syncDown({ target: TARGET, soupName: "s" }));
  const statuses = await Promise.all(runs.map(async (run) => {
    const seen = [];
    for await (const state of run) seen.push(state.status);
    return seen;
  }));
  assert.deepEqual(statuses, [0, 1].map(() => ["RUNNING", "RUNNING", "RUNNING", "DONE"]));
});

test("a sync ignores states of a sync with the same id in another store", onTestBridge, async (t) => {
  const { syncs, bridge } = await withAccounts(t);
  let release;
  bridge.sync.server.queryMore = () => new Promise((resolve) => (release = resolve));
  const run = syncs.syncDown({ target: TARGET, soupName: "s" });
  const seen = [];
  for await (const state of run) {
    seen.push([state.status, state.progress]);
    if (seen.length !== 2) continue;
    for (const other of [{ storeName: "other" }, { isGlobalStore: true }]) bridge.emit("sync", { ...state, progress: 1, status: "FAILED", ...other });
    bridge.emit("sync", { ...state, progress: 50, storeName: "defaultStore" });
    release({ records: [] });
  }
  assert.deepEqual(seen, [["RUNNING", 0], ["RUNNING", 40], ["RUNNING", 50], ["DONE", 100]]);
});

test("a connection that breaks during a sync ends its iteration with an error", onTestBridge, async (t) => {
  const { syncs, bridge } = await withAccounts(t);
  // The second page never comes.
  bridge.sync.server.queryMore = () => new Promise(() => {});
  const run = syncs.syncDown({ target: TARGET, soupName: "s" });
  await assert.rejects((async () => {
    for await (const state of run) if (state.status === "RUNNING") bridge.dropSockets();
  })(), (error) => error instanceof BridgeError && error.code === "closed");
});

// ------------------------------------------------------------------------------------------ REST and accounts

test("REST: records are created, read, changed and deleted, queries page as they are used", onTestBridge, async (t) => {
  const { client, org } = await withClient(t, { org: new Org({ pageSize: 2 }) });
  const rest = client.rest();
  const id = await rest.create("Account", { Name: "a" });
  await rest.update("Account", id, { Name: "b" });
  assert.equal((await rest.retrieve("Account", id, ["Name"])).Name, "b");
  assert.equal((await rest.describe("Account")).name, "Account");
  assert.equal((await rest.search("FIND {b} RETURNING Account(Id)")).length, 1);
  for (let i = 0; i < 4; i++) await rest.create("Account", { Name: `c${i}` });
  const names = [];
  const before = org.requests.length;
  for await (const record of rest.query("SELECT Name FROM Account ORDER BY Name")) names.push(record.Name);
  assert.deepEqual(names, ["b", "c0", "c1", "c2", "c3"]);
  assert.equal(org.requests.length - before, 3);
  await rest.delete("Account", id);
  await assert.rejects(rest.retrieve("Account", id), (error) => {
    assert.ok(error instanceof RestError);
    assert.deepEqual([error.status, error.body[0].errorCode], [404, "NOT_FOUND"]);
    assert.match(error.message, /^GET .*\/sobjects\/Account\/.* was refused with 404. NOT_FOUND/);
    return true;
  });
});

test("REST: a transport failure is an error without a status, a whole URL has no endpoint", onTestBridge, async (t) => {
  const { client, bridge } = await withClient(t);
  const { handle } = bridge.org;
  await client.rest({ apiVersion: "v60.0" }).request({ path: "https://api.example/x", authenticated: false }).catch(() => {});
  assert.equal("endPoint" in bridge.calls.at(-1).args[0], false);
  assert.equal(bridge.calls.at(-1).args[0].doesNotRequireAuthentication, true);
  bridge.org.handle = () => { throw new Error(JSON.stringify({ error: "offline" })); };
  await assert.rejects(client.rest().describe("Account"), (error) => error instanceof RestError && error.status === 0 && /offline/.test(error.message));
  bridge.org.handle = handle;
});

test("accounts: credentials, users, login and logout", onTestBridge, async (t) => {
  const { client } = await withClient(t);
  assert.equal((await client.credentials()).accessToken, "token");
  assert.equal((await client.currentUser()).username, "ada@example.com");
  assert.equal((await client.users()).length, 1);
  await client.logout();
  assert.equal(await client.currentUser(), null);
  await assert.rejects(client.credentials(), { message: "Not authenticated" });
  assert.equal((await client.authenticate()).accessToken, "token");
});

// ------------------------------------------------------------------------------------------ launch

const program = [process.execPath, fileURLToPath(new URL("support/fieldforce.mjs", import.meta.url))];

test("launch starts a bridge with its options and ends it", async () => {
  const client = await launch({ command: program, port: 0, appName: "An app", testRunner: true });
  assert.deepEqual(client.bridge.options, ["--port", "0", "--app-name", "An app", "--test-runner"]);
  assert.equal((await client.info()).sdkVersion, "14.0.0");
  await client.close();
  await assert.rejects(client.info(), { code: "closed" });
});

test("launch says why a bridge did not start, and leaves no process", async () => {
  await assert.rejects(launch({ command: program, www: "x" }), (error) => error.code === "unreachable" && /ended with 2/.test(error.message));
  await assert.rejects(launch({ command: program, state: "x" }), (error) => error.code === "unreachable" && /did not start/.test(error.message));
  await assert.rejects(launch({ command: ["/no/such/program"] }), (error) => error.code === "unreachable" && /ENOENT/.test(error.message));
});
