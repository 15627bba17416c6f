import assert from "node:assert/strict";
import test from "node:test";
import { onTestBridge, random } from "./support/harness.mjs";
import { flags, withLibrary } from "./support/library.mjs";
import { plain } from "./support/page.mjs";

test("MS-318.2 and MS-343 init picks up the clients and registers the feature SJ", onTestBridge, async (t) => {
  const { Force, bridge, call } = await withLibrary(t);
  await call("test", "echo", []);
  assert.ok(bridge.features.has("SJ"));
  assert.equal(typeof Force.smartstoreClient.registerSoup, "function");
  assert.equal(typeof Force.forceJsClient.query, "function");
  assert.equal(typeof Force.forceJsClient.ownedFilesList, "function");
});

test("MS-344 Force.Error tells REST errors from conflicts", async (t) => {
  const { Force } = await withLibrary(t);
  const rest = new Force.Error({ status: 404, responseText: '[{"errorCode":"NOT_FOUND"}]' });
  assert.deepEqual([rest.type, rest.status, rest.details[0].errorCode, rest.xhr.status], ["RestError", 404, "NOT_FOUND", 404]);
  const raw = { base: 1, theirs: 2, yours: 3, remoteChanges: ["a"], localChanges: ["b"], conflictingChanges: [] };
  const conflict = new Force.Error(raw);
  assert.deepEqual(plain(conflict), { type: "ConflictError", ...raw });
  const plugin = new Force.Error(JSON.stringify({ response: { statusCode: 400, headers: {}, body: [{ errorCode: "X" }] } }));
  assert.deepEqual([plugin.type, plugin.status, plugin.details[0].errorCode], ["RestError", 400, "X"]);
  assert.equal(new Force.Error("no").message, "no");
  assert.equal(new Force.Error().type, undefined);
});

test("MS-345 init registers the key field, __local__ and the additional paths", async (t) => {
  const { Force } = await withLibrary(t);
  const cache = new Force.StoreCache("own", [{ path: "Mission", type: "string" }], "Code", true, "named");
  await cache.init();
  const specs = await Force.smartstoreClient.getSoupIndexSpecs({ isGlobalStore: true, storeName: "named" }, "own");
  assert.deepEqual(plain(specs), ["Code", "__local__", "Mission"].map((path) => ({ path, type: "string" })));
  const simple = new Force.StoreCache("simple");
  await simple.init();
  assert.equal(simple.keyField, "Id");
});

test("MS-346 retrieve gives null for a missing record and for missing fields", async (t) => {
  const { cache } = await withLibrary(t);
  await cache.save({ Id: "007", Name: "James", Address: { City: "London" }, Empty: null });
  assert.equal((await cache.retrieve("007")).Name, "James");
  assert.equal((await cache.retrieve("007", ["Name", "Address.City", "Empty"])).Id, "007");
  for (const fields of [["Mission"], ["Name", "Address.Street"], ["Address.City.Part"], ["Empty.x"]]) {
    assert.equal(await cache.retrieve("007", fields), null, String(fields));
  }
  assert.equal(await cache.retrieve("008"), null);
});

test("MS-351, SS-240 and MS-347 save merges, overwrites or leaves local changes", async (t) => {
  const { Force, cache } = await withLibrary(t);
  const { OVERWRITE, LEAVE_IF_CHANGED } = Force.MERGE_MODE_DOWNLOAD;
  const first = await cache.save({ Id: "007", Name: "James", Mission: "a" });
  const merged = await cache.save({ Id: "007", Mission: "b", Team: "MI6" });
  assert.equal(merged._soupEntryId, first._soupEntryId);
  assert.deepEqual([merged.Name, merged.Mission, merged.Team], ["James", "b", "MI6"]);
  assert.equal((await cache.save({ Id: "007", Mission: "c" }, OVERWRITE)).Name, undefined);
  assert.equal((await cache.save({ Id: "007", Mission: "d" }, true)).Mission, "d");
  assert.equal((await cache.save({ Id: "007", Mission: "e" }, LEAVE_IF_CHANGED)).Mission, "e");
  await cache.save({ Id: "007", Mission: "mine", __locally_updated__: true });
  const kept = await cache.save({ Id: "007", Mission: "theirs" }, LEAVE_IF_CHANGED);
  assert.equal(kept.Mission, "mine");
  assert.deepEqual(flags(kept), [true, false, true, false]);
});

