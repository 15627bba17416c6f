import assert from "node:assert/strict";
import test from "node:test";
import { createAll, onTestBridge } from "./support/harness.mjs";
import { flags, withLibrary, withOptions } from "./support/library.mjs";
import { plain } from "./support/page.mjs";

// ------------------------------------------------------------------------------------------ cache alone

test("MS-353 create, read, update and delete on the cache", async (t) => {
  const { Force, cache } = await withLibrary(t);
  const run = (...args) => Force.syncRemoteObjectWithCache(...args);
  const local = await run("create", null, { Name: "a", Secret: 1 }, ["Name"], cache, true);
  assert.ok(cache.isLocalId(local.Id));
  assert.equal(local.Secret, undefined);
  assert.deepEqual(flags(local), [true, true, false, false]);
  assert.deepEqual(flags(await run("create", "008", { Name: "b" }, null, cache, false)), [false, false, false, false]);
  assert.equal((await run("read", "008", null, ["Name"], cache)).Name, "b");
  assert.equal(await run("read", "008", null, ["Name", "Mission"], cache), null);
  const updated = await run("update", local.Id, { Mission: "x", Name: "ignored" }, ["Mission"], cache, true);
  assert.deepEqual([updated.Name, updated.Mission], ["a", "x"]);
  assert.deepEqual(flags(updated), [true, true, true, false]);
  assert.deepEqual(flags(await run("update", "008", { Name: "c" }, ["Name"], cache, false)), [false, false, false, false]);
  assert.equal(await run("delete", "008", null, null, cache, true), null);
  assert.deepEqual(flags(await cache.retrieve("008")), [true, false, false, true]);
  assert.equal(await run("delete", local.Id, null, null, cache, true), null);
  assert.equal(await cache.retrieve(local.Id), null);
  assert.equal(await run("delete", "none", null, null, cache), null);
  await assert.rejects(run("patch", "1", {}, null, cache), /not supported/);
});

// ------------------------------------------------------------------------------------------ server alone

test("MS-354 create, read, update and delete on the server", onTestBridge, async (t) => {
  const { Force, org, onServer } = await withLibrary(t);
  const run = (...args) => Force.syncSObjectWithServer(...args);
  const created = await run("create", "Account", null, { Id: "local_1", Name: "a", Phone: "1" }, ["Id", "Name"]);
  assert.equal((await onServer(created.Id)).Phone, null);
  assert.deepEqual([created.Name, created.Phone], ["a", "1"]);
  assert.equal((await run("read", "Account", created.Id, null, ["Name"])).Name, "a");
  const updated = await run("update", "Account", created.Id, { Name: "b", __local__: true, _soupEntryId: 3, attributes: {} }, null);
  assert.equal(updated.Name, "b");
  assert.deepEqual(plain(org.requests.at(-1).queryParams), { Name: "b" });
  assert.equal(await run("delete", "Account", created.Id), null);
  assert.equal((await onServer(created.Id)), undefined);
});

test("MS-358 Apex REST objects have their own path and id field", onTestBridge, async (t) => {
  const { Force, onServer, org } = await withLibrary(t);
  const run = (method, id, ...rest) => Force.syncApexRestObjectWithServer(method, "/simpleAccount", id, "accountId", ...rest);
  const { accountId } = await run("create", null, { accountName: "a" }, ["accountName"]);
  assert.equal((await onServer(accountId)).Name, "a");
  assert.equal((await run("read", accountId, null, ["accountId", "accountName"])).accountName, "a");
  assert.equal(org.requests.at(-1).path, `/simpleAccount/${accountId}?fields=accountId,accountName`);
  assert.deepEqual(plain(await run("update", accountId, { accountId, accountName: "b" }, null)), { accountId, accountName: "b" });
  assert.deepEqual(plain(org.requests.at(-1).queryParams), { accountName: "b" });
  assert.equal(await run("delete", accountId), null);
  const ids = ["x1", "x2"].map((Name) => org.create("Account", { Name }));
  const result = await Force.fetchApexRestObjectsFromServer({ apexRestPath: "/simpleAccounts", params: { namePattern: "x%" } });
  assert.deepEqual(plain(result.records.map((record) => record.accountId)), ids);
  assert.deepEqual([result.totalSize, result.hasMore()], [2, false]);
});

// ------------------------------------------------------------------------------------------ both

