import assert from "node:assert/strict";
import test from "node:test";
import "../mock/MockSmartStore.js";
import { random } from "./support/harness.mjs";
import { Page, plain } from "./support/page.mjs";

const { MockSmartStore, MockStores } = globalThis;
const file = (name) => new URL(`../${name}`, import.meta.url).href;

function storeWith(name, specs, entries) {
  const store = new MockSmartStore();
  store.registerSoup(name, specs.map(([path, type]) => ({ path, type })));
  store.upsertSoupEntries(name, entries);
  return store;
}

const names = (store, soup, spec) => {
  const { rows, values } = store.query(soup, { pageSize: 100, ...spec });
  return rows.map(values).map((entry) => entry.name);
};

// ------------------------------------------------------------------------------------------ soups

test("SS-238 wrong names, specs and soups are refused with their texts", () => {
  const store = new MockSmartStore();
  assert.throws(() => store.registerSoup(null, [{ path: "a", type: "string" }]), { message: "Bogus soup name: null" });
  assert.throws(() => store.registerSoup("s", []), { message: "No indexSpecs specified for soup: s" });
  assert.throws(() => store.registerSoup("s", [{ path: "a", type: "boolean" }]), /Invalid index spec/);
  for (const action of ["getSoupIndexSpecs", "clearSoup", "getSoupSpec"]) {
    assert.throws(() => store[action]("none"), { message: "Soup: none does not exist" });
  }
  assert.throws(() => store.upsertSoupEntries("none", []), { message: "Soup: none does not exist" });
  assert.throws(() => store.alterSoup("none", [{ path: "a", type: "string" }], true), { message: "Soup: none does not exist" });
  store.removeSoup("none");
});

test("registering twice keeps the soup and its entries", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }]);
  store.registerSoup("s", [{ path: "other", type: "string" }]);
  assert.deepEqual(store.getSoupIndexSpecs("s"), [{ path: "name", type: "string" }]);
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "name" }), ["a"]);
});

test("SS-177 new paths find nothing until the soup is re-indexed, old paths still do", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a", type: "x" }, { name: "b", type: "x" }]);
  const find = (indexPath, matchKey) => names(store, "s", { queryType: "exact", indexPath, matchKey });
  store.alterSoup("s", [{ path: "name", type: "string" }, { path: "type", type: "string" }], false);
  assert.deepEqual(find("type", "x"), []);
  assert.deepEqual(find("name", "a"), ["a"]);
  store.upsertSoupEntries("s", [{ name: "c", type: "x" }]);
  assert.deepEqual(find("type", "x"), ["c"]);
  store.reIndexSoup("s", ["type", "unknown"]);
  assert.deepEqual(find("type", "x"), ["a", "b", "c"]);
  store.alterSoup("s", [{ path: "type", type: "json1" }], false);
  assert.deepEqual(find("type", "x"), ["a", "b", "c"]);
  assert.throws(() => find("name", "a"), { message: "s does not have an index on name" });
});

test("ids are never used twice, and a removed soup starts again", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }, { name: "b" }]);
  store.clearSoup("s");
  assert.equal(store.upsertSoupEntries("s", [{ name: "c" }])[0]._soupEntryId, 3);
  store.removeSoup("s");
  store.registerSoup("s", [{ path: "name", type: "string" }]);
  assert.equal(store.upsertSoupEntries("s", [{ name: "d" }])[0]._soupEntryId, 1);
});

// ------------------------------------------------------------------------------------------ entries

test("an upsert writes all entries or none, and stores copies", () => {
  const store = storeWith("s", [["name", "string"]], []);
  const mine = { name: "a", list: [1] };
  const [stored] = store.upsertSoupEntries("s", [mine]);
  mine.list.push(2);
  stored.list.push(3);
  assert.deepEqual(store.retrieveSoupEntries("s", [1])[0].list, [1]);
  for (const bad of [null, 5, [], "x"]) {
    assert.throws(() => store.upsertSoupEntries("s", [{ name: "b" }, bad]), /Invalid entry/);
  }
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "name" }), ["a"]);
  assert.equal(store.upsertSoupEntries("s", [{ name: "c" }])[0]._soupEntryId, 2);
});

