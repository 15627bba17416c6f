// The resources of the reference server, by method and path.
import { ExactObject, exactText, parseExact } from "../../www/data/exact.js";
import { conflictText, resolutionsOf, resolve, versionOf } from "./conflicts.mjs";
import { checkParameters, cursorOf, cursorText, cutTexts, entriesPage, limitOf, scalarCount, scalarSlice } from "./entries.mjs";
import { fault } from "./faults.mjs";
import { runQuery } from "./smartsql.mjs";
import { stateOf } from "./soups.mjs";

const ENTRY_BYTES = 1 << 20;
const LEVELS = ["verbose", "debug", "info", "default", "warn", "error", "fault", "off"];

export function makeApi({ world, hub, limits, activity, settings }) {
  const readOnly = () => fault("readOnly", "This inspector was started read-only.", "Start it again with 'fieldforce inspect --write' to change data.");
  const needWrite = (store) => {
    if (settings.access === "readOnly") throw readOnly();
    if (store && !store.writable) throw fault(...store.readOnlyError);
  };
  const storeOf = (id) => {
    const store = world.stores.find((one) => one.id === id);
    if (!store) throw fault("notFound", "There is no such store. Reload the list of stores.");
    return store;
  };
  const openStore = (id) => {
    const store = storeOf(id);
    if (store.status !== "open") throw fault(...store.error);
    return store;
  };
  const soupOf = (store, id) => {
    const soup = store.soups.find((one) => one.id === id);
    if (!soup) throw fault("unknownSoup", "There is no such soup. Reload the list of soups.");
    return soup;
  };
  const syncOf = (store, id) => {
    const sync = store.syncs.find((one) => String(one.id) === id);
    if (!sync) throw fault("doesNotExist", `Sync ${/^\d+$/.test(id) ? id : "?"} does not exist.`);
    return sync;
  };
  const idOf = (soup, text) => {
    const id = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (soup.text(id) === undefined) throw fault("noSuchEntry", `Soup '${soup.name}' has no entry ${/^\d+$/.test(text) ? text : ""}. Reload the soup.`);
    return id;
  };
  const conflictsOf = (store, soup) => new Map(store.conflicts.filter(({ soupName }) => soupName === soup.name).map((one) => [one.entryId, one]));
  const errorOf = (parts) => (parts ? fault(...parts).document : null);

  function describeStore(store) {
    const isOpen = store.status === "open";
    return {
      id: store.id, name: store.name, label: store.label, owner: store.owner, status: store.status, encrypted: store.encrypted,
      bytes: isOpen ? store.soups.reduce((sum, soup) => sum + soup.bytes, 8192) : null, soups: isOpen ? store.soups.length : null,
      unsynced: isOpen ? store.soups.reduce((sum, soup) => sum + soup.unsynced().length, 0) : null, conflicts: isOpen ? store.conflicts.length : null,
      writable: isOpen && store.writable && settings.access === "readWrite",
      readOnlyError: store.readOnlyError ? errorOf(store.readOnlyError) : settings.access === "readOnly" ? readOnly().document : null, error: errorOf(store.error),
    };
  }

  function describeSoup(store, soup, isCounted) {
    return {
      id: soup.id, name: soup.name, table: soup.table, metadata: soup.metadata, count: isCounted ? soup.count : null, bytes: isCounted ? soup.bytes : null,
      unsynced: isCounted ? soup.unsynced().length : null, conflicts: isCounted ? conflictsOf(store, soup).size : null, indexes: soup.indexSpecs,
    };
  }

  /** A page of a list that is in memory, newest or first first. */
  function page(items, parameters, query, describe = (item) => item) {
    const limit = limitOf(parameters, limits);
    let start = 0;
    if (parameters.has("after")) start = items.indexOf(items.find((item) => item.at === cursorOf(parameters.get("after"), query).at)) + 1;
    if (parameters.has("before")) start = Math.max(items.findIndex((item) => item.at === cursorOf(parameters.get("before"), query).at) - limit, 0);
    const found = items.slice(start, start + limit);
    return {
      items: found.map(({ item }) => describe(item)), next: start + limit < items.length ? cursorText({ query, at: found.at(-1).at }) : null,
      previous: start > 0 && found.length ? cursorText({ query, at: found[0].at }) : null,
    };
  }

  function recent(list, parameters, filter) {
    const text = (parameters.get("search") ?? "").toLowerCase();
    const items = [...hub.lists[list]].reverse().filter((item) => filter(item) && (!text || JSON.stringify(item).toLowerCase().includes(text)));
    return page(items.map((item) => ({ at: item.sequence, item })), parameters, `${list} ${text}`);
  }

  function entryDocument(store, soup, id) {
    const text = soup.text(id);
    const cut = [];
    const shown = (source, pointer) => (source ? cutTexts(parseExact(source), limits.textCharacters, pointer, cut) : null);
    let entry = shown(text, "/entry");
    const tooLarge = Buffer.byteLength(exactText(entry)) > ENTRY_BYTES;
    if (tooLarge) entry = null;
    const parsed = soup.entry(id);
    const conflict = conflictsOf(store, soup).get(id);
    return {
      id, bytes: Buffer.byteLength(text), state: stateOf(parsed), recordId: parsed.get("Id") ?? null, entry, ...(tooLarge ? { tooLarge } : {}),
      base: shown(soup.bases.get(id), "/base"), conflict: conflict ? describeConflict(conflict) : null,
      outcome: store.outcomes.find((one) => one.soup === soup.name && one.entryId === id) ?? null, cut: tooLarge ? [] : cut,
    };
  }

  function describeConflict(conflict) {
    const text = conflictText(conflict);
    return new ExactObject([...parseExact(text).members, ["version", versionOf(text)], ["resolutions", resolutionsOf(conflict)]]);
  }

  function textPart(soup, id, parameters) {
    checkParameters(parameters, new Set(["pointer", "from", "length"]));
    let value = soup.entry(id);
    for (const step of (parameters.get("pointer") ?? "").split("/").slice(1)) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      value = Array.isArray(value) ? value[name] : value instanceof ExactObject ? value.get(name) : undefined;
    }
    if (typeof value !== "string") throw fault("notFound", "There is no text at this pointer. Reload the entry.");
    const from = Number(parameters.get("from") ?? 0);
    const length = Math.min(Number(parameters.get("length") ?? 65_536), 1 << 18);
    return { from, text: scalarSlice(value, from, length), characters: scalarCount(value) };
  }

  const accountOf = (id) => {
    const account = world.accounts.find((one) => one.id === id);
    if (!account) throw fault("unknownAccount", "There is no such account. Reload the list of accounts.");
    return account;
  };
  const keyValueOf = (id) => {
    const store = world.keyValues.find((one) => one.id === id);
    if (!store) throw fault("notFound", "There is no such key-value store. Reload the list.");
    return store;
  };
  const keyId = (key) => Buffer.from(key).toString("base64url");

  function value(store, id, parameters) {
    checkParameters(parameters, new Set(["from", "length"]));
    const key = Buffer.from(id, "base64url").toString();
    const bytes = store.values.get(key);
    if (!bytes) throw fault("notFound", "There is no such value. Reload the list of keys.");
    const from = Number(parameters.get("from") ?? 0);
    let text = null;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // Bytes, then.
    }
    const length = Number(parameters.get("length") ?? limits.textCharacters);
    const content = text === null ? bytes.subarray(from, from + length).toString("hex") : scalarSlice(text, from, length);
    return { key, bytes: bytes.length, form: text === null ? "bytes" : "text", from, length: text === null ? content.length / 2 : scalarCount(content), content };
  }

  function overview() {
    return {
      interface: 1, product: "Fieldforce 14.0.0", application: "Field Notes", process: process.pid, startTime: world.now, access: settings.access,
      accessError: settings.access === "readOnly" ? readOnly().document : null, currentAccount: world.accounts.find(({ current }) => current)?.id ?? null,
      sources: { logs: null, requests: settings.access === "readOnly" ? fault("readOnly", "The requests of another process cannot be seen.", "Open the inspector of the app itself: 'import FieldforceInspector'.").document : null, analytics: null, syncs: null }, limits,
    };
  }

  const words = (store) => ["select", "from", "where", "group by", "order by", ...store.soups.flatMap((soup) => [
    `{${soup.name}}`, ...["_soup", "_soupEntryId", "_soupLastModifiedDate", ...soup.indexes.map(([path]) => path)].map((path) => `{${soup.name}:${path}}`)])];

  function unsynced(store) {
    return store.soups.map((soup) => {
      const states = soup.unsynced().map((id) => stateOf(soup.entry(id)));
      const count = (state) => states.filter((one) => one === state).length;
      return { id: soup.id, name: soup.name, created: count("created"), updated: count("updated"), deleted: count("deleted"), total: states.length };
    }).filter(({ total }) => total);
  }

  function undo(store, soup, id) {
    const base = soup.bases.get(id);
    const state = stateOf(soup.entry(id));
    if (state === "created") soup.remove(id);
    else if (!base) throw fault("cannotUndo", `Cannot undo the edit of entry ${id} in soup '${soup.name}': no base version is kept. Resolve the conflict, or sync the soup down.`);
    else if (soup.edited) soup.edited.delete(id);
    else {
      const values = new Map(parseExact(base).members);
      soup.add(id, exactText(new ExactObject(soup.entry(id).members.map(([name, member]) => [name, name.startsWith("__l") ? false : values.get(name) ?? member]))));
    }
    store.conflicts = store.conflicts.filter((one) => one.soupName !== soup.name || one.entryId !== id);
    hub.send("change", { store: store.id, soups: [soup.name] });
    return { undone: id };
  }

  const routes = [
    ["GET", "status", () => overview()],
    ["GET", "stores", () => ({ stores: world.stores.map(describeStore) })],
    ["GET", "stores/*", ([id]) => describeStore(storeOf(id))],
    ["POST", "stores/*/verify", ([id]) => {
      const store = storeOf(id);
      const findings = store.status === "damaged" ? [{ kind: "page", page: 214, detail: "the tag of the page does not match its content" }] : [];
      return { clean: !findings.length, pages: 1842, soups: store.soups.length, elements: store.soups.reduce((sum, soup) => sum + soup.count, 0), findingCount: findings.length, findings };
    }],
    ["GET", "stores/*/soups", ([id], parameters) => {
      checkParameters(parameters, new Set(["soup"]));
      const store = openStore(id);
      const soups = [...store.soups].sort((left, right) => (left.name < right.name ? -1 : 1));
      if (parameters.has("soup")) return { soups: [describeSoup(store, soupOf(store, parameters.get("soup")), true)] };
      return { soups: soups.map((soup) => describeSoup(store, soup, soups.length <= 100)) };
    }],
    ["GET", "stores/*/words", ([id]) => ({ words: words(openStore(id)) })],
    ["GET", "stores/*/soups/*/entries", ([id, soup], parameters) => {
      const store = openStore(id);
      return entriesPage(soupOf(store, soup), parameters, limits, conflictsOf(store, soupOf(store, soup)));
    }],
    ["GET", "stores/*/soups/*/entries/*", ([id, soupId, entry]) => {
      const store = openStore(id);
      const soup = soupOf(store, soupId);
      return entryDocument(store, soup, idOf(soup, entry));
    }],
    ["GET", "stores/*/soups/*/entries/*/json", ([id, soupId, entry]) => {
      const soup = soupOf(openStore(id), soupId);
      return { raw: soup.text(idOf(soup, entry)), headers: { "Content-Disposition": `attachment; filename="entry-${Number(entry)}.json"` } };
    }],
    ["GET", "stores/*/soups/*/entries/*/text", ([id, soupId, entry], parameters) => {
      const soup = soupOf(openStore(id), soupId);
      return textPart(soup, idOf(soup, entry), parameters);
    }],
    ["POST", "stores/*/soups/*/entries/*/undo", ([id, soupId, entry]) => {
      const store = openStore(id);
      const soup = soupOf(store, soupId);
      needWrite(store);
      return undo(store, soup, idOf(soup, entry));
    }],
    ["POST", "stores/*/query", async ([id], _, body) => {
      const started = performance.now();
      const result = runQuery(openStore(id), await body(), limits);
      return { ...result, elapsedMilliseconds: Math.round((performance.now() - started) * 1000) / 1000 };
    }],
    ["GET", "stores/*/syncs", ([id]) => ({ syncs: openStore(id).syncs })],
    ["GET", "stores/*/syncs/*", ([id, sync]) => syncOf(openStore(id), sync)],
    ["GET", "stores/*/syncs/*/outcomes", ([id, syncId], parameters) => {
      checkParameters(parameters, new Set(["outcome", "limit", "after", "before"]));
      const store = openStore(id);
      const sync = syncOf(store, syncId);
      const outcome = parameters.get("outcome");
      const found = store.outcomes.filter((one) => one.syncId === sync.id && (!outcome || one.outcome === outcome));
      const { items, ...rest } = page(found.map((item) => ({ at: item.entryId, item })), parameters, `outcomes ${syncId} ${outcome}`);
      return { outcomes: items, ...rest };
    }],
    ["POST", "stores/*/syncs/*/run", ([id, syncId]) => {
      const store = openStore(id);
      needWrite(store);
      const sync = syncOf(store, syncId);
      if (sync.status === "RUNNING") throw fault("alreadyRunning", `Sync ${sync.id} is running. Wait for its end, then run it again.`);
      activity.run(sync);
      return { httpStatus: 202, raw: JSON.stringify(sync) };
    }],
    ["POST", "stores/*/syncs/*/ghosts", ([id, syncId]) => {
      const store = openStore(id);
      needWrite(store);
      const sync = syncOf(store, syncId);
      if (sync.type !== "syncDown") throw fault("ghostsNeedSyncDown", `Sync ${sync.id} is a sync up, which has no ghosts. Name a sync down.`);
      return { removed: 2, bySoup: { [sync.soupName]: 2 } };
    }],
    ["POST", "stores/*/syncs/stop", ([id]) => {
      needWrite(openStore(id));
      activity.stopSyncs();
      return { httpStatus: 202, raw: "{}" };
    }],
    ["POST", "stores/*/syncs/restart", ([id]) => {
      const store = openStore(id);
      needWrite(store);
      for (const sync of store.syncs.filter(({ status }) => status === "STOPPED")) activity.run(sync);
      return { httpStatus: 202, raw: "{}" };
    }],
    ["GET", "stores/*/files", ([id]) => openStore(id).files ?? { files: [], total: 0, queued: [], usedBytes: 0 }],
    ["GET", "stores/*/unsynced", ([id]) => ({ soups: unsynced(openStore(id)) })],
    ["GET", "stores/*/conflicts", ([id], parameters) => {
      checkParameters(parameters, new Set(["soup", "limit", "after", "before"]));
      const store = openStore(id);
      const name = parameters.has("soup") ? soupOf(store, parameters.get("soup")).name : null;
      const found = store.conflicts.filter(({ soupName }) => !name || soupName === name);
      const { items, ...rest } = page(found.map((item) => ({ at: item.key, item })), parameters, `conflicts ${name}`, describeConflict);
      return { conflicts: items, ...rest };
    }],
    ["POST", "stores/*/conflicts/resolve", async ([id], _, body) => {
      const store = openStore(id);
      needWrite(store);
      const result = resolve(store, await body());
      hub.send("change", { store: store.id, soups: [result.resolved.split("/")[0]] });
      return result;
    }],
    ["GET", "accounts", () => ({ accounts: world.accounts, unreadable: world.unreadable, loginHosts: world.loginHosts, policies: world.policies })],
    ["POST", "accounts/*/switch", ([id]) => {
      needWrite();
      const chosen = accountOf(id);
      for (const account of world.accounts) account.current = account === chosen;
      return { ...chosen };
    }],
    ["POST", "accounts/*/logout", async ([id], _, body) => {
      needWrite();
      const account = accountOf(id);
      const { force = false } = await body();
      if (account.unsynced && !force) {
        throw fault("unsyncedRecords", `Cannot log out: the account has ${account.unsynced} unsynced records.`, "Sync them up, or log out and lose them.", { unsyncedRecords: account.unsynced });
      }
      world.accounts.splice(world.accounts.indexOf(account), 1);
      return { username: account.username, unsyncedRecords: account.unsynced };
    }],
    ["GET", "keyvalues", () => ({ stores: world.keyValues.map(({ values, ...store }) => ({ ...store, count: store.storeVersion === 1 ? null : values.size })) })],
    ["GET", "keyvalues/*/keys", ([id], parameters) => {
      checkParameters(parameters, new Set(["search", "limit", "after", "before"]));
      const store = keyValueOf(id);
      if (store.storeVersion === 1) throw fault("notListed", `Key-value store '${store.name}' is of version 1, which keeps no list of its keys.`, "Read a value by its key in the app, and save it in a new store.");
      const text = parameters.get("search") ?? "";
      const keys = [...store.values.keys()].filter((key) => key.includes(text)).sort();
      const { items, ...rest } = page(keys.map((key) => ({ at: key, item: key })), parameters, `keys ${id} ${text}`, (key) => ({ id: keyId(key), key, bytes: store.values.get(key).length }));
      return { keys: items, ...rest };
    }],
    ["GET", "keyvalues/*/keys/*", ([id, key], parameters) => value(keyValueOf(id), key, parameters)],
    ["GET", "requests", (_, parameters) => {
      checkParameters(parameters, new Set(["search", "limit", "after", "before"]));
      const { items, ...rest } = recent("requests", parameters, () => true);
      return { requests: items, ...rest };
    }],
    ["GET", "logs", (_, parameters) => {
      checkParameters(parameters, new Set(["search", "level", "component", "limit", "after", "before"]));
      const least = LEVELS.indexOf(parameters.get("level") ?? LEVELS[0]);
      if (least < 0) throw fault("invalidRequest", `The level is one of ${LEVELS.join(", ")}.`);
      const component = parameters.get("component");
      const { items, ...rest } = recent("logs", parameters, (item) => LEVELS.indexOf(item.level) >= least && (!component || item.component === component));
      return { records: items, levels: world.levels, components: Object.keys(world.levels), ...rest };
    }],
    ["POST", "logs/levels", async (_, __, body) => {
      const { component, level } = await body();
      if (!(component in world.levels) || !LEVELS.includes(level)) throw fault("invalidRequest", "Give a component and a level of the list.");
      world.levels[component] = level;
      return { levels: world.levels };
    }],
    ["GET", "analytics", (_, parameters) => {
      checkParameters(parameters, new Set(["search", "limit", "after", "before"]));
      const { items, ...rest } = recent("analytics", parameters, () => true);
      return { events: items, ...rest };
    }],
    ["GET", "developer", () => ({ information: world.information, actions: world.actions })],
    ["POST", "developer/actions", async (_, __, body) => {
      const { name, values = {} } = await body();
      const action = world.actions.find((one) => one.name === name && one.enabled);
      if (!action) throw fault("notFound", "There is no such action, or it is not possible now. Reload the page.");
      if (action.writes) needWrite();
      for (const field of action.fields ?? []) {
        if (typeof (values[field.name] ?? field.value) !== typeof field.value) throw fault("invalidRequest", `The field '${field.name}' has another type.`);
      }
      return { message: `${action.name}: done${action.fields ? ` ${JSON.stringify(values)}` : ""}` };
    }],
    ["GET", "events", (_, parameters, __, request, response) => {
      checkParameters(parameters, new Set(["topics"]));
      hub.open(request, response, (parameters.get("topics") ?? "syncs,requests,logs,analytics,stores").split(","));
    }],
  ].map(([method, pattern, handler]) => ({ method, parts: pattern.split("/"), handler }));

  return async function api(request, response, segments, parameters, body) {
    const fits = ({ parts }) => parts.length === segments.length && parts.every((part, index) => (part === "*" ? /^[A-Za-z0-9_-]+$/.test(segments[index]) : part === segments[index]));
    // A literal path before one with ids.
    const matching = routes.filter(fits).sort((left, right) => left.parts.filter((part) => part === "*").length - right.parts.filter((part) => part === "*").length);
    if (!matching.length) throw fault("notFound", "There is no such resource.");
    const found = matching.find(({ method }) => method === request.method);
    if (!found) {
      const allowed = [...new Set(matching.map(({ method }) => method))].join(", ");
      throw Object.assign(fault("invalidRequest", `The resource takes ${allowed} alone.`), { httpStatus: 405, headers: { Allow: allowed } });
    }
    return found.handler(segments.filter((_, index) => found.parts[index] === "*"), parameters, body, request, response);
  };
}