test("MS-351 and MS-355 each cache mode touches what it says", async (t) => {
  const { Force, cache, onServer } = await withLibrary(t);
  const { CACHE_ONLY, CACHE_FIRST, SERVER_ONLY, SERVER_FIRST } = Force.CACHE_MODE;
  const run = (method, id, attributes, fields, mode) => Force.syncSObject(method, "Account", id, attributes, fields, cache, mode);
  const { Id: id } = await run("create", null, { Name: "a" }, ["Name"], SERVER_ONLY);
  assert.equal(await cache.retrieve(id), null);
  assert.equal((await run("read", id, null, ["Name"], CACHE_FIRST)).Name, "a");
  assert.equal((await cache.retrieve(id)).Name, "a");
  const local = await run("update", id, { Name: "b", Phone: "1" }, ["Name"], CACHE_ONLY);
  assert.equal(local.Phone, undefined);
  assert.deepEqual([flags(local)[2], (await onServer(id)).Name], [true, "a"]);
  assert.equal((await run("read", id, null, ["Name"], CACHE_FIRST)).Name, "b");
  assert.equal((await run("read", id, null, ["Name", "Website"], CACHE_ONLY)).Name, "b");
  const pushed = await run("update", id, { Name: "c" }, ["Name"], SERVER_FIRST);
  assert.deepEqual([pushed.Name, (await onServer(id)).Name, (await cache.retrieve(id)).Name], ["c", "c", "c"]);
  assert.deepEqual(flags(pushed), [false, false, false, false]);
  const fresh = await run("create", null, { Name: "d" }, ["Name"]);
  assert.equal((await cache.retrieve(fresh.Id)).Name, "d");
  await run("delete", fresh.Id, null, null, CACHE_ONLY);
  assert.ok((await onServer(fresh.Id)));
  assert.equal(await run("delete", fresh.Id, null, null, SERVER_FIRST), null);
  assert.deepEqual([(await onServer(fresh.Id)), await cache.retrieve(fresh.Id)], [undefined, null]);
  for (const method of ["create", "update", "delete"]) {
    await assert.rejects(run(method, id, { Name: "x" }, ["Name"], CACHE_FIRST), /reads only/);
  }
  await assert.rejects(run("read", id, null, null, "nonsense"), /Unknown cache mode/);
  assert.equal((await Force.syncSObject("read", "Account", id, null, ["Name"])).Name, "c");
});

test("MS-355 a record created locally becomes a create on the server", async (t) => {
  const { Force, cache, onServer } = await withLibrary(t);
  const run = (method, id, attributes, mode) => Force.syncSObject(method, "Account", id, attributes, ["Name"], cache, mode);
  const local = await run("create", null, { Name: "a" }, Force.CACHE_MODE.CACHE_ONLY);
  await assert.rejects(run("read", local.Id), /created locally/);
  await assert.rejects(run("delete", local.Id), /created locally/);
  const pushed = await run("update", local.Id, { Id: local.Id, Name: "b" });
  assert.equal((await onServer(pushed.Id)).Name, "b");
  assert.deepEqual(flags(pushed), [false, false, false, false]);
  assert.equal(await cache.retrieve(local.Id), null);
  assert.equal((await cache.retrieve(pushed.Id)).Name, "b");
});

test("a failure of the server leaves the cache as it was", async (t) => {
  const { Force, cache } = await withLibrary(t);
  await cache.save({ Id: "gone", Name: "a" });
  const update = Force.syncSObject("update", "Account", "gone", { Name: "b" }, ["Name"], cache);
  await assert.rejects(update, (error) => new Force.Error(error).status === 404);
  assert.equal((await cache.retrieve("gone")).Name, "a");
});

// ------------------------------------------------------------------------------------------ conflicts

const FIELDS = ["Name", "Industry", "Phone"];
const record = (Name, Industry = "I0", Phone = "P0") => ({ Name, Industry, Phone });

