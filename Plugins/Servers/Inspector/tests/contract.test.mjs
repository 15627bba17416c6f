// Checks a server against Docs/Inspector-interface.md: the reference server, the one whose address is in INSPECTOR_URL, or with
// FIELDFORCE_TOOL the one of `fieldforce inspect`.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { parseExact, exactText } from "../www/data/exact.js";
import { connect, events } from "./client.mjs";

const same = (value, type) => assert.equal(typeof value, type);
const isTime = (value) => assert.ok(Number.isInteger(value) && value > 1e12, String(value));
const isId = (value) => assert.match(value, /^[A-Za-z0-9_-]+$/);

function isError({ status, document }, expected, name) {
  assert.equal(status, expected, JSON.stringify(document));
  const { error } = document;
  assert.ok(["string", "number"].includes(typeof error.code));
  assert.equal(error.name, name);
  assert.match(error.message, /^[A-Z'"n]/);
  assert.ok(error.remedy === null || typeof error.remedy === "string");
}

test("the contract", async (t) => {
  const api = await connect(t, { entries: 100_000 });
  const { pathname, host } = api.url;
  const stores = (await api.get("stores")).stores;
  const open = stores.filter(({ status }) => status === "open");
  // The store with most soups has most to show.
  const store = [...open].sort((left, right) => right.soups - left.soups)[0];
  const soups = (await api.get(`stores/${store.id}/soups`)).soups;
  const large = [...soups].sort((left, right) => (right.count ?? 0) - (left.count ?? 0))[0];
  const entries = `stores/${store.id}/soups/${large.id}/entries`;

  await t.test("without the token, with another, and outside of the page: 403 without content", async () => {
    const refused = [
      ["/", {}], ["/index.html", {}], [`/${"A".repeat(22)}/`, {}], [pathname.slice(0, -1), {}], [`${pathname}api/status`, { authorized: false }],
      [`${pathname}api/nothing`, { authorized: false }], [`${pathname}api/status?token=${api.token}`, { authorized: false }],
      [`${pathname}api/status`, { authorized: false, headers: { Authorization: `Bearer ${api.token.slice(1)}` } }],
      [`${pathname}api/status`, { authorized: false, headers: { Cookie: `token=${api.token}` } }],
      [`${pathname}api/status`, { headers: { Host: "evil.example" } }], [`${pathname}api/status`, { headers: { Host: `localhost.evil.example:${api.url.port}` } }],
      [pathname, { headers: { Host: "evil.example" } }], [`${pathname}api/status`, { headers: { Origin: "http://evil.example" } }],
      [`${pathname}api/status`, { headers: { Origin: "null" } }], [`${pathname}api/status`, { headers: { Origin: `https://${host}` } }],
      [`${pathname}api/status`, { headers: { "Sec-Fetch-Site": "cross-site" } }], [`${pathname}api/status`, { headers: { "Sec-Fetch-Site": "same-site" } }],
    ];
    for (const [path, options] of refused) {
      const { status, text, headers } = await api.raw(path, options);
      assert.deepEqual([status, text], [403, ""], `${path} ${JSON.stringify(options)}`);
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
  });

  await t.test("each response has the headers that keep other sites out", async () => {
    for (const path of ["/", pathname, `${pathname}api/status`, `${pathname}none.js`]) {
      const { headers } = await api.raw(path);
      assert.match(headers["content-security-policy"], /default-src 'none'; script-src 'self'; style-src 'self';.*require-trusted-types-for 'script'/);
      assert.doesNotMatch(headers["content-security-policy"], /unsafe/);
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["cross-origin-opener-policy"], "same-origin");
      assert.equal(headers["cross-origin-resource-policy"], "same-origin");
    }
  });

  await t.test("the files of the page are served with their types, and nothing else", async () => {
    const folder = new URL("../www/", import.meta.url);
    const types = { html: "text/html", css: "text/css", js: "text/javascript", svg: "image/svg+xml" };
    for (const name of (await readdir(folder, { recursive: true })).filter((one) => one.includes("."))) {
      const { status, headers, text } = await api.raw(pathname + name, { authorized: false });
      assert.equal(status, 200, name);
      assert.equal(headers["content-type"], `${types[name.split(".").pop()]}; charset=utf-8`);
      assert.ok(text.length > 0);
    }
    for (const name of ["../server/server.mjs", "..%2fserver%2fserver.mjs", "%2e%2e/client.mjs", "data/", "data", "none.js", "parts/..//../client.mjs", "index.html%00.js"]) {
      assert.deepEqual(await api.raw(pathname + name).then(({ status, text }) => [status, text]), [404, ""], name);
    }
  });

  await t.test("status names the access, the sources and the limits", async () => {
    const status = await api.get("status");
    assert.equal(status.interface, 1);
    same(status.product, "string");
    same(status.application, "string");
    isTime(status.startTime);
    assert.ok(["readWrite", "readOnly"].includes(status.access));
    assert.equal(status.access === "readOnly", status.accessError !== null);
    assert.deepEqual(Object.keys(status.sources).sort(), ["analytics", "logs", "requests", "syncs"]);
    for (const limit of ["requestBytes", "pageEntries", "cellCharacters", "textCharacters", "queryMilliseconds", "searchMilliseconds"]) same(status.limits[limit], "number");
  });

  await t.test("what does not exist, and a request that cannot be read, has its error", async () => {
    isError(await api.call("GET", "nothing"), 404, "notFound");
    isError(await api.call("GET", "stores/none"), 404, "notFound");
    isError(await api.call("GET", "stores/%2e%2e/soups"), 404, "notFound");
    isError(await api.call("GET", `stores/${store.id}/soups/none/entries`), 404, "unknownSoup");
    isError(await api.call("GET", `${entries}/0`), 404, "noSuchEntry");
    isError(await api.call("GET", `${entries}/1e2`), 404, "noSuchEntry");
    isError(await api.call("GET", `stores/${store.id}/syncs/987654321`), 404, "doesNotExist");
    isError(await api.post("accounts/none/switch"), 404, "unknownAccount");
    isError(await api.call("GET", `${entries}?limit=0`), 400, "invalidRequest");
    isError(await api.call("GET", `${entries}?limit=501`), 400, "invalidRequest");
    isError(await api.call("GET", `${entries}?colour=red`), 400, "invalidRequest");
    isError(await api.call("GET", `${entries}?after=nonsense`), 400, "invalidCursor");
    isError(await api.call("DELETE", "stores"), 405, "invalidRequest");
    const { next } = await api.get(`${entries}?limit=1`);
    if (next) isError(await api.call("GET", `${entries}?limit=1&direction=descending&after=${next}`), 400, "invalidCursor");
  });

  await t.test("bodies have a type, a form and a size", async () => {
    const path = `${pathname}api/stores/${store.id}/query`;
    const send = (body, type) => api.raw(path, { method: "POST", body, headers: type ? { "Content-Type": type } : {} });
    assert.equal((await send("{}", "text/plain")).status, 415);
    assert.equal((await send("{}")).status, 415);
    for (const body of ["", "[]", "{", "null", '"x"']) assert.equal((await send(body, "application/json")).status, 400, body);
    const { limits } = await api.get("status");
    assert.equal((await send(`{"smartSQL":"${"x".repeat(limits.requestBytes)}"}`, "application/json")).status, 413);
  });

  await t.test("a store that cannot be read says why and what to do, also below its address", async () => {
    for (const one of stores) {
      isId(one.id);
      assert.equal((await api.get(`stores/${one.id}`)).status, one.status);
      assert.ok(["open", "locked", "damaged", "missing"].includes(one.status));
      assert.match(one.label, / \((user|global) store\)$/);
      assert.equal(one.status === "open", one.error === null);
      if (one.status === "open") {
        assert.ok(one.bytes > 0 && one.soups >= 0);
        assert.equal(one.writable, one.readOnlyError === null);
        continue;
      }
      assert.ok(one.error.message && one.error.remedy, one.label);
      assert.equal(one.bytes, null);
      const response = await api.call("GET", `stores/${one.id}/soups`);
      isError(response, response.status, one.error.name);
      assert.ok(response.status === 423 || response.status === 500);
    }
  });

  await t.test("soups have counts, sizes and index specs", () => {
    assert.deepEqual(soups.map(({ name }) => name), soups.map(({ name }) => name).sort());
    for (const soup of soups) {
      isId(soup.id);
      assert.ok(soup.count === null || soup.count >= 0);
      for (const { path, type, columnName } of soup.indexes) {
        assert.ok(path && columnName);
        assert.ok(["string", "integer", "floating", "full_text", "json1"].includes(type));
      }
    }
  });

  await t.test("pages of entries join without a gap, forwards and backwards, in both directions and all orders", async () => {
    for (const soup of soups.filter(({ count }) => count > 0)) {
      const path = `stores/${store.id}/soups/${soup.id}/entries`;
      for (const order of ["_soupEntryId", ...soup.indexes.map((index) => index.path)]) {
        for (const direction of ["ascending", "descending"]) {
          const query = `limit=7&order=${encodeURIComponent(order)}&direction=${direction}`;
          const pages = [await api.get(`${path}?${query}`)];
          while (pages.at(-1).next && pages.length < 4) pages.push(await api.get(`${path}?${query}&after=${pages.at(-1).next}`));
          const ids = pages.flatMap((page) => page.entries.map(({ id }) => id));
          assert.equal(new Set(ids).size, ids.length);
          assert.equal(ids.length, Math.min(soup.count, 28), `${soup.name} ${order}`);
          assert.equal(pages[0].previous, null);
          for (let index = pages.length - 1; index > 0; index--) {
            const back = await api.get(`${path}?${query}&before=${pages[index].previous}`);
            assert.deepEqual(back.entries.map(({ id }) => id), pages[index - 1].entries.map(({ id }) => id), `${soup.name} ${order} ${direction}`);
          }
          const last = await api.get(`${path}?${query}&edge=end`);
          assert.equal(last.next, null);
          assert.equal(last.entries.length, Math.min(soup.count, 7));
        }
      }
    }
  });

  await t.test("a page is reached by a part of the range, or by a value", async () => {
    const middle = await api.get(`${entries}?at=0.5&limit=1`);
    const last = await api.get(`${entries}?edge=end&limit=1`);
    assert.ok(Math.abs(middle.entries[0].id / last.entries[0].id - 0.5) < 0.1);
    const found = await api.get(`${entries}?from=${middle.entries[0].id}&limit=2`);
    assert.equal(found.entries[0].id, middle.entries[0].id);
    assert.ok(found.previous);
  });

  await t.test("a search in all entries comes in parts that can be resumed", async () => {
    const last = (await api.get(`${entries}?edge=end&limit=1&columns=Id`)).entries[0];
    let page = await api.get(`${entries}?search=${encodeURIComponent(last.values[0])}`);
    let [scanned, parts] = [page.scanned, 1];
    while (!page.entries.length && page.next) {
      assert.equal(page.complete, false);
      page = await api.get(`${entries}?search=${encodeURIComponent(last.values[0])}&after=${page.next}`);
      scanned += page.scanned;
      parts++;
    }
    assert.deepEqual(page.entries.map(({ id }) => id), [last.id], `${parts} parts, ${scanned} entries`);
  });

  await t.test("a search for a beginning uses an index, and refuses a path without one", async () => {
    const { indexes } = large;
    const path = indexes.find(({ type }) => type === "string").path;
    const sample = (await api.get(`${entries}?at=0.3&limit=1&columns=${path}`)).entries[0];
    const found = await api.get(`${entries}?search=${encodeURIComponent(sample.values[0])}&path=${path}&match=exact&order=${path}`);
    assert.ok(found.entries.some(({ id }) => id === sample.id));
    assert.ok(found.scanned < 600, `${found.scanned} entries read`);
    isError(await api.call("GET", `${entries}?search=x&path=no.such.path&match=prefix`), 422, "notIndexed");
  });

  await t.test("files have states and sizes", async () => {
    const { files, total, queued, usedBytes } = await api.get(`stores/${store.id}/files`);
    assert.ok(total >= files.length && usedBytes >= 0);
    for (const file of files) {
      assert.ok(["onServer", "partial", "outdated", "available"].includes(file.state));
      assert.ok(file.bytes >= 0 && file.storedBytes >= 0 && Array.isArray(file.records));
    }
    for (const file of queued) assert.ok(["queued", "unacknowledged", "rejected", "orphaned", "inDoubt"].includes(file.state));
  });

  await t.test("unsynced entries are those that the counts name", async () => {
    for (const soup of (await api.get(`stores/${store.id}/unsynced`)).soups) {
      assert.equal(soup.created + soup.updated + soup.deleted, soup.total);
      const path = `stores/${store.id}/soups/${soup.id}/entries?limit=500`;
      for (const state of ["created", "updated", "deleted"]) {
        const { entries: found } = await api.get(`${path}&state=${state}`);
        assert.equal(found.length, Math.min(soup[state], 500));
        for (const entry of found) assert.equal(entry.state, state);
      }
    }
  });

  await t.test("an entry is given as it is stored", async () => {
    const { id } = (await api.get(`${entries}?limit=1`)).entries[0];
    const stored = await api.raw(`${pathname}api/${entries}/${id}/json`);
    const shown = parseExact((await api.raw(`${pathname}api/${entries}/${id}`)).text);
    assert.match(stored.headers["content-disposition"], /^attachment/);
    if (!shown.get("cut").length) assert.equal(exactText(shown.get("entry")), exactText(parseExact(stored.text)));
    assert.equal(shown.get("bytes"), Buffer.byteLength(stored.text));
  });

  await t.test("Smart SQL gives columns, rows, times and the plan, and refuses what is no query", async () => {
    const path = `stores/${store.id}/query`;
    const run = (smartSQL, more = {}) => api.post(path, { smartSQL, ...more });
    const { document } = await run(`SELECT {${large.name}:_soupEntryId} FROM {${large.name}} ORDER BY {${large.name}:_soupEntryId}`, { pageSize: 3, plan: true });
    assert.deepEqual([document.columns.length, document.rows.length, document.rows[0].length], [1, 3, 1]);
    same(document.elapsedMilliseconds, "number");
    assert.ok(document.plan.rows.every(({ detail }) => typeof detail === "string"));
    const name = large.indexes[0].path;
    const bound = await run(`SELECT count(*) FROM {${large.name}} WHERE {${large.name}:${name}} = ?`, { args: ["none"] });
    assert.equal(bound.status, 200, bound.text);
    isError(await run(`DELETE FROM {${large.name}}`), 422, "refusedStatement");
    isError(await run("SELECT 1 FROM {no such soup}"), 404, "unknownSoup");
    isError(await run(`SELECT {${large.name}:_soupEntryId} FROM {${large.name}} WHERE {${large.name}:${name}} = ?`), 422, "bindArgumentCount");
    isError(await run(`SELECT 1 FRO {${large.name}}`), 422, "sql");
    isError(await run("  "), 400, "invalidRequest");
    assert.ok((await api.get(`stores/${store.id}/words`)).words.includes(`{${large.name}:${name}}`));
  });

  await t.test("syncs and their outcomes have the members of the command line", async () => {
    for (const sync of (await api.get(`stores/${store.id}/syncs`)).syncs) {
      assert.deepEqual(Object.keys(await api.get(`stores/${store.id}/syncs/${sync.id}`)), Object.keys(sync));
      assert.ok(["syncDown", "syncUp"].includes(sync.type));
      assert.ok(["NEW", "STOPPED", "RUNNING", "DONE", "FAILED"].includes(sync.status));
      for (const name of ["id", "progress", "totalSize", "maxTimeStamp", "startTime", "endTime", "dirty", "conflictCount"]) same(sync[name], "number");
      assert.ok(sync.error === null || sync.error.message);
      const { outcomes } = await api.get(`stores/${store.id}/syncs/${sync.id}/outcomes`);
      for (const outcome of outcomes) {
        assert.ok(["succeeded", "partial", "conflict", "rejected", "inFlight", "unanswered", "undecided", "waiting", "nothingToDo"].includes(outcome.outcome));
        assert.deepEqual(["action", "conflict", "entryId", "error", "recordId", "soup"].filter((name) => !(name in outcome)), []);
      }
    }
  });

  await t.test("conflicts name what resolves them, and a version that is over is refused", async () => {
    const { conflicts } = await api.get(`stores/${store.id}/conflicts`);
    for (const one of conflicts) {
      assert.equal(one.key, `${one.soupName}/${one.entryId}`);
      assert.ok(one.resolutions.length > 0 && one.version);
    }
    const status = await api.get("status");
    if (!conflicts.length || status.access === "readOnly" || !store.writable) return;
    const { key, resolutions } = conflicts[0];
    isError(await api.post(`stores/${store.id}/conflicts/resolve`, { key, version: "other", resolution: resolutions[0] }), 409, "conflictChanged");
    isError(await api.post(`stores/${store.id}/conflicts/resolve`, { key, version: conflicts[0].version, resolution: "none" }), 422, "invalidResolution");
  });

  await t.test("accounts have the ages of their tokens and never a token", async () => {
    const { text, document } = await api.call("GET", "accounts");
    assert.doesNotMatch(text, /accessToken|refreshToken|00D[A-Za-z0-9]{12,15}!|eyJ[\w-]+\./);
    for (const account of document.accounts) {
      isId(account.id);
      for (const token of Object.values(account.tokens)) {
        if (token) assert.deepEqual(Object.keys(token).filter((name) => !["issuedTime", "expiryTime", "format"].includes(name)), []);
      }
    }
  });

  await t.test("key-value stores list keys by pages and values by parts", async () => {
    for (const one of (await api.get("keyvalues")).stores) {
      isId(one.id);
      const response = await api.call("GET", `keyvalues/${one.id}/keys?limit=50`);
      if (one.count === null) {
        isError(response, 422, "notListed");
        continue;
      }
      for (const { id, key } of response.document.keys) {
        isId(id);
        const value = await api.get(`keyvalues/${one.id}/keys/${id}?length=4`);
        assert.equal(value.key, key);
        assert.ok(["text", "bytes"].includes(value.form));
        assert.ok(value.content.length <= 8);
      }
    }
  });

  await t.test("requests, logs and events come newest first, by pages", async () => {
    for (const [path, name] of [["requests", "requests"], ["logs", "records"], ["analytics", "events"]]) {
      const first = await api.get(`${path}?limit=3`);
      const second = first.next ? await api.get(`${path}?limit=3&after=${first.next}`) : { [name]: [] };
      const sequences = [...first[name], ...second[name]].map(({ sequence }) => sequence);
      assert.deepEqual(sequences, [...sequences].sort((left, right) => right - left));
    }
    const { requests } = await api.get("requests");
    for (const { path } of requests) assert.doesNotMatch(path, /\?/);
    const { records } = await api.get("logs?level=error");
    for (const { level } of records) assert.ok(["error", "fault"].includes(level));
  });

  await t.test("developer information is a list of names and values", async () => {
    const { information, actions } = await api.get("developer");
    for (const { name, value } of information) assert.ok(typeof name === "string" && typeof value === "string");
    assert.ok(information.some(({ name }) => name === "section:SmartStore"));
    for (const { name, enabled, reason, fields } of actions) {
      assert.ok(name && (enabled || reason));
      for (const one of fields ?? []) {
        assert.ok(one.name && one.label && ["text", "choice", "switch"].includes(one.kind));
        assert.equal(typeof one.value, one.kind === "switch" ? "boolean" : "string");
        if (one.kind === "choice") assert.ok(one.choices.some(({ value }) => value === one.value));
      }
    }
    isError(await api.post("developer/actions", { name: "no such action" }), 404, "notFound");
  });

  await t.test("an event stream begins with hello", async () => {
    const [hello] = await events(api, "syncs,logs", (found) => found.length > 0);
    assert.equal(hello.event, "hello");
    isTime(hello.data.now);
  });
});