test("an external id that fits several entries is refused", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }, { name: "a" }]);
  assert.throws(() => store.upsertSoupEntries("s", [{ name: "a" }], "name"), {
    message: "There are more than one soup elements where name is a",
  });
});

test("retrieving and removing leave out ids that do not exist", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }, { name: "b" }, { name: "c" }]);
  assert.deepEqual(store.retrieveSoupEntries("s", [3, 9, 1, 3]).map((entry) => entry.name), ["c", "a"]);
  store.removeFromSoup("s", [1, 9]);
  store.removeByQuery("s", { queryType: "range", indexPath: "name", orderPath: "name", pageSize: 1 });
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "name" }), ["c"]);
  store.removeByQuery("s", { queryType: "smart", smartSql: "select {s:_soupEntryId} from {s}", pageSize: 5 });
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "name" }), []);
});

// ------------------------------------------------------------------------------------------ queries

test("SS-77 paths lead through arrays and nested arrays", () => {
  const entry = {
    name: "e",
    r: [{ v: "p" }, { v: 3 }, { v: [4, 5] }, {}, { v: { w: 6 } }],
    q: [{ u: [{ z: 1 }, { z: 2 }] }, { u: [{ z: 3 }] }, { u: [{ z: 4 }, { y: 5 }] }],
    o: { l: [9], m: { k: 1 } },
  };
  const cases = {
    "r.v": '["p",3,[4,5],{"w":6}]', "r.v.w": "[6]", "q.u.z": "[[1,2],[3],[4]]", "q.u.y": "[[5]]", "o.l": "[9]", "o.m": '{"k":1}', "o.m.k": "1",
  };
  for (const [path, text] of Object.entries(cases)) {
    const store = storeWith("s", [[path, "string"]], [entry]);
    assert.deepEqual(names(store, "s", { queryType: "exact", indexPath: path, matchKey: text }), ["e"], path);
  }
  const store = storeWith("s", [["q.u.x", "string"]], [entry]);
  assert.deepEqual(names(store, "s", { queryType: "like", indexPath: "q.u.x", likeKey: "%" }), []);
});

test("numbers compare as numbers on number indexes, booleans are found by true and false", () => {
  const entries = [3, 20, 100].map((rank) => ({ name: String(rank), rank, flag: rank > 50 }));
  const store = storeWith("s", [["rank", "integer"], ["flag", "string"]], entries);
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "rank", beginKey: 5, endKey: 150, orderPath: "rank" }), ["20", "100"]);
  assert.deepEqual(names(store, "s", { queryType: "range", indexPath: "rank", endKey: 20, orderPath: "rank", order: "descending" }), ["20", "3"]);
  assert.deepEqual(names(store, "s", { queryType: "exact", indexPath: "flag", matchKey: true }), ["100"]);
  assert.deepEqual(names(store, "s", { queryType: "exact", indexPath: "flag", matchKey: false }), ["3", "20"]);
});

test("like ignores case and knows % and _, and nothing else", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "Todd Stellanova" }, { name: "Robot" }, { name: "R.bot" }, {}]);
  const like = (likeKey) => names(store, "s", { queryType: "like", indexPath: "name", likeKey });
  assert.deepEqual(like("todd%"), ["Todd Stellanova"]);
  assert.deepEqual(like("todd"), []);
  assert.deepEqual(like("%BOT"), ["Robot", "R.bot"]);
  assert.deepEqual(like("r_bot"), ["Robot", "R.bot"]);
  assert.deepEqual(like("R.bot"), ["R.bot"]);
});

test("select paths give rows, also for one path and for repeated ones", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }, {}]);
  const { rows, values } = store.query("s", { queryType: "range", indexPath: "name", selectPaths: ["name", "name", "_soupEntryId"] });
  assert.deepEqual(rows.map(values), [["a", "a", 1], [null, null, 2]]);
});