test("MS-351 and MS-356 merge modes decide over remote, local and conflicting changes", async (t) => {
  const { Force, cache, originals, org, onServer } = await withLibrary(t);
  const { OVERWRITE, MERGE_ACCEPT_YOURS, MERGE_FAIL_IF_CONFLICT, MERGE_FAIL_IF_CHANGED } = Force.MERGE_MODE;
  const base = record("n0");
  const situations = {
    "only remote": { theirs: record("n1"), yours: base, lists: [[], ["Name"], []], merged: record("n1") },
    "both, apart": { theirs: record("n0", "I1"), yours: record("n0", "I0", "P1"), lists: [["Phone"], ["Industry"], []], merged: record("n0", "I1", "P1") },
    conflict: { theirs: record("nb", "I1"), yours: record("na", "I0", "P1"), lists: [["Name", "Phone"], ["Name", "Industry"], ["Name"]], merged: record("na", "I1", "P1") },
    "the same change": { theirs: record("n2"), yours: record("n2"), lists: [["Name"], ["Name"], []], merged: record("n2") },
    "no change": { theirs: base, yours: base, lists: [[], [], []], merged: base },
  };
  for (const [name, { theirs, yours, lists, merged }] of Object.entries(situations)) {
    for (const mode of [OVERWRITE, MERGE_ACCEPT_YOURS, MERGE_FAIL_IF_CONFLICT, MERGE_FAIL_IF_CHANGED]) {
      for (const method of ["update", "delete"]) {
        const id = await org.create("Account", theirs);
        await cache.save({ Id: id, ...yours });
        await originals.save({ Id: id, ...base });
        const run = Force.syncSObjectDetectConflict(method, "Account", id, yours, FIELDS, cache, Force.CACHE_MODE.SERVER_FIRST, originals, mode);
        const fails = (mode === MERGE_FAIL_IF_CHANGED && lists[1].length > 0) || (mode === MERGE_FAIL_IF_CONFLICT && lists[2].length > 0);
        const what = `${name}, ${mode}, ${method}`;
        if (fails) {
          await assert.rejects(run, (error) => {
            assert.deepEqual(plain([error.localChanges, error.remoteChanges, error.conflictingChanges]), lists, what);
            assert.equal(new Force.Error(error).type, "ConflictError");
            assert.deepEqual([error.base.Name, error.theirs.Name, error.yours.Name], [base.Name, theirs.Name, yours.Name]);
            return true;
          });
          assert.equal((await onServer(id)).Name, theirs.Name, what);
          assert.equal((await originals.retrieve(id)).Name, base.Name, what);
        } else if (method === "update") {
          const expected = mode === OVERWRITE ? yours : merged;
          const places = [await run, (await onServer(id)), await cache.retrieve(id), await originals.retrieve(id)];
          for (const place of places) assert.deepEqual(plain(FIELDS.map((field) => place[field])), FIELDS.map((field) => expected[field]), what);
        } else {
          assert.equal(await run, null, what);
          assert.deepEqual([(await onServer(id)), await cache.retrieve(id), await originals.retrieve(id)], [undefined, null, null], what);
        }
      }
    }
  }
});

test("MS-356 an empty text, null and an absent field are the same", async (t) => {
  const { Force, cache, originals, org } = await withLibrary(t);
  const id = await org.create("Account", { Name: "a", Industry: "" });
  await originals.save({ Id: id, Name: "a", Industry: null });
  const yours = { Name: "a", Phone: "" };
  const run = Force.syncSObjectDetectConflict("update", "Account", id, yours, FIELDS, cache, undefined, originals, "merge-fail-if-changed");
  assert.equal((await run).Name, "a");
});

test("MS-356 originals are saved for what came from the server, and for nothing else", async (t) => {
  const { Force, cache, originals, org } = await withLibrary(t);
  const { CACHE_ONLY, CACHE_FIRST, SERVER_ONLY } = Force.CACHE_MODE;
  const run = (method, id, attributes, mode) =>
    Force.syncSObjectDetectConflict(method, "Account", id, attributes, ["Name"], cache, mode, originals);
  const original = async (id) => (await originals.retrieve(id))?.Name;
  const { Id: id } = await run("create", null, { Name: "a" }, SERVER_ONLY);
  assert.equal(await original(id), "a");
  const local = await run("create", null, { Name: "l" }, CACHE_ONLY);
  assert.equal(await original(local.Id), undefined);
  await run("update", id, { Name: "b" }, CACHE_ONLY);
  assert.equal(await original(id), "a");
  await run("read", id, null, CACHE_FIRST);
  assert.equal(await original(id), "a");
  await run("update", id, { Name: "c" });
  assert.equal(await original(id), "c");
  const other = await org.create("Account", { Name: "o" });
  await run("read", other, null, CACHE_FIRST);
  assert.equal(await original(other), "o");
  await run("delete", id, null, CACHE_ONLY);
  assert.equal(await original(id), "c");
  await run("delete", id, null);
  assert.equal(await original(id), undefined);
  const pushed = await run("update", local.Id, { Name: "l2" });
  assert.equal(await original(pushed.Id), "l2");
  assert.deepEqual(flags(await originals.retrieve(pushed.Id)), [false, false, false, false]);
});