test("MS-347 saveAll does the same for many records", async (t) => {
  const { cache, Force } = await withLibrary(t);
  const ids = ["007", "008", "it's"];
  await cache.saveAll(ids.map((Id) => ({ Id, Name: `n${Id}` })));
  const merged = await cache.saveAll(ids.map((Id) => ({ Id, Team: "t" })));
  assert.deepEqual(plain(merged.map((record) => [record.Id, record.Name, record.Team])), ids.map((id) => [id, `n${id}`, "t"]));
  const replaced = await cache.saveAll(ids.map((Id) => ({ Id })), Force.MERGE_MODE_DOWNLOAD.OVERWRITE);
  assert.ok(replaced.every((record) => record.Name === undefined));
  await assert.rejects(cache.saveAll([{ Id: "1" }, { Name: "x" }]), { message: "Can't merge without Id" });
  assert.equal(await cache.retrieve("1"), null);
  assert.deepEqual(plain(await cache.saveAll([])), []);
});

test("MS-347 savings of one record at the same time lose nothing", async (t) => {
  const { cache, Force } = await withLibrary(t);
  const same = new Force.StoreCache("cache");
  const fields = Array.from({ length: 20 }, (_, index) => `f${index}`);
  await Promise.all(fields.map((field, index) => (index % 2 ? cache : same).save({ Id: "1", [field]: index })));
  const record = await cache.retrieve("1", fields);
  assert.notEqual(record, null);
  await assert.rejects(cache.save({ Name: "x" }));
  assert.equal((await cache.save({ Id: "2" })).Id, "2");
});

test("MS-348 find pages through results and closes its cursor on the last page", onTestBridge, async (t) => {
  const { cache, bridge, names } = await withLibrary(t);
  await cache.saveAll(["c", "a", "b", "B"].map((Name, index) => ({ Id: String(index), Name })));
  const smartSql = "SELECT {cache:_soup} FROM {cache} WHERE {cache:Name} LIKE '%' ORDER BY LOWER({cache:Name})";
  const specs = [
    [{ queryType: "range", indexPath: "Name", order: "ascending", pageSize: 3 }, ["B", "a", "b", "c"]],
    [{ queryType: "smart", smartSql, pageSize: 3 }, ["a", "b", "B", "c"]],
  ];
  for (const [spec, expected] of specs) {
    const result = await cache.find(spec);
    assert.deepEqual(names(result.records), expected.slice(0, 3));
    assert.equal(result.hasMore(), true);
    assert.deepEqual(names(await result.getMore()), expected.slice(3));
    assert.deepEqual(names(result.records), expected);
    assert.equal(result.hasMore(), false);
    assert.equal(await result.getMore(), null);
  }
  const early = await cache.find(specs[0][0]);
  await early.closeCursor();
  assert.equal(early.hasMore(), false);
  assert.equal(bridge.stores.get({}).cursors.size, 0);
});

test("MS-349 remove takes one record or none, never one of several", async (t) => {
  const { cache, Force } = await withLibrary(t);
  await cache.save({ Id: "1" });
  await Force.smartstoreClient.upsertSoupEntries("cache", [{ Id: "2" }, { Id: "2" }]);
  for (const key of ["none", "1", "2"]) assert.equal(await cache.remove(key), null);
  assert.equal(await cache.retrieve("1"), null);
  assert.equal((await cache.find({ queryType: "range", indexPath: "Id", pageSize: 9 })).records.length, 2);
});

