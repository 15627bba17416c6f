// mobilesync.js: Salesforce records as Backbone models, with a cache in SmartStore and detection of conflicts.
//
// Include it after backbone, cordova.js (and cordova.force.js, if the page uses it) and force.js. Global `Force`. Before
// Mobile SDK 8 the file was called smartsync.js.
(function (window) {
  "use strict";
  const { Backbone } = window;

  const CACHE_MODE = {
    CACHE_ONLY: "cache-only",
    CACHE_FIRST: "cache-first",
    SERVER_ONLY: "server-only",
    SERVER_FIRST: "server-first",
  };
  const MERGE_MODE = {
    OVERWRITE: "overwrite",
    MERGE_ACCEPT_YOURS: "merge-accept-yours",
    MERGE_FAIL_IF_CONFLICT: "merge-fail-if-conflict",
    MERGE_FAIL_IF_CHANGED: "merge-fail-if-changed",
  };
  const MERGE_MODE_DOWNLOAD = {
    OVERWRITE: "OVERWRITE",
    MERGE_ACCEPT_THEIRS: "MERGE_ACCEPT_THEIRS",
    LEAVE_IF_CHANGED: "LEAVE_IF_CHANGED",
  };
  const LOCAL = "__local__";
  const CREATED = "__locally_created__";
  const UPDATED = "__locally_updated__";
  const DELETED = "__locally_deleted__";
  const LOCAL_ID_PREFIX = "local_";
  const MASTER_RECORD_TYPE = "012000000000000AAA";
  const RECENT = "recentItems";

  const Force = { CACHE_MODE, MERGE_MODE, MERGE_MODE_DOWNLOAD, smartstoreClient: null, forceJsClient: null };

  // ------------------------------------------------------------------------------------------ clients

  const pluginOf = (name) => {
    try {
      return window.cordova.require(`com.salesforce.plugin.${name}`);
    } catch (error) {
      return null;
    }
  };

  // The functions of force.js that send no request, or whose callbacks are not the last arguments.
  const WITHOUT_PROMISE =
    /^(init|request|oauthCallback|isAuthenticated|getUserId|discardToken|parseUrl|compute.*|file(Rendition|Contents)Path)$/;

  // Each function with a promise instead of its two callbacks. An optional argument that the caller left out must not
  // shift the callbacks into its place.
  function promiseClient(force) {
    const client = {};
    for (const name of Object.keys(force)) {
      const func = force[name];
      if (typeof func !== "function" || WITHOUT_PROMISE.test(name)) continue;
      const own = func.length - 2;
      client[name] = (...args) =>
        new Promise((resolve, reject) => {
          while (args.length < own) args.push(undefined);
          func.call(force, ...args, resolve, reject);
        });
    }
    return client;
  }

  const server = () => {
    if (!Force.forceJsClient) Force.forceJsClient = window.forceJsClient || promiseClient(window.force);
    return Force.forceJsClient;
  };

  const smartstore = () => {
    if (!Force.smartstoreClient) Force.smartstoreClient = pluginOf("smartstore.client");
    if (!Force.smartstoreClient) throw new Error("The page has no SmartStore plug-in. Include cordova.js.");
    return Force.smartstoreClient;
  };

  // `credentials` (as the oauth plug-in gives them) are for pages outside a container and for tests: in a container the
  // session belongs to the native side.
  Force.init = (credentials, apiVersion) => {
    if (credentials && window.force) {
      window.force.init({
        accessToken: credentials.accessToken,
        instanceURL: credentials.instanceUrl,
        refreshToken: credentials.refreshToken,
        loginURL: credentials.loginUrl,
        appId: credentials.clientId,
        userId: credentials.userId,
        apiVersion: apiVersion || undefined,
      });
    }
    Force.forceJsClient = window.force ? window.forceJsClient || promiseClient(window.force) : null;
    Force.smartstoreClient = window.cordova ? pluginOf("smartstore.client") : null;
    const sdkinfo = window.cordova && pluginOf("sdkinfo");
    if (sdkinfo && sdkinfo.registerAppFeature) sdkinfo.registerAppFeature("SJ");
  };

  // ------------------------------------------------------------------------------------------ errors

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      return text;
    }
  }

  // What a failed call gave, with its kind: "RestError" (xhr, status, details) or "ConflictError" (base, theirs, yours and
  // the lists of fields).
  Force.Error = function (rawError) {
    let raw = rawError || {};
    if (typeof raw === "string" && raw.startsWith("{")) raw = fromNetworkPlugin(parse(raw));
    if (raw.responseText !== undefined) {
      this.type = "RestError";
      this.xhr = raw;
      this.status = raw.status;
      this.details = parse(raw.responseText);
    } else if (raw.remoteChanges) {
      this.type = "ConflictError";
      for (const key of ["base", "theirs", "yours", "remoteChanges", "localChanges", "conflictingChanges"]) {
        this[key] = raw[key];
      }
    } else if (raw.message || typeof raw === "string") {
      this.message = raw.message || raw;
    }
  };

  // The network plug-in reports a refused request as JSON text.
  function fromNetworkPlugin(error) {
    if (!error.response) return error.error ? { message: error.error } : error;
    const { statusCode, body } = error.response;
    return { status: statusCode, responseText: typeof body === "string" ? body : JSON.stringify(body) };
  }

  // ------------------------------------------------------------------------------------------ small functions

  // The members of `attributes` that `fieldlist` lists; all of them without a list.
  function pick(attributes, fieldlist) {
    if (!attributes || !fieldlist) return { ...attributes };
    const listed = {};
    for (const field of fieldlist) if (field in attributes) listed[field] = attributes[field];
    return listed;
  }

  // The members that the server may get: without what the cache added.
  function forServer(attributes, fieldlist) {
    const fields = Object.entries(pick(attributes, fieldlist));
    return Object.fromEntries(fields.filter(([name]) => name !== "attributes" && !/^(__local|_soup)/.test(name)));
  }

  function hasField(record, path) {
    let value = record;
    for (const name of path.split(".")) {
      if (value === null || typeof value !== "object" || !(name in value)) return false;
      value = value[name];
    }
    return true;
  }

  const isLocalId = (id) => typeof id === "string" && id.startsWith(LOCAL_ID_PREFIX);
  const keyFieldOf = (cache) => (cache && cache.keyField) || "Id";
  let lastLocalId = 0;

  // ------------------------------------------------------------------------------------------ cache

  // Saving reads, merges and writes. Savings of one soup follow each other, so that none merges into an old state.
  const queues = new Map();
  function inOrder(name, action) {
    const before = queues.get(name) || Promise.resolve();
    const result = before.then(action);
    const ended = result.then(
      () => {},
      () => {}
    );
    queues.set(name, ended);
    ended.then(() => {
      if (queues.get(name) === ended) queues.delete(name);
    });
    return result;
  }

  // A function, not a class: apps derive from it with Force.StoreCache.call(this, …).
  function StoreCache(soupName, additionalIndexSpecs, keyField, isGlobalStore, storeName) {
    this.soupName = soupName;
    this.additionalIndexSpecs = additionalIndexSpecs || [];
    this.keyField = keyField || "Id";
    this.isGlobalStore = Boolean(isGlobalStore);
    this.storeName = storeName;
    this.storeConfig = { isGlobalStore: this.isGlobalStore, storeName };
    this.queue = JSON.stringify([this.isGlobalStore, storeName || "", soupName]);
  }

  StoreCache.prototype = {
    constructor: StoreCache,

    init() {
      const indexSpecs = [this.keyField, LOCAL].map((path) => ({ path, type: "string" }));
      const extra = this.additionalIndexSpecs.filter((spec) => !indexSpecs.some((own) => own.path === spec.path));
      return smartstore().registerSoup(this.storeConfig, this.soupName, [...indexSpecs, ...extra]);
    },

    // The record with that key, or null if there is none or it lacks one of the fields (dotted paths are allowed).
    async retrieve(key, fieldlist) {
      const records = await this.recordsWithKey(key, 1);
      const record = records.length > 0 ? records[0] : null;
      if (record === null || !(fieldlist || []).every((field) => hasField(record, field))) return null;
      return record;
    },

    async recordsWithKey(key, pageSize) {
      const spec = { queryType: "exact", indexPath: this.keyField, matchKey: key, order: "ascending", pageSize };
      const cursor = await smartstore().querySoup(this.storeConfig, this.soupName, spec);
      await smartstore().closeCursor(this.storeConfig, cursor);
      return cursor.currentPageOrderedEntries;
    },

    async save(record, mergeMode) {
      return (await this.saveAll([record], mergeMode))[0];
    },

    // Saves by the key field. `mergeMode`: Force.MERGE_MODE_DOWNLOAD, or true for OVERWRITE; default: the new fields over
    // those of the stored record.
    saveAll(records, mergeMode) {
      const mode = mergeMode === true ? MERGE_MODE_DOWNLOAD.OVERWRITE : mergeMode || MERGE_MODE_DOWNLOAD.MERGE_ACCEPT_THEIRS;
      return inOrder(this.queue, async () => {
        if (records.length === 0) return [];
        const merged = mode === MERGE_MODE_DOWNLOAD.OVERWRITE ? records : await this.merge(records, mode);
        const complete = merged.map((record) => this.addLocalFields(record));
        return smartstore().upsertSoupEntriesWithExternalId(this.storeConfig, this.soupName, complete, this.keyField);
      });
    },

    async merge(records, mode) {
      if (!records.every((record) => this.keyField in record)) throw new Error(`Can't merge without ${this.keyField}`);
      const stored = await this.storedRecords(records.map((record) => record[this.keyField]));
      return records.map((record) => {
        const old = stored.get(String(record[this.keyField]));
        if (!old) return record;
        if (mode === MERGE_MODE_DOWNLOAD.LEAVE_IF_CHANGED) return old[LOCAL] ? old : record;
        return { ...old, ...record };
      });
    },

    async storedRecords(keys) {
      const stored = new Map();
      const keep = (record) => stored.set(String(record[this.keyField]), record);
      if (keys.length === 1) {
        (await this.recordsWithKey(keys[0], 1)).forEach(keep);
        return stored;
      }
      const reference = (path) => `{${this.soupName}:${path}}`;
      const values = keys.map((key) => `'${String(key).replace(/'/g, "''")}'`).join(",");
      const smartSql =
        `SELECT ${reference("_soup")} FROM {${this.soupName}} ` + `WHERE ${reference(this.keyField)} IN (${values})`;
      const spec = { queryType: "smart", smartSql, pageSize: keys.length };
      const cursor = await smartstore().runSmartQuery(this.storeConfig, spec);
      await smartstore().closeCursor(this.storeConfig, cursor);
      for (const [record] of cursor.currentPageOrderedEntries) keep(record);
      return stored;
    },

    // Removes the record with that key if exactly one exists.
    remove(key) {
      return inOrder(this.queue, async () => {
        const records = await this.recordsWithKey(key, 2);
        if (records.length === 1) {
          await smartstore().removeFromSoup(this.storeConfig, this.soupName, [records[0]._soupEntryId]);
        }
        return null;
      });
    },

    // {records, hasMore(), getMore(), closeCursor()}. The cursor closes itself on its last page.
    async find(querySpec) {
      const isSmart = querySpec.queryType === "smart";
      const records = (page) => (isSmart ? page.currentPageOrderedEntries.flat() : page.currentPageOrderedEntries);
      let cursor = isSmart
        ? await smartstore().runSmartQuery(this.storeConfig, querySpec)
        : await smartstore().querySoup(this.storeConfig, this.soupName, querySpec);
      const storeConfig = this.storeConfig;
      const closeCursor = async () => {
        if (cursor === null) return;
        const open = cursor;
        cursor = null;
        await smartstore().closeCursor(storeConfig, open);
      };
      const hasMore = () => cursor !== null && cursor.currentPageIndex < cursor.totalPages - 1;
      const result = {
        records: [...records(cursor)],
        totalSize: cursor.totalEntries,
        hasMore,
        closeCursor,
        async getMore() {
          if (!hasMore()) return null;
          cursor = await smartstore().moveCursorToNextPage(storeConfig, cursor);
          const page = records(cursor);
          result.records.push(...page);
          if (!hasMore()) await closeCursor();
          return page;
        },
      };
      if (!hasMore()) await closeCursor();
      return result;
    },

    makeLocalId() {
      lastLocalId += 1;
      return `${LOCAL_ID_PREFIX}${Date.now()}_${lastLocalId}_${Math.floor(Math.random() * 1e9)}`;
    },

    isLocalId(id) {
      return isLocalId(id);
    },

    addLocalFields(record) {
      const complete = { ...record };
      for (const flag of [CREATED, UPDATED, DELETED]) complete[flag] = Boolean(record[flag]);
      complete[LOCAL] = complete[CREATED] || complete[UPDATED] || complete[DELETED];
      return complete;
    },
  };

  // ------------------------------------------------------------------------------------------ metadata

  // Descriptions of one sObject type, each requested once per instance and kept in the cache record whose key is the type.
  function SObjectType(sobjectType, cache, cacheMode) {
    this.sobjectType = sobjectType;
    this.cache = cache;
    this.cacheMode = cacheMode || CACHE_MODE.SERVER_FIRST;
    this.known = new Map();
  }

  SObjectType.prototype = {
    constructor: SObjectType,

    describe() {
      return this.once("describeResult", () => server().describe(this.sobjectType));
    },

    getMetadata() {
      return this.once("metadataResult", () => server().metadata(this.sobjectType));
    },

    describeLayout(recordTypeId = MASTER_RECORD_TYPE) {
      return this.once(`layoutInfo_${recordTypeId}`, () => server().describeLayout(this.sobjectType, recordTypeId));
    },

    async reset() {
      this.known.clear();
      if (this.cache) await this.cache.remove(this.sobjectType);
      return this;
    },

    once(field, request) {
      if (!this.known.has(field)) {
        const response = this.load(field, request);
        this.known.set(field, response);
        response.catch(() => this.known.delete(field));
      }
      return this.known.get(field);
    },

    async load(field, request) {
      const mode = typeof this.cacheMode === "function" ? this.cacheMode("read") : this.cacheMode;
      if (this.cache && (mode === CACHE_MODE.CACHE_ONLY || mode === CACHE_MODE.CACHE_FIRST)) {
        const record = await this.cache.retrieve(this.sobjectType, [field]);
        if (record) return record[field];
        if (mode === CACHE_MODE.CACHE_ONLY) return null;
      }
      const response = await request();
      if (this.cache && mode !== CACHE_MODE.SERVER_ONLY) {
        await this.cache.save({ [keyFieldOf(this.cache)]: this.sobjectType, [field]: response });
      }
      return response;
    },
  };

  // ------------------------------------------------------------------------------------------ one record

  // One method ("create", "read", "update", "delete") on the cache alone. `localAction`: the server has not seen it.
  Force.syncRemoteObjectWithCache = async (method, id, attributes, fieldlist, cache, localAction = false) => {
    const keyField = keyFieldOf(cache);
    const local = Boolean(localAction);
    switch (method) {
      case "create": {
        const record = { ...pick(attributes, fieldlist), [keyField]: local ? cache.makeLocalId() : id };
        return cache.save({ ...record, [CREATED]: local, [UPDATED]: false, [DELETED]: false });
      }
      case "read":
        return cache.retrieve(id, fieldlist);
      case "update": {
        const record = { ...pick(attributes, fieldlist), [keyField]: id };
        return cache.save({ ...record, [CREATED]: isLocalId(id), [UPDATED]: local, [DELETED]: false });
      }
      case "delete":
        if (local && !isLocalId(id)) await cache.save({ [keyField]: id, [DELETED]: true });
        else await cache.remove(id);
        return null;
      default:
        throw new Error(`Method not supported: ${method}`);
    }
  };

  // One method on the server alone, for records of an sObject type.
  Force.syncSObjectWithServer = async (method, sobjectType, id, attributes, fieldlist) => {
    const { Id, ...withoutId } = forServer(attributes, fieldlist);
    switch (method) {
      case "create": {
        const response = await server().create(sobjectType, withoutId);
        return { ...attributes, Id: response.id };
      }
      case "read":
        return server().retrieve(sobjectType, id, fieldlist);
      case "update":
        await server().update(sobjectType, { ...withoutId, Id: id });
        return { ...attributes, Id: id };
      case "delete":
        await server().del(sobjectType, id);
        return null;
      default:
        throw new Error(`Method not supported: ${method}`);
    }
  };

  // One method on the server alone, for an Apex REST resource with its own id field.
  Force.syncApexRestObjectWithServer = async (method, apexRestPath, id, idField, attributes, fieldlist) => {
    const { [idField]: ignored, ...withoutId } = forServer(attributes, fieldlist);
    const path = id == null ? apexRestPath : `${apexRestPath}/${encodeURIComponent(id)}`;
    switch (method) {
      case "create": {
        const response = await server().apexrest({ path: apexRestPath, method: "POST", data: withoutId });
        return { ...attributes, ...(response && typeof response === "object" ? response : {}) };
      }
      case "read": {
        const query = fieldlist ? `?fields=${fieldlist.map(encodeURIComponent).join(",")}` : "";
        return server().apexrest({ path: path + query, method: "GET" });
      }
      case "update":
        await server().apexrest({ path, method: "PATCH", data: withoutId });
        return { ...attributes, [idField]: id };
      case "delete":
        await server().apexrest({ path, method: "DELETE" });
        return null;
      default:
        throw new Error(`Method not supported: ${method}`);
    }
  };

  // One method on cache and server, as `cacheMode` says. `info.fromCache` tells whether the cache responded.
  Force.syncRemoteObject = async (method, id, attributes, fieldlist, cache, cacheMode, info, syncWithServer) => {
    const mode = cacheMode || CACHE_MODE.SERVER_FIRST;
    if (!cache || mode === CACHE_MODE.SERVER_ONLY) return syncWithServer(method, id, attributes, fieldlist);
    if (mode === CACHE_MODE.CACHE_ONLY) {
      info.fromCache = true;
      const fields = method === "read" ? null : fieldlist;
      return Force.syncRemoteObjectWithCache(method, id, attributes, fields, cache, true);
    }
    if (mode === CACHE_MODE.CACHE_FIRST) {
      if (method !== "read") throw new Error(`Cache mode ${mode} cannot ${method} a record: it is for reads only.`);
      const record = await Force.syncRemoteObjectWithCache(method, id, null, fieldlist, cache);
      info.fromCache = record !== null;
      if (record !== null) return record;
    } else if (mode !== CACHE_MODE.SERVER_FIRST) {
      throw new Error(`Unknown cache mode: ${mode}`);
    }
    const createdLocally = isLocalId(id);
    if (createdLocally && method !== "update") throw new Error(`Can't ${method} on the server a record created locally.`);
    const serverMethod = createdLocally ? "create" : method;
    const response = await syncWithServer(serverMethod, createdLocally ? null : id, attributes, fieldlist);
    if (method === "delete") return Force.syncRemoteObjectWithCache("delete", id, null, null, cache, false);
    if (createdLocally) await cache.remove(id);
    const keyField = keyFieldOf(cache);
    const newId = createdLocally || method === "create" ? response[keyField] : id;
    // What was read is saved whole, under its id, which the response may lack.
    const saved = method === "read" ? "update" : serverMethod;
    return Force.syncRemoteObjectWithCache(saved, newId, response, method === "read" ? null : fieldlist, cache, false);
  };

  Force.syncSObject = (method, sobjectType, id, attributes, fieldlist, cache, cacheMode, info = {}) =>
    Force.syncRemoteObject(method, id, attributes, fieldlist, cache, cacheMode, info, serverOf(sobjectType));

  const serverOf = (sobjectType) => (method, id, attributes, fieldlist) =>
    Force.syncSObjectWithServer(method, sobjectType, id, attributes, fieldlist);

  // ------------------------------------------------------------------------------------------ conflicts

  // The fields of `fieldlist` in which two records differ. An empty text, null and an absent field are the same.
  function changedFields(one, other, fieldlist) {
    const value = (record, field) => (record[field] == null ? "" : record[field]);
    const same = (a, b) => a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
    return fieldlist.filter((field) => !same(value(one, field), value(other, field)));
  }

  function compare(base, theirs, yours, fieldlist) {
    const localChanges = changedFields(base, yours, fieldlist);
    const remoteChanges = changedFields(base, theirs, fieldlist);
    const differing = changedFields(yours, theirs, fieldlist);
    const both = localChanges.filter((field) => remoteChanges.includes(field));
    return { localChanges, remoteChanges, conflictingChanges: both.filter((field) => differing.includes(field)) };
  }

  // As syncRemoteObject, with a second cache of the last known server values: an update or a delete with a merge mode
  // other than "overwrite" is refused, or merged, when the server's record differs from them.
  Force.syncRemoteObjectDetectConflict = async (
    method,
    id,
    attributes,
    fieldlist,
    cache,
    cacheMode,
    cacheForOriginals,
    mergeMode,
    syncWithServer
  ) => {
    const info = {};
    const run = (values) =>
      Force.syncRemoteObject(method, id, values, fieldlist, cache, cacheMode, info, syncWithServer);
    if (!cacheForOriginals) return run(attributes);

    const isLocalAction = cacheMode === CACHE_MODE.CACHE_ONLY;
    const mode = mergeMode || MERGE_MODE.OVERWRITE;
    const detects = method === "update" || method === "delete";
    let values = attributes;
    if (detects && mode !== MERGE_MODE.OVERWRITE && !isLocalAction && !isLocalId(id)) {
      const base = await cacheForOriginals.retrieve(id);
      if (base) values = await mergeWithServer(base, attributes, id, fieldlist, mode, syncWithServer);
    }
    const result = await run(values);
    await saveOriginal(method, id, result, cacheForOriginals, isLocalAction || info.fromCache);
    return result;
  };

  async function mergeWithServer(base, yours, id, fieldlist, mode, syncWithServer) {
    const fields = fieldlist || Object.keys(forServer(yours, null));
    const theirs = await syncWithServer("read", id, null, fields);
    const changes = compare(base, theirs, yours || {}, fields);
    const fails =
      (mode === MERGE_MODE.MERGE_FAIL_IF_CHANGED && changes.remoteChanges.length > 0) ||
      (mode === MERGE_MODE.MERGE_FAIL_IF_CONFLICT && changes.conflictingChanges.length > 0);
    if (fails) throw { base, theirs, yours, ...changes };
    const merged = { ...yours };
    for (const field of changes.remoteChanges) {
      if (!changes.conflictingChanges.includes(field)) merged[field] = theirs[field];
    }
    return merged;
  }

  async function saveOriginal(method, id, result, cacheForOriginals, isLocal) {
    if (isLocal) return;
    if (method === "delete") {
      await cacheForOriginals.remove(id);
      return;
    }
    const key = keyFieldOf(cacheForOriginals);
    const record = { [key]: id, ...result };
    if (record[key] == null || isLocalId(record[key])) return;
    // An entry id belongs to the other soup.
    const { _soupEntryId, _soupLastModifiedDate, ...original } = record;
    await cacheForOriginals.save({ ...original, [CREATED]: false, [UPDATED]: false, [DELETED]: false });
  }

  Force.syncSObjectDetectConflict = (
    method,
    sobjectType,
    id,
    attributes,
    fieldlist,
    cache,
    cacheMode,
    cacheForOriginals,
    mergeMode
  ) =>
    Force.syncRemoteObjectDetectConflict(
      method,
      id,
      attributes,
      fieldlist,
      cache,
      cacheMode,
      cacheForOriginals,
      mergeMode,
      serverOf(sobjectType)
    );

  // ------------------------------------------------------------------------------------------ many records

  function resultOf(records, totalSize, next, fetchNext, recordsIn) {
    let nextUrl = next;
    const result = {
      records: [...records],
      totalSize,
      hasMore: () => nextUrl != null,
      async getMore() {
        if (nextUrl == null) return null;
        const page = await fetchNext(nextUrl);
        nextUrl = page.nextRecordsUrl;
        result.records.push(...recordsIn(page));
        return recordsIn(page);
      },
      async closeCursor() {
        nextUrl = null;
      },
    };
    return result;
  }

  const recordsOf = (page) => page.records;

  async function fetchSoql(query) {
    const page = await server().query(query);
    return resultOf(page.records, page.totalSize, page.nextRecordsUrl, (url) => server().queryMore(url), recordsOf);
  }

  async function fetchSosl(query) {
    const response = await server().search(query);
    const records = Array.isArray(response) ? response : response.searchRecords;
    return resultOf(records, records.length, null, null, recordsOf);
  }

  async function fetchMru(config) {
    const metadata = await server().metadata(config.sobjectType);
    const recent = metadata[RECENT] || [];
    if (!config.fieldlist) return resultOf(recent, recent.length, null, null, recordsOf);
    if (recent.length === 0) return resultOf([], 0, null, null, recordsOf);
    const ids = recent.map((record) => `'${record.Id}'`).join(",");
    const order = config.orderBy ? ` ORDER BY ${config.orderBy} ${config.orderDirection || ""}`.trimEnd() : "";
    return fetchSoql(`SELECT ${config.fieldlist.join(",")} FROM ${config.sobjectType} WHERE Id IN (${ids})${order}`);
  }

  // {type: "soql" or "sosl", query} or {type: "mru", sobjectType, fieldlist?, orderBy?, orderDirection?}
  Force.fetchSObjectsFromServer = async (config) => {
    if (config.type === "soql") return fetchSoql(config.query);
    if (config.type === "sosl") return fetchSosl(config.query);
    if (config.type === "mru") return fetchMru(config);
    throw new Error(`Unknown type of config: ${config.type}`);
  };

  // {apexRestPath, params}
  Force.fetchApexRestObjectsFromServer = async (config) => {
    const page = await server().apexrest({ path: config.apexRestPath, method: "GET", params: config.params });
    return resultOf(page.records, page.totalSize, page.nextRecordsUrl, (url) => server().queryMore(url), recordsOf);
  };

  // Fetches with `fetchFromServer` and saves every page into the caches. {type: "cache", cacheQuery} reads the cache.
  Force.fetchRemoteObjects = async (config, cache, cacheForOriginals, mergeMode, fetchFromServer) => {
    if (config.type === "cache") return cache.find(config.cacheQuery);
    const result = await fetchFromServer(config);
    if (!cache && !cacheForOriginals) return result;
    const keep = async (records) => {
      const kept = cache ? await cache.saveAll(records, mergeMode) : records;
      // A local change that stays keeps what it was made to: otherwise no later save could detect what the server changed.
      const isLeft = (index) => cache && mergeMode === MERGE_MODE_DOWNLOAD.LEAVE_IF_CHANGED && kept[index][LOCAL];
      if (cacheForOriginals) await cacheForOriginals.saveAll(records.filter((_, index) => !isLeft(index)));
      return kept;
    };
    const saved = {
      records: await keep(result.records),
      totalSize: result.totalSize,
      hasMore: () => result.hasMore(),
      closeCursor: () => result.closeCursor(),
      async getMore() {
        const page = await result.getMore();
        if (!page) return page;
        const kept = await keep(page);
        saved.records.push(...kept);
        return kept;
      },
    };
    return saved;
  };

  Force.fetchSObjects = (config, cache, cacheForOriginals, mergeMode) =>
    Force.fetchRemoteObjects(config, cache, cacheForOriginals, mergeMode, Force.fetchSObjectsFromServer);

  // ------------------------------------------------------------------------------------------ Backbone

  // An option of a call, else a member of the model: a value, or a function of the method.
  function setting(object, options, name, method) {
    if (options && options[name] !== undefined) return options[name];
    return typeof object[name] === "function" ? object[name](method) : object[name];
  }

  function defineModels() {
    Force.RemoteObject = Backbone.Model.extend({
      idAttribute: "Id",
      fieldlist: null,
      cacheMode: CACHE_MODE.SERVER_FIRST,
      mergeMode: MERGE_MODE.OVERWRITE,
      cache: null,
      cacheForOriginals: null,

      // Subclasses talk to their server here. Returns a promise of the record.
      syncRemoteObjectWithServer() {
        return Promise.reject(new Error("syncRemoteObjectWithServer is not implemented."));
      },

      sync(backboneMethod, model, options = {}) {
        const method = backboneMethod === "patch" ? "update" : backboneMethod;
        const option = (name) => setting(model, options, name, method);
        return deliver(
          Force.syncRemoteObjectDetectConflict(
            method,
            model.id,
            // A copy: the app may go on changing the model while this runs.
            { ...model.attributes },
            option("fieldlist"),
            option("cache"),
            option("cacheMode"),
            option("cacheForOriginals"),
            option("mergeMode"),
            (...args) => model.syncRemoteObjectWithServer(...args)
          ),
          options
        );
      },
    });

    Force.SObject = Force.RemoteObject.extend({
      sobjectType: null,
      syncRemoteObjectWithServer(method, id, attributes, fieldlist) {
        const type = setting(this, null, "sobjectType", method);
        return Force.syncSObjectWithServer(method, type, id, attributes, fieldlist);
      },
    });

    Force.ApexRestObject = Force.RemoteObject.extend({
      apexRestPath: null,
      syncRemoteObjectWithServer(method, id, attributes, fieldlist) {
        const path = setting(this, null, "apexRestPath", method);
        return Force.syncApexRestObjectWithServer(method, path, id, this.idAttribute, attributes, fieldlist);
      },
    });

    Force.RemoteObjectCollection = Backbone.Collection.extend({
      model: Force.RemoteObject,
      config: null,
      cache: null,
      cacheForOriginals: null,

      // Subclasses talk to their server here. Returns a promise of {records, totalSize, hasMore, getMore, closeCursor}.
      fetchRemoteObjectsFromServer() {
        return Promise.reject(new Error("fetchRemoteObjectsFromServer is not implemented."));
      },

      hasMore() {
        return Boolean(this._fetchResponse && this._fetchResponse.hasMore());
      },

      // Adds the next page of the last fetch to the collection. Gives its records.
      async getMore() {
        const response = this._fetchResponse;
        if (!response || !response.hasMore()) return null;
        const records = await response.getMore();
        if (records && response === this._fetchResponse) this.add(records);
        return records;
      },

      async closeCursor() {
        const response = this._fetchResponse;
        this._fetchResponse = null;
        if (response) await response.closeCursor();
      },

      sync(method, collection, options = {}) {
        if (method !== "read") throw new Error(`Method ${method} is not supported: collections can only be fetched.`);
        const option = (name) => setting(collection, options, name, method);
        const config = option("config");
        const fetchNumber = (collection._fetchNumber || 0) + 1;
        collection._fetchNumber = fetchNumber;
        const fetched = config
          ? Force.fetchRemoteObjects(
              config,
              option("cache"),
              option("cacheForOriginals"),
              option("mergeMode"),
              (serverConfig) => collection.fetchRemoteObjectsFromServer(serverConfig)
            )
          : Promise.resolve(resultOf([], 0, null, null, recordsOf));
        // The response to an older fetch must not replace that of a newer one.
        const isCurrent = () => collection._fetchNumber === fetchNumber;
        const records = fetched.then((response) => {
          if (isCurrent()) collection._fetchResponse = response;
          return response.records;
        });
        return deliver(records, options, isCurrent);
      },
    });

    Force.SObjectCollection = Force.RemoteObjectCollection.extend({
      model: Force.SObject,
      fetchRemoteObjectsFromServer: (config) => Force.fetchSObjectsFromServer(config),
    });

    Force.ApexRestObjectCollection = Force.RemoteObjectCollection.extend({
      model: Force.ApexRestObject,
      fetchRemoteObjectsFromServer: (config) => Force.fetchApexRestObjectsFromServer(config),
    });
  }

  // To Backbone's callbacks. The promise is for callers that want one; a failure that went to a callback is handled.
  function deliver(promise, options, isWanted = () => true) {
    const delivered = promise.then(
      (value) => {
        if (isWanted()) callBack(options.success, value);
        return value;
      },
      (error) => {
        if (isWanted()) callBack(options.error, error);
        throw error;
      }
    );
    if (options.error) delivered.catch(() => {});
    return delivered;
  }

  // What a callback of the app throws goes to the page's error handlers: a promise would keep it to itself.
  function callBack(callback, value) {
    if (!callback) return;
    try {
      callback(value);
    } catch (error) {
      setTimeout(() => {
        throw error;
      }, 0);
    }
  }

  Force.StoreCache = StoreCache;
  Force.SObjectType = SObjectType;
  if (Backbone) defineModels();
  window.Force = Force;
})(window);