// ------------------------------------------------------------------------------------------ many records

test("MS-357 soql, sosl and mru fetch, with more pages for soql", onTestBridge, async (t) => {
  const { Force, org, names } = await withLibrary(t);
  org.pageSize = 2;
  const ids = ["a", "b", "c", "d", "e"].map((Name) => org.create("Account", { Name }));
  const result = await Force.fetchSObjectsFromServer({ type: "soql", query: "SELECT Id, Name FROM Account ORDER BY Name" });
  assert.deepEqual([result.totalSize, names(result.records), result.hasMore()], [5, ["a", "b"], true]);
  assert.deepEqual(names(await result.getMore()), ["c", "d"]);
  assert.deepEqual(names(await result.getMore()), ["e"]);
  assert.deepEqual([names(result.records), result.hasMore(), await result.getMore()], [["a", "b", "c", "d", "e"], false, null]);
  const closed = await Force.fetchSObjectsFromServer({ type: "soql", query: "SELECT Id FROM Account" });
  await closed.closeCursor();
  assert.equal(closed.hasMore(), false);
  assert.deepEqual(names((await Force.fetchSObjectsFromServer({ type: "sosl", query: "FIND {a*} RETURNING Account(Id)" })).records), ["a"]);
  org.pageSize = 9;
  const recent = await Force.fetchSObjectsFromServer({ type: "mru", sobjectType: "Account" });
  assert.deepEqual(plain(recent.records.map((one) => one.Id)), ids);
  const fields = { fieldlist: ["Id", "Name"], orderBy: "Name", orderDirection: "DESC" };
  const ordered = await Force.fetchSObjectsFromServer({ type: "mru", sobjectType: "Account", ...fields });
  assert.deepEqual(names(ordered.records), ["e", "d", "c", "b", "a"]);
  await assert.rejects(Force.fetchSObjectsFromServer({ type: "x" }), /Unknown type/);
});

test("MS-357 fetchSObjects saves every page into both caches", onTestBridge, async (t) => {
  const { Force, org, cache, originals, names } = await withLibrary(t);
  org.pageSize = 2;
  ["a", "b", "c"].forEach((Name) => org.create("Account", { Name }));
  const config = { type: "soql", query: "SELECT Id, Name FROM Account ORDER BY Name" };
  const result = await Force.fetchSObjects(config, cache, originals);
  assert.equal(result.records[0].__local__, false);
  await result.getMore();
  assert.deepEqual(names(result.records), ["a", "b", "c"]);
  const cacheQuery = { queryType: "range", indexPath: "Name", order: "ascending", pageSize: 9 };
  for (const one of [cache, originals]) assert.deepEqual(names((await one.find(cacheQuery)).records), ["a", "b", "c"]);
  const requests = org.requests.length;
  assert.deepEqual(names((await Force.fetchSObjects({ type: "cache", cacheQuery }, cache)).records), ["a", "b", "c"]);
  assert.equal(org.requests.length, requests);
});

test("a fetch that leaves local changes leaves what they were made to as well, so that a conflict is still found", async (t) => {
  const { Force, org, cache, originals, onServer } = await withLibrary(t);
  const [edited, other] = await createAll(org, "Account", ["edited", "other"].map((Name) => ({ Name, Phone: "1" })));
  const config = { type: "soql", query: "SELECT Id, Name, Phone FROM Account" };
  const fetch = () => Force.fetchSObjects(config, cache, originals, Force.MERGE_MODE_DOWNLOAD.LEAVE_IF_CHANGED);
  await fetch();
  await Force.syncRemoteObjectWithCache("update", edited, { Phone: "mine" }, ["Phone"], cache, true);
  for (const id of [edited, other]) await org.update("Account", id, { Phone: "theirs" });
  await fetch();
  assert.deepEqual([(await originals.retrieve(edited)).Phone, (await originals.retrieve(other)).Phone], ["1", "theirs"]);
  const save = Force.syncSObjectDetectConflict(
    "update", "Account", edited, { Phone: "mine" }, ["Phone"], cache, "server-first", originals, "merge-fail-if-conflict"
  );
  const conflict = new Force.Error(await save.catch((error) => error));
  assert.deepEqual([conflict.type, conflict.base.Phone, conflict.theirs.Phone], ["ConflictError", "1", "theirs"]);
  assert.equal((await onServer(edited)).Phone, "theirs");
});