test("MS-350 local ids and local flags", async (t) => {
  const { cache } = await withLibrary(t);
  const ids = new Set(Array.from({ length: 1000 }, () => cache.makeLocalId()));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.equal(cache.isLocalId(id), true);
  assert.deepEqual([null, undefined, "001", ""].map((id) => cache.isLocalId(id)), [false, false, false, false]);
  assert.deepEqual(flags(cache.addLocalFields({ Id: "1" })), [false, false, false, false]);
  assert.deepEqual(flags(cache.addLocalFields({ Id: "1", __locally_deleted__: true })), [true, false, false, true]);
  assert.deepEqual(flags(cache.addLocalFields({ Id: "1", __local__: true })), [false, false, false, false]);
});

test("MS-352 descriptions are requested once and share one cache record", onTestBridge, async (t) => {
  const { Force, cache, org } = await withLibrary(t);
  const requested = () => org.requests.filter((request) => /describe|sobjects\/Account$/.test(request.path)).length;
  const [one, other] = [new Force.SObjectType("Account", cache), new Force.SObjectType("Account", cache)];
  const [first, second] = await Promise.all([one.describe(), one.describe()]);
  assert.equal(first, second);
  assert.equal(first.name, "Account");
  await Promise.all([other.getMetadata(), one.describeLayout()]);
  assert.equal(requested(), 3);
  const record = await cache.retrieve("Account", ["describeResult", "metadataResult", "layoutInfo_012000000000000AAA"]);
  assert.equal(record.metadataResult.objectDescribe.name, "Account");
  const offline = new Force.SObjectType("Account", cache, Force.CACHE_MODE.CACHE_ONLY);
  assert.equal((await offline.describe()).keyPrefix, "001");
  assert.equal((await offline.describeLayout()).detailLayoutSections.length, 0);
  await new Force.SObjectType("Account", cache, Force.CACHE_MODE.CACHE_FIRST).describe();
  assert.equal(requested(), 3);
  await one.reset();
  assert.equal(await cache.retrieve("Account"), null);
  await one.describe();
  assert.equal(requested(), 4);
});

test("MS-352 a description that failed is requested again", onTestBridge, async (t) => {
  const { Force, org } = await withLibrary(t);
  const type = new Force.SObjectType("Account");
  const { handle } = org;
  org.handle = () => ({ status: 500, headers: {}, body: [] });
  await assert.rejects(type.describe());
  org.handle = handle;
  assert.equal((await type.describe()).name, "Account");
});

test("keys of any text merge into their own records", async (t) => {
  const { cache } = await withLibrary(t);
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const draw = random(seed);
  const characters = [..."ab'\"(){}[]:,;%_\\ -", "\u00e9", "\u{1f600}"];
  const keys = new Set(Array.from({ length: 120 }, () => Array.from({ length: 1 + draw.below(6) }, () => draw.pick(characters)).join("")));
  await cache.saveAll([...keys].map((Id) => ({ Id, first: Id })));
  const merged = await cache.saveAll([...keys].map((Id) => ({ Id, second: Id })));
  assert.deepEqual(plain(merged.map((record) => [record.Id, record.first, record.second])), [...keys].map((key) => [key, key, key]));
});

test("an app can derive from the cache in the old way", async (t) => {
  const { Force } = await withLibrary(t);
  function Upper(soupName) {
    Force.StoreCache.call(this, soupName, [{ path: "Name", type: "string" }]);
  }
  Upper.prototype = Object.create(Force.StoreCache.prototype);
  Upper.prototype.constructor = Upper;
  Upper.prototype.save = function (record, mode) {
    return Force.StoreCache.prototype.save.call(this, { ...record, Name: record.Name.toUpperCase() }, mode);
  };
  const cache = new Upper("upper");
  await cache.init();
  assert.equal((await cache.save({ Id: "1", Name: "a" })).Name, "A");
  assert.equal((await cache.retrieve("1")).Name, "A");
  function Type() {
    Force.SObjectType.call(this, "Account");
  }
  Type.prototype = Object.create(Force.SObjectType.prototype);
  assert.equal((await new Type().describe()).name, "Account");
});
