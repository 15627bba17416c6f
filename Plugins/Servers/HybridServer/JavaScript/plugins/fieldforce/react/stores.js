import { caller } from "./native.js";

// The first argument is a store config, a Boolean (is it the app's store?), or anything else for the user's default store.
function storeOf(first) {
  if (typeof first === "boolean") return { isGlobalStore: first };
  const { isGlobalStore, storeName } = first && typeof first === "object" ? first : {};
  return { isGlobalStore: Boolean(isGlobalStore), ...(storeName === undefined ? {} : { storeName }) };
}

/** A function whose arguments have these names; then come the two callbacks. */
const named = (exec, method, ...names) => (store, ...rest) => {
  const values = Object.fromEntries(names.map((name, index) => [name, rest[index]]).filter(([, value]) => value !== undefined));
  exec(rest[names.length], rest[names.length + 1], method, { ...values, ...storeOf(store) });
};

const parsed = (cursor) => (typeof cursor === "string" ? JSON.parse(cursor) : cursor);

/** The stores. Every function that takes a store takes it first. */
export function makeSmartStore(connection) {
  const exec = caller(connection, "smartstore");
  const withCursor = (success) => (cursor) => success && success(parsed(cursor));
  const all = (method) => (ok, fail) => exec(ok, fail, method, {});
  const move = (step) => (store, cursor, ok, fail) => {
    const index = cursor.currentPageIndex + step;
    if (index < 0) return void (fail && fail("moveCursorToPreviousPage called while on first page"));
    if (index >= cursor.totalPages) return void (fail && fail("moveCursorToNextPage called while on last page"));
    return exec(withCursor(ok), fail, "moveCursorToPageIndex", { cursorId: cursor.cursorId, index, ...storeOf(store) });
  };
  return {
    getDatabaseSize: named(exec, "getDatabaseSize"),
    registerSoup: named(exec, "registerSoup", "soupName", "indexes"),
    registerSoupWithSpec: named(exec, "registerSoup", "soupSpec", "indexes"),
    removeSoup: named(exec, "removeSoup", "soupName"),
    clearSoup: named(exec, "clearSoup", "soupName"),
    soupExists: named(exec, "soupExists", "soupName"),
    getSoupIndexSpecs: named(exec, "getSoupIndexSpecs", "soupName"),
    getSoupSpec: named(exec, "getSoupSpec", "soupName"),
    alterSoup: named(exec, "alterSoup", "soupName", "indexes", "reIndexData"),
    alterSoupWithSpec: named(exec, "alterSoup", "soupName", "soupSpec", "indexes", "reIndexData"),
    reIndexSoup: named(exec, "reIndexSoup", "soupName", "paths"),
    upsertSoupEntries: named(exec, "upsertSoupEntries", "soupName", "entries"),
    upsertSoupEntriesWithExternalId: named(exec, "upsertSoupEntries", "soupName", "entries", "externalIdPath"),
    retrieveSoupEntries: named(exec, "retrieveSoupEntries", "soupName", "entryIds"),
    removeFromSoup: (store, soupName, entriesOrSpec, ok, fail) =>
      exec(ok, fail, "removeFromSoup", {
        soupName,
        [Array.isArray(entriesOrSpec) ? "entryIds" : "querySpec"]: entriesOrSpec,
        ...storeOf(store),
      }),
    querySoup: (store, soupName, querySpec, ok, fail) =>
      exec(withCursor(ok), fail, "querySoup", { soupName, querySpec, ...storeOf(store) }),
    runSmartQuery: (store, querySpec, ok, fail) =>
      exec(withCursor(ok), fail, "runSmartQuery", { querySpec, ...storeOf(store) }),
    moveCursorToPageIndex: (store, cursor, index, ok, fail) =>
      exec(withCursor(ok), fail, "moveCursorToPageIndex", { cursorId: cursor.cursorId, index, ...storeOf(store) }),
    moveCursorToNextPage: move(1),
    moveCursorToPreviousPage: move(-1),
    closeCursor: (store, cursor, ok, fail) => exec(ok, fail, "closeCursor", { cursorId: cursor.cursorId, ...storeOf(store) }),
    removeStore: named(exec, "removeStore"),
    getAllStores: all("getAllStores"),
    getAllGlobalStores: all("getAllGlobalStores"),
    removeAllStores: all("removeAllStores"),
    removeAllGlobalStores: all("removeAllGlobalStores"),
  };
}

/** The syncs. A sync's success callback is called when the run is done. */
export function makeMobileSync(connection) {
  const exec = caller(connection, "mobilesync");
  const reference = (value) => (typeof value === "string" ? { syncName: value } : { syncId: value });
  const run = (method) => (store, target, soupName, options, ...rest) => {
    const syncName = typeof rest[0] === "function" ? undefined : rest.shift();
    exec(rest[0], rest[1], method, { target, soupName, options, ...(syncName == null ? {} : { syncName }), ...storeOf(store) });
  };
  const bySync = (method) => (store, sync, ok, fail) => exec(ok, fail, method, { ...reference(sync), ...storeOf(store) });
  return {
    syncDown: run("syncDown"),
    syncUp: run("syncUp"),
    reSync: bySync("reSync"),
    getSyncStatus: bySync("getSyncStatus"),
    cleanResyncGhosts: bySync("cleanResyncGhosts"),
    deleteSync: bySync("deleteSync"),
    MERGE_MODE: { OVERWRITE: "OVERWRITE", LEAVE_IF_CHANGED: "LEAVE_IF_CHANGED" },
  };
}