// ------------------------------------------------------------------------------------------ models

test("MS-359 a model is saved, fetched, changed and destroyed", async (t) => {
  const { Force, cache, originals, onServer, org } = await withLibrary(t);
  const Account = Force.SObject.extend({ sobjectType: "Account", fieldlist: ["Id", "Name"], cache, cacheForOriginals: originals });
  const account = new Account({ Name: "a" });
  assert.equal(await withOptions(account, "save", null, {}), account);
  assert.equal((await onServer(account.id)).Name, "a");
  assert.equal((await originals.retrieve(account.id)).Name, "a");
  await org.update("Account", account.id, { Name: "theirs" });
  await withOptions(account, "fetch", {});
  assert.equal(account.get("Name"), "theirs");
  account.set("Name", "b");
  await withOptions(account, "save", null, {});
  assert.equal((await cache.retrieve(account.id)).Name, "b");
  await org.update("Account", account.id, { Name: "theirs again" });
  account.set("Name", "mine");
  const error = await withOptions(account, "save", null, { mergeMode: "merge-fail-if-conflict" }).catch((raw) => new Force.Error(raw));
  assert.deepEqual([error.type, plain(error.conflictingChanges)], ["ConflictError", ["Name"]]);
  await withOptions(account, "save", null, { mergeMode: Force.MERGE_MODE.MERGE_ACCEPT_YOURS });
  assert.equal((await onServer(account.id)).Name, "mine");
  const { id } = account;
  await withOptions(account, "destroy", {});
  assert.deepEqual([(await onServer(id)), await cache.retrieve(id), await originals.retrieve(id)], [undefined, null, null]);
});

test("MS-359 a save sends the model as it was when it was called", async (t) => {
  const { Force, cache, originals, onServer } = await withLibrary(t);
  const Account = Force.SObject.extend({ sobjectType: "Account", fieldlist: ["Name"], cache, cacheForOriginals: originals, mergeMode: "merge-accept-yours" });
  const account = new Account({ Name: "a" });
  await withOptions(account, "save", null, {});
  account.set("Name", "b");
  const saved = withOptions(account, "save", null, {});
  account.set("Name", "later");
  await saved;
  assert.equal((await onServer(account.id)).Name, "b");
});

test("MS-359 options of a call come before members, and members may be functions of the method", async (t) => {
  const { Force, cache, org } = await withLibrary(t);
  const methods = [];
  const Account = Force.SObject.extend({
    sobjectType: () => "Account",
    cache: () => cache,
    fieldlist: (method) => (methods.push(method), ["Name"]),
    cacheMode: (method) => (method === "read" ? "cache-first" : "server-only"),
  });
  const account = new Account({ Name: "a" });
  await withOptions(account, "save", null, {});
  assert.equal(await cache.retrieve(account.id), null);
  await withOptions(account, "fetch", {});
  assert.equal((await cache.retrieve(account.id)).Name, "a");
  await withOptions(account, "save", { Name: "b" }, { patch: true, cacheMode: "cache-only" });
  assert.equal((await org.query("SELECT Name FROM Account")).records[0].Name, "a");
  assert.deepEqual(methods, ["create", "read", "update"]);
  const error = await withOptions(account, "save", null, { cacheMode: "cache-first" }).catch((raw) => raw);
  assert.match(error.message, /reads only/);
});

test("MS-359 a model may talk to a server of its own", onTestBridge, async (t) => {
  const { Force } = await withLibrary(t);
  const File = Force.RemoteObject.extend({
    syncRemoteObjectWithServer: async (method, id) => ({ Id: id, method }),
  });
  const one = new File({ Id: "f" });
  await withOptions(one, "fetch", {});
  assert.equal(one.get("method"), "read");
  const Bare = Force.RemoteObject.extend({});
  await assert.rejects(withOptions(new Bare({ Id: "x" }), "fetch", {}), /not implemented/);
  const Simple = Force.ApexRestObject.extend({ apexRestPath: "/simpleAccount", idAttribute: "accountId", fieldlist: ["accountId", "accountName"] });
  const simple = new Simple({ accountName: "a" });
  await withOptions(simple, "save", null, {});
  assert.match(simple.id, /^001/);
});