test("SS-167 and SS-168 full-text queries find what the guide says", () => {
  const animals = storeWith("animals", [["name", "full_text"], ["color", "full_text"]],
    [["cat", "black"], ["cat", "white"], ["dog", "black"], ["dog", "brown"], ["dog", "white"]].map(([name, color]) => ({ name, color })));
  const find = (store, soup, matchKey, indexPath) =>
    store.query(soup, { queryType: "match", matchKey, indexPath, pageSize: 9 }).rows.map((row) => row.entry._soupEntryId);
  const cases = [
    [null, "black", [1, 3]], [null, "black cat", [1]], [null, "black OR cat", [1, 2, 3]], [null, "b*", [1, 3, 4]],
    [null, "black NOT cat", [3]], [null, "{animals:color}:black NOT cat", [3]], ["color", "black", [1, 3]],
    ["color", "black cat", []], ["color", "black OR cat", [1, 3]], ["color", "b*", [1, 3, 4]], ["color", "black NOT cat", [1, 3]],
    [null, "BLACK", [1, 3]], [null, "(cat OR dog) AND white", [2, 5]], [null, '"cat"', [1, 2]],
  ];
  for (const [path, key, ids] of cases) assert.deepEqual(find(animals, "animals", key, path), ids, `${path} ${key}`);
  const staff = storeWith("staff", [["first", "full_text"], ["last", "full_text"], ["no", "string"]],
    [["Ada", "Lovelace"], ["Alan", "Turing"], ["Grace", "Hopper"], ["Hopper", "Ada"]].map(([first, last]) => ({ first, last })));
  const staffCases = [
    [null, "Hopper", [3, 4]], [null, "Ada Hopper", [4]], [null, "Ho*", [3, 4]], [null, "Ada OR Grace NOT Hopper", [1, 4]],
    [null, "Hopper NOT Ada", [3]], [null, "{staff:first}:Hopper", [4]], [null, "{staff:last}:Hopper OR {staff:first}:Alan", [2, 3]],
    [null, "Hopperr", []], ["first", "A*", [1, 2]], ["first", "A* NOT Ada", [2]], ["first", "Ada OR Grace", [1, 3]], ["last", "Turing", [2]],
  ];
  for (const [path, key, ids] of staffCases) assert.deepEqual(find(staff, "staff", key, path), ids, `${path} ${key}`);
  for (const bad of ["AND", "NOT cat", "cat AND NOT dog", '"cat', "(cat", "cat)", "*", "", null]) {
    assert.throws(() => find(animals, "animals", bad), Error, String(bad));
  }
  assert.throws(() => find(staff, "staff", "x", "no"), /full_text/);
});

test("SS-169 full text reaches into arrays", () => {
  const store = storeWith("s", [["attributes.color", "full_text"]],
    [{ name: "elephant", attributes: [{ color: "grey" }] }, { name: "cat", attributes: [{ color: "black" }, { color: "white" }] }]);
  assert.deepEqual(names(store, "s", { queryType: "match", indexPath: "attributes.color", matchKey: "white black" }), ["cat"]);
});

