// com.salesforce.plugin.smartstore (navigator.smartstore): the encrypted store, with callbacks.
//
// Every function takes a store config, a boolean (is it a global store?) or nothing as its first argument, and
// (success, error) as its last two.
cordova.define("com.salesforce.plugin.smartstore", function (require, exports, module) {
  "use strict";
  const SERVICE = "com.salesforce.smartstore";
  const VERSION = "14.0.0";
  const SOUP_ENTRY_ID = "_soupEntryId";
  const { splitStoreConfig } = require("com.salesforce.util.storeconfig");

  // ------------------------------------------------------------------------------------------ log

  const LEVELS = ["error", "warn", "info", "debug"];
  let logLevel = "info";

  const setLogLevel = (level) => {
    logLevel = String(level).toLowerCase();
  };
  const getLogLevel = () => logLevel;

  // An unknown level has index -1, so it silences everything. Lines never hold entries.
  function log(level, text) {
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(logLevel)) console[level](`SmartStore: ${text}`);
  }

  // ------------------------------------------------------------------------------------------ values

  class StoreConfig {
    constructor(storeName, isGlobalStore) {
      this.storeName = storeName;
      this.isGlobalStore = isGlobalStore;
    }
  }

  class SoupIndexSpec {
    constructor(path, type) {
      this.path = path;
      this.type = type;
    }
  }

  class SoupSpec {
    constructor(soupName, features) {
      this.name = soupName;
      this.features = features;
    }
  }

  class StoreCursor {
    constructor() {
      this.cursorId = null;
      this.pageSize = 0;
      this.totalPages = 0;
      this.totalEntries = 0;
      this.currentPageIndex = 0;
      this.currentPageOrderedEntries = null;
    }
  }

  class QuerySpec {
    constructor(path) {
      this.queryType = "exact";
      this.indexPath = path;
      this.matchKey = null;
      this.likeKey = null;
      this.beginKey = null;
      this.endKey = null;
      this.smartSql = null;
      this.orderPath = null;
      this.order = "ascending";
      this.pageSize = 10;
      this.selectPaths = null;
    }
  }

  function buildSpec(path, members) {
    const spec = new QuerySpec(path);
    for (const key of Object.keys(members)) {
      // A missing order or page size keeps the default.
      if (members[key] || (key !== "order" && key !== "pageSize")) spec[key] = members[key];
    }
    spec.orderPath = spec.orderPath || path;
    spec.selectPaths = spec.selectPaths || null;
    return spec;
  }

  const buildAllQuerySpec = (path, order, pageSize, selectPaths) =>
    buildSpec(path, { queryType: "range", order, pageSize, orderPath: path, selectPaths });
  const buildExactQuerySpec = (path, matchKey, pageSize, order, orderPath, selectPaths) =>
    buildSpec(path, { queryType: "exact", matchKey, pageSize, order, orderPath, selectPaths });
  const buildRangeQuerySpec = (path, beginKey, endKey, order, pageSize, orderPath, selectPaths) =>
    buildSpec(path, { queryType: "range", beginKey, endKey, order, pageSize, orderPath, selectPaths });
  const buildLikeQuerySpec = (path, likeKey, order, pageSize, orderPath, selectPaths) =>
    buildSpec(path, { queryType: "like", likeKey, order, pageSize, orderPath, selectPaths });
  const buildMatchQuerySpec = (path, matchKey, order, pageSize, orderPath, selectPaths) =>
    buildSpec(path, { queryType: "match", matchKey, order, pageSize, orderPath, selectPaths });
  const buildSmartQuerySpec = (smartSql, pageSize) => buildSpec(undefined, { queryType: "smart", smartSql, pageSize });

  // ------------------------------------------------------------------------------------------ calls

  function exec(success, fail, action, message) {
    log("debug", `${action} store:${message.storeName || "default"} soup:${message.soupName || ""}`);
    require("com.salesforce.util.exec").exec(VERSION, success, fail, SERVICE, action, [message]);
  }

  // A function whose own arguments are sent under `keys`.
  const call = (action, keys) => (...args) => {
    const { store, rest } = splitStoreConfig(args, keys.length);
    const message = {};
    keys.forEach((key, index) => (message[key] = rest[index]));
    exec(rest[keys.length], rest[keys.length + 1], action, { ...message, ...store });
  };

  // A function on all stores. A store config is accepted and means nothing.
  const callOnAllStores = (action) => (...args) => {
    const [success, fail] = splitStoreConfig(args, 0).rest;
    exec(success, fail, action, {});
  };

  const upsertSoupEntriesWithExternalId = call("pgUpsertSoupEntries", ["soupName", "entries", "externalIdPath"]);
  const upsertSoupEntries = (...args) => {
    const { store, rest } = splitStoreConfig(args, 2);
    const [soupName, entries, success, fail] = rest;
    upsertSoupEntriesWithExternalId(store, soupName, entries, SOUP_ENTRY_ID, success, fail);
  };

  // (storeConfig?, soupName, entryIds or querySpec, success, error)
  const removeFromSoup = (...args) => {
    const { store, rest } = splitStoreConfig(args, 2);
    const [soupName, what, success, fail] = rest;
    const selection = Array.isArray(what) ? { entryIds: what } : { querySpec: what };
    exec(success, fail, "pgRemoveFromSoup", { soupName, ...selection, ...store });
  };

  // (storeConfig or name of a user store, success, error)
  const removeStore = (first, ...others) => {
    const args = typeof first === "string" ? [{ storeName: first }, ...others] : [first, ...others];
    const { store, rest } = splitStoreConfig(args, 0);
    exec(rest[0], rest[1], "pgRemoveStore", store);
  };

  const showInspector = (storeConfig) => {
    const { store } = splitStoreConfig([storeConfig], 0);
    exec(null, null, "pgShowInspector", store);
  };

  // ------------------------------------------------------------------------------------------ queries

  // React Native bridges deliver a cursor as JSON text.
  const withCursor = (success) => (cursor) => {
    if (success) success(typeof cursor === "string" ? JSON.parse(cursor) : cursor);
  };

  const querySoup = (...args) => {
    const { store, rest } = splitStoreConfig(args, 2);
    const [soupName, spec, success, fail] = rest;
    if (spec && spec.queryType === "smart") throw new Error("Smart queries can only be run using runSmartQuery");
    // Apps written before order paths existed give an order alone.
    const isOldForm = spec && spec.order != null && spec.orderPath == null;
    const querySpec = isOldForm ? { ...spec, orderPath: spec.indexPath } : spec;
    exec(withCursor(success), fail, "pgQuerySoup", { soupName, querySpec, ...store });
  };

  const runSmartQuery = (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [querySpec, success, fail] = rest;
    if (!querySpec || querySpec.queryType !== "smart") throw new Error("runSmartQuery can only run smart queries");
    exec(withCursor(success), fail, "pgRunSmartQuery", { querySpec, ...store });
  };

  function moveCursor(store, cursor, index, success, fail) {
    const message = { cursorId: cursor.cursorId, index, ...store };
    exec(withCursor(success), fail, "pgMoveCursorToPageIndex", message);
  }

  const moveCursorToPageIndex = (...args) => {
    const { store, rest } = splitStoreConfig(args, 2);
    const [cursor, index, success, fail] = rest;
    moveCursor(store, cursor, index, success, fail);
  };

  const moveCursorToNextPage = (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [cursor, success, fail] = rest;
    const index = cursor.currentPageIndex + 1;
    if (index < cursor.totalPages) moveCursor(store, cursor, index, success, fail);
    else if (fail) fail(new Error("moveCursorToNextPage called while on last page"));
  };

  const moveCursorToPreviousPage = (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [cursor, success, fail] = rest;
    const index = cursor.currentPageIndex - 1;
    if (index >= 0) moveCursor(store, cursor, index, success, fail);
    else if (fail) fail(new Error("moveCursorToPreviousPage called while on first page"));
  };

  const closeCursor = (...args) => {
    const { store, rest } = splitStoreConfig(args, 1);
    const [cursor, success, fail] = rest;
    exec(success, fail, "pgCloseCursor", { cursorId: cursor.cursorId, ...store });
  };

  module.exports = {
    alterSoup: call("pgAlterSoup", ["soupName", "indexes", "reIndexData"]),
    alterSoupWithSpec: call("pgAlterSoup", ["soupName", "soupSpec", "indexes", "reIndexData"]),
    buildAllQuerySpec,
    buildExactQuerySpec,
    buildLikeQuerySpec,
    buildMatchQuerySpec,
    buildRangeQuerySpec,
    buildSmartQuerySpec,
    clearSoup: call("pgClearSoup", ["soupName"]),
    closeCursor,
    getAllGlobalStores: callOnAllStores("pgGetAllGlobalStores"),
    getAllStores: callOnAllStores("pgGetAllStores"),
    getDatabaseSize: call("pgGetDatabaseSize", []),
    getLogLevel,
    getSoupIndexSpecs: call("pgGetSoupIndexSpecs", ["soupName"]),
    getSoupSpec: call("pgGetSoupSpec", ["soupName"]),
    moveCursorToNextPage,
    moveCursorToPageIndex,
    moveCursorToPreviousPage,
    querySoup,
    reIndexSoup: call("pgReIndexSoup", ["soupName", "paths"]),
    registerSoup: call("pgRegisterSoup", ["soupName", "indexes"]),
    registerSoupWithSpec: call("pgRegisterSoup", ["soupSpec", "indexes"]),
    removeAllGlobalStores: callOnAllStores("pgRemoveAllGlobalStores"),
    removeAllStores: callOnAllStores("pgRemoveAllStores"),
    removeFromSoup,
    removeSoup: call("pgRemoveSoup", ["soupName"]),
    removeStore,
    retrieveSoupEntries: call("pgRetrieveSoupEntries", ["soupName", "entryIds"]),
    runSmartQuery,
    setLogLevel,
    showInspector,
    soupExists: call("pgSoupExists", ["soupName"]),
    upsertSoupEntries,
    upsertSoupEntriesWithExternalId,

    QuerySpec,
    SoupIndexSpec,
    SoupSpec,
    StoreConfig,
    StoreCursor,
  };
});