test("MS-359 a collection fetches by config, pages, and drops responses to older fetches", onTestBridge, async (t) => {
  const { Force, org, cache, names } = await withLibrary(t);
  org.pageSize = 2;
  ["a", "b", "c"].forEach((Name) => org.create("Account", { Name }));
  const config = { type: "soql", query: "SELECT Id, Name FROM Account ORDER BY Name" };
  const Accounts = Force.SObjectCollection.extend({ config() { return this.wanted; } });
  const accounts = new Accounts();
  assert.equal((await withOptions(accounts, "fetch", {})).length, 0);
  assert.equal(accounts.hasMore(), false);
  accounts.wanted = config;
  await withOptions(accounts, "fetch", { cache });
  assert.deepEqual(plain(accounts.pluck("Name")), ["a", "b"]);
  assert.deepEqual([accounts.hasMore(), names(await accounts.getMore()), accounts.length, accounts.hasMore()], [true, ["c"], 3, false]);
  assert.equal(await accounts.getMore(), null);
  const cacheQuery = { queryType: "like", indexPath: "Name", likeKey: "b%", pageSize: 5 };
  await withOptions(accounts, "fetch", { config: { type: "cache", cacheQuery }, cache });
  assert.deepEqual(plain(accounts.pluck("Name")), ["b"]);
  for (const method of ["create", "update", "patch", "delete"]) assert.throws(() => accounts.sync(method, accounts, {}), /only be fetched/);
  await assert.rejects(withOptions(accounts, "fetch", { config: { type: "soql", query: "nonsense" } }), (error) => new Force.Error(error).status === 400);
  await withOptions(accounts, "fetch", {});
  await accounts.closeCursor();
  assert.equal(accounts.hasMore(), false);

  const waiting = [];
  accounts.fetchRemoteObjectsFromServer = () => new Promise((resolve) => waiting.push(resolve));
  const outcomes = [];
  accounts.fetch({ success: () => outcomes.push("old") });
  const newer = withOptions(accounts, "fetch", {});
  const result = (Name) => ({ records: [{ Id: Name, Name }], totalSize: 1, hasMore: () => false });
  waiting[1](result("new"));
  await newer;
  waiting[0](result("old"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([outcomes, plain(accounts.pluck("Name"))], [[], ["new"]]);
});

test("what a callback of the app throws reaches the page's error handlers", async (t) => {
  const { Force, org, page } = await withLibrary(t);
  const id = await org.create("Account", { Name: "a" });
  const account = new (Force.SObject.extend({ sobjectType: "Account", fieldlist: ["Name"] }))({ Id: id });
  await account.fetch({ success: () => { throw new Error("in success"); } });
  const missing = new (Force.SObject.extend({ sobjectType: "Account", fieldlist: ["Name"] }))({ Id: "none" });
  await assert.rejects(missing.fetch({ error: () => { throw new Error("in error"); } }));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(page.errors.map((error) => error.message), ["in success", "in error"]);
});

test("HT-14 the mock sync runs over the mock store and the library", onTestBridge, async (t) => {
  const { MockMobileSync, MockStores } = globalThis;
  const { org } = await withLibrary(t);
  const stores = new MockStores();
  const store = stores.get({});
  store.registerSoup("s", [{ path: "Id", type: "string" }]);
  const events = [];
  const sync = new MockMobileSync({ stores, server: org.client(), emit: (state) => events.push(state.status) });
  org.pageSize = 2;
  ["a", "b", "c"].forEach((Name) => org.create("Account", { Name }));
  const target = { type: "soql", query: "SELECT Id, Name FROM Account" };
  assert.equal(sync.syncDown({ target, soupName: "s" }).status, "RUNNING");
  await sync.running;
  assert.deepEqual(events, ["RUNNING", "DONE"]);
  sync.syncDown({ target: { type: "none" }, soupName: "s" });
  await sync.running;
  assert.equal(events.at(-1), "FAILED");
});