test("SS-237 the documented forms of Smart SQL work in any case", () => {
  const store = storeWith("s", [["name", "string"], ["id", "string"], ["rank", "integer"]],
    [{ name: "b", id: "1", rank: 1 }, { name: "A", id: "2", rank: 2 }, { name: "it's", id: "3", rank: 3 }]);
  const rows = (sql) => store.smartRows(sql).map((row) => row.map((value) => (value && value.name) || value));
  assert.deepEqual(rows("SELECT count(*) FROM {s}"), [[3]]);
  assert.deepEqual(rows("select {s:name} from {s} where {s:id} in ('1', '3')"), [["b"], ["it's"]]);
  assert.deepEqual(rows("SELECT {s:name}, {s:id} FROM {s} WHERE {s:name} IN ('it''s', 'x)')"), [["it's", "3"]]);
  assert.deepEqual(rows("SELECT {s:_soup} FROM {s} WHERE {s:name} LIKE '%' ORDER BY LOWER({s:name})"), [["A"], ["b"], ["it's"]]);
  const compared = { "= 2": ["A"], "!= 2": ["b", "it's"], "< 2": ["b"], "<= 2": ["b", "A"], "> 2": ["it's"], ">= 2": ["A", "it's"] };
  for (const [comparison, expected] of Object.entries(compared)) {
    assert.deepEqual(rows(`SELECT {s:_soup} FROM {s} WHERE {s:rank} ${comparison}`).flat(), expected, comparison);
  }
  assert.deepEqual(rows(`select {s:_soup} from {s} where {s:name} = "A"`), [["A"]]);
  for (const sql of ["delete from {s}", "select {s:name}, {t:name} from {s}, {t}", "select {s:name} from {t}", "x", ""]) {
    assert.throws(() => store.smartRows(sql), /^Error: SmartQuery not supported by MockSmartStore:/, sql);
  }
  assert.throws(() => store.smartRows("select {s:other} from {s}"), { message: "s does not have an index on other" });
  assert.throws(() => store.smartRows("select {t:name} from {t}"), { message: "Soup: t does not exist" });
});

test("queries agree with a plain search through the entries", (t) => {
  const seed = Date.now();
  t.diagnostic(`seed ${seed}`);
  const draw = random(seed);
  for (let round = 0; round < 100; round++) {
    const entries = Array.from({ length: draw.below(30) }, () => ({
      name: draw.pick(["a", "b", "B", "c d", "", null]),
      rank: draw.pick([0, 1, 2.5, -3, null, undefined, "4"]),
    }));
    const store = storeWith("s", [["name", "string"], ["rank", "floating"]], entries);
    const wanted = draw.pick(["a", "B", ""]);
    const found = store.query("s", { queryType: "exact", indexPath: "name", matchKey: wanted, pageSize: 5 }).rows;
    assert.equal(found.length, entries.filter((entry) => entry.name === wanted).length);
    const [low, high] = [draw.below(5) - 3, draw.below(5)];
    const inRange = entries.filter(({ rank }) => typeof rank === "number" && rank >= low && rank <= high);
    const spec = { queryType: "range", indexPath: "rank", beginKey: low, endKey: high, orderPath: "rank", pageSize: 3 };
    let cursor = store.openCursor("s", spec);
    const paged = [...cursor.currentPageOrderedEntries];
    for (let index = 1; index < cursor.totalPages; index++) {
      cursor = store.moveCursor(cursor.cursorId, index);
      paged.push(...cursor.currentPageOrderedEntries);
    }
    assert.equal(cursor.totalEntries, inRange.length);
    assert.deepEqual(paged.map((entry) => entry.rank), inRange.map((entry) => entry.rank).sort((a, b) => a - b));
  }
});

// ------------------------------------------------------------------------------------------ stores and pages

test("stores are kept apart by kind and name, and removed without regard to case", () => {
  const stores = new MockStores();
  stores.get({ storeName: "A" }).registerSoup("s", [{ path: "name", type: "string" }]);
  assert.equal(stores.get({ storeName: "A", isGlobalStore: true }).soupExists("s"), false);
  assert.equal(stores.get({}).storeName, "defaultStore");
  stores.remove({ storeName: "a" });
  assert.deepEqual(stores.list(false), [{ storeName: "defaultStore", isGlobalStore: false }]);
  stores.removeAll(false);
  assert.deepEqual(stores.list(false), []);
  assert.equal(stores.list(true).length, 1);
});

test("the JSON form of a store is what its size counts, and gives back the store", () => {
  const store = storeWith("s", [["name", "string"]], [{ name: "a" }, { name: "b" }]);
  const { length } = store.toJSON();
  store.upsertSoupEntries("s", [{ name: "c".repeat(500) }]);
  assert.ok(store.toJSON().length >= length + 500);
  const other = new MockSmartStore();
  other.fromJSON(store.toJSON());
  assert.equal(other.toJSON(), store.toJSON());
  assert.equal(other.upsertSoupEntries("s", [{ name: "d" }])[0]._soupEntryId, 4);
});

class Storage {
  items = new Map();
  getItem = (key) => this.items.get(key) ?? null;
  setItem = (key, value) => void this.items.set(key, value);
}

const mockPage = async (storage) => {
  const page = new Page("http://localhost/index.html", { cookies: storage });
  for (const name of ["mock/MockCordova.js", "mock/MockSmartStore.js", "mock/MockSDKInfo.js"]) await page.script(file(name));
  for (const name of ["util.exec", "util.promiser", "util.storeconfig", "plugin.sdkinfo", "plugin.smartstore", "plugin.smartstore.client"]) {
    await page.script(file(`plugins/com.salesforce/www/com.salesforce.${name}.js`));
  }
  page.finish();
  await page.deviceReady();
  return page;
};

test("HT-14 the plug-in works over the mock, without a bridge", async () => {
  const page = await mockPage(new Storage());
  const client = page.window.cordova.require("com.salesforce.plugin.smartstore.client");
  assert.equal(await client.registerSoup("s", [{ path: "name", type: "string" }]), "s");
  await client.upsertSoupEntries("s", [{ name: "a" }]);
  const cursor = await client.querySoup("s", { queryType: "exact", indexPath: "name", matchKey: "a", pageSize: 1 });
  assert.equal(cursor.totalEntries, 1);
  await assert.rejects(client.querySoup("s", { queryType: "exact", indexPath: "b", matchKey: "a" }), (error) => error === "s does not have an index on b");
  assert.equal(page.window.mockStore.soupExists("s"), true);
  const sdkinfo = page.window.cordova.require("com.salesforce.plugin.sdkinfo");
  const info = await new Promise((resolve, reject) => sdkinfo.getInfo(resolve, reject));
  assert.equal(info.sdkVersion, "14.0.0");
  const unknown = new Promise((resolve, reject) => page.window.cordova.exec(reject, resolve, "no", "such", []));
  assert.match(await unknown, /No mock for no.such/);
  assert.deepEqual(page.errors, []);
});

test("HT-14 interceptExec sees arguments without the version", async () => {
  const page = await mockPage(new Storage());
  const seen = [];
  page.window.cordova.interceptExec("com.salesforce.smartstore", "pgSoupExists", (success, error, args) => {
    seen.push(plain(args));
    success(true);
  });
  const client = page.window.cordova.require("com.salesforce.plugin.smartstore.client");
  assert.equal(await client.soupExists("s"), true);
  assert.deepEqual(seen, [[{ soupName: "s", isGlobalStore: false }]]);
});

test("SS-236 stores survive a reload in sessionStorage, and go on in memory when they no longer fit", async () => {
  const storage = new Storage();
  const first = await mockPage(storage);
  const client = first.window.cordova.require("com.salesforce.plugin.smartstore.client");
  await client.registerSoup("s", [{ path: "name", type: "string" }]);
  await client.registerSoup(true, "g", [{ path: "name", type: "string" }]);
  first.window.dispatchEvent(new Event("pagehide"));
  assert.deepEqual([...storage.items.keys()], ["mockStore", "mockGlobalStore"]);
  const second = await mockPage(storage);
  const again = second.window.cordova.require("com.salesforce.plugin.smartstore.client");
  assert.equal(await again.soupExists("s"), true);
  assert.equal(await again.soupExists(true, "g"), true);
  storage.setItem = () => { throw new Error("quota"); };
  await again.registerSoup("t", [{ path: "name", type: "string" }]);
  second.window.dispatchEvent(new Event("pagehide"));
  assert.equal(await again.soupExists("t"), true);
  assert.ok(second.messages.some((line) => /no longer fit into sessionStorage/.test(line)));
});
