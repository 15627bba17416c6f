// MockMobileSyncPlugin.js: syncs between mock stores and a server, in JavaScript, for development and tests.
//
// Include it after MockSmartStore.js and mobilesync.js. It knows the targets soql, sosl, mru and refresh, and uploads
// record by record.
(function (root) {
  "use strict";
  const LOCAL_FLAGS = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"];
  const SYNC_ID = "__sync_id__";
  const NOT_FOUND = /NOT_FOUND|ENTITY_IS_DELETED/;

  const clean = (record) => Object.assign({}, record, ...LOCAL_FLAGS.map((flag) => ({ [flag]: false })));
  const isMissing = (error) => NOT_FOUND.test(typeof error === "string" ? error : JSON.stringify(error));
  const timeOf = (record) => (record.LastModifiedDate ? Date.parse(record.LastModifiedDate) : -1);

  // `server` has the functions of forceJsClient; `emit` gets the state of a sync after each change.
  class MockMobileSync {
    constructor({ stores, server, emit }) {
      Object.assign(this, { stores, server, emit });
      this.syncs = new Map();
      this.nextId = 1;
      this.running = Promise.resolve();
    }

    find(message) {
      const inStore = (sync) => sync.store === this.stores.get(message);
      const byId = this.syncs.get(message.syncId);
      if (message.syncName === undefined && message.syncId === undefined) {
        throw new Error("neither syncId nor syncName were specified");
      }
      if (message.syncName === undefined) return byId && inStore(byId) ? byId : undefined;
      return [...this.syncs.values()].find((sync) => sync.state.name === message.syncName && inStore(sync));
    }

    existing(message) {
      const sync = this.find(message);
      if (!sync) throw new Error(`No sync with ${message.syncName === undefined ? "id" : "name"}: ${message.syncName || message.syncId}`);
      return sync;
    }

    create(type, message) {
      const { target, soupName, options, syncName, isGlobalStore, storeName } = message;
      if (type === "syncDown" && !target) throw new Error("Cannot carry out syncDown: target must be an object.");
      if (syncName && this.find({ ...message, syncId: undefined })) throw new Error(`already a sync with name:${syncName}`);
      const id = this.nextId++;
      const state = {
        _soupEntryId: id,
        type,
        ...(syncName ? { name: syncName } : {}),
        soupName,
        target: target || {},
        options: options || {},
        status: "NEW",
        progress: 0,
        totalSize: -1,
        maxTimeStamp: -1,
        startTime: 0,
        endTime: 0,
        error: "",
      };
      const sync = { state, store: this.stores.get(message), place: { isGlobalStore: Boolean(isGlobalStore), storeName } };
      this.syncs.set(id, sync);
      return sync;
    }

    // Starts the run and gives the state RUNNING. The changes that follow are emitted, DONE or FAILED last.
    start(sync) {
      Object.assign(sync.state, { status: "RUNNING", progress: 0, totalSize: -1, error: "", startTime: Date.now() });
      const run = async () => {
        // The response to the call goes first.
        await new Promise((resolve) => setTimeout(resolve, 0));
        try {
          if (sync.state.type === "syncDown") await this.download(sync);
          else await this.upload(sync);
          this.update(sync, { status: "DONE", progress: 100, endTime: Date.now() });
        } catch (error) {
          const text = (error && error.message) || JSON.stringify(error);
          this.update(sync, { status: "FAILED", error: text, endTime: Date.now() });
        }
      };
      this.running = this.running.then(run);
      return { ...sync.state };
    }

    update(sync, changes) {
      Object.assign(sync.state, changes);
      this.emit({ ...sync.state, ...sync.place });
    }

    syncDown(message) {
      return this.start(this.create("syncDown", message));
    }

    syncUp(message) {
      return this.start(this.create("syncUp", message));
    }

    reSync(message) {
      return this.start(this.existing(message));
    }

    getSyncStatus(message) {
      const sync = this.find(message);
      return sync ? { ...sync.state } : {};
    }

    deleteSync(message) {
      const sync = this.find(message);
      if (sync) this.syncs.delete(sync.state._soupEntryId);
    }

    // ---------------------------------------------------------------------------------------- down

    async *pages({ target }, store) {
      if (target.type === "sosl") {
        const response = await this.server.search(target.query);
        yield { records: Array.isArray(response) ? response : response.searchRecords };
        return;
      }
      let page = await this.server.query(await this.queryOf(target, store));
      yield page;
      while (page.nextRecordsUrl) {
        page = await this.server.queryMore(page.nextRecordsUrl);
        yield page;
      }
    }

    async queryOf(target, store) {
      if (target.type === "soql") return target.query;
      const fields = [...new Set(["Id", "LastModifiedDate", ...(target.fieldlist || [])])].join(", ");
      const select = (ids) => `SELECT ${fields} FROM ${target.sobjectType} WHERE Id IN ('${ids.join("','")}')`;
      if (target.type === "mru") {
        const { recentItems } = await this.server.metadata(target.sobjectType);
        return select(recentItems.map((item) => item.Id));
      }
      if (target.type === "refresh") {
        return select([...store.soup(target.soupName).rows.values()].map((row) => row.entry.Id));
      }
      throw new Error(`MockMobileSyncPlugin does not know the target type ${target.type}`);
    }

    async download(sync) {
      const { state, store } = sync;
      const idField = state.target.idFieldName || "Id";
      const since = state.maxTimeStamp;
      const keepsLocal = state.options.mergeMode === "LEAVE_IF_CHANGED";
      let count = 0;
      let newest = since;
      for await (const page of this.pages(state, store)) {
        const fresh = page.records.filter((record) => timeOf(record) < 0 || timeOf(record) > since);
        const dirty = new Set();
        for (const row of store.soup(state.soupName).rows.values()) {
          if (keepsLocal && row.entry.__local__) dirty.add(row.entry[idField]);
        }
        const wanted = fresh.filter((record) => !dirty.has(record[idField]));
        const entries = wanted.map((record) => ({ ...clean(record), [SYNC_ID]: state._soupEntryId }));
        store.upsertSoupEntries(state.soupName, entries, idField);
        count += fresh.length;
        newest = Math.max(newest, ...fresh.map(timeOf));
        Object.assign(state, { totalSize: since < 0 && page.totalSize !== undefined ? page.totalSize : count });
        if (page.nextRecordsUrl) this.update(sync, { progress: Math.floor((100 * count) / state.totalSize) });
      }
      Object.assign(state, { totalSize: count, maxTimeStamp: newest });
    }

    // Removes what this sync downloaded and the server no longer has. Gives the number of removed entries.
    async cleanResyncGhosts(message) {
      const { state, store } = this.existing(message);
      const idField = state.target.idFieldName || "Id";
      const remote = new Set();
      for await (const page of this.pages(state, store)) for (const record of page.records) remote.add(record[idField]);
      const rows = [...store.soup(state.soupName).rows].filter(([, { entry }]) => {
        return entry[SYNC_ID] === state._soupEntryId && !entry.__local__ && !remote.has(entry[idField]);
      });
      store.removeFromSoup(
        state.soupName,
        rows.map(([id]) => id)
      );
      return rows.length;
    }

    // ---------------------------------------------------------------------------------------- up

    async upload(sync) {
      const { state, store } = sync;
      const rows = [...store.soup(state.soupName).rows.values()].filter((row) => row.entry.__local__);
      state.totalSize = rows.length;
      for (const [index, { entry }] of rows.entries()) {
        await this.uploadEntry(state, store, entry);
        if (index < rows.length - 1) this.update(sync, { progress: Math.floor((100 * (index + 1)) / rows.length) });
      }
    }

    async uploadEntry(state, store, entry) {
      const type = entry.attributes && entry.attributes.type;
      const save = (changes) => {
        // An edit that was made since the entry was read stays, and stays unsynced.
        const [now] = store.retrieveSoupEntries(state.soupName, [entry._soupEntryId]);
        if (!now) return;
        const isEdited = JSON.stringify(now) !== JSON.stringify(entry);
        const flags = { __locally_created__: false, __locally_updated__: !now.__locally_deleted__ };
        const saved = isEdited ? { ...now, ...changes, ...flags } : clean({ ...entry, ...changes });
        store.upsertSoupEntries(state.soupName, [saved], "_soupEntryId");
      };
      const remove = () => store.removeFromSoup(state.soupName, [entry._soupEntryId]);
      const create = async () => save({ Id: (await this.server.create(type, this.fields(state, entry, "create"))).id });

      if (entry.__locally_created__) {
        if (entry.__locally_deleted__) remove();
        else await create();
        return;
      }
      if (state.options.mergeMode === "LEAVE_IF_CHANGED" && (await this.isNewerOnServer(type, entry))) return;
      try {
        if (entry.__locally_deleted__) {
          await this.server.del(type, entry.Id);
          remove();
        } else {
          await this.server.update(type, { ...this.fields(state, entry, "update"), Id: entry.Id });
          save({});
        }
      } catch (error) {
        if (!isMissing(error)) throw error;
        // Gone on the server: a deletion has happened already, a change makes the record again.
        if (entry.__locally_deleted__) remove();
        else await create();
      }
    }

    fields({ target, options }, entry, method) {
      const names = target[`${method}Fieldlist`] || options.fieldlist || [];
      return Object.fromEntries(names.filter((name) => name in entry && name !== "Id").map((name) => [name, entry[name]]));
    }

    // Whether another user has changed or deleted the record since the entry's date.
    async isNewerOnServer(type, entry) {
      if (timeOf(entry) < 0) return false;
      const record = await this.server.retrieve(type, entry.Id, ["LastModifiedDate"]).catch((error) => {
        if (!isMissing(error)) throw error;
        return null;
      });
      return record === null ? !entry.__locally_deleted__ : timeOf(record) > timeOf(entry);
    }

    // The actions of the plug-in as functions of their message. They give the value, or throw.
    actions() {
      const names = ["syncDown", "syncUp", "reSync", "getSyncStatus", "deleteSync", "cleanResyncGhosts"];
      return Object.fromEntries(names.map((name) => [name, async (message) => this[name](message)]));
    }
  }

  root.MockMobileSync = MockMobileSync;
  if (!root.cordova || !root.cordova.interceptExec) return;

  const sync = new MockMobileSync({
    stores: root.mockStores,
    // Force.init may set the client after this script ran.
    server: new Proxy({}, { get: (target, name) => root.Force.forceJsClient[name] }),
    emit: (detail) => document.dispatchEvent(new CustomEvent("sync", { detail })),
  });
  const actions = sync.actions();
  for (const service of ["com.salesforce.mobilesync", "com.salesforce.smartsync"]) {
    for (const name of Object.keys(actions)) {
      root.cordova.interceptExec(service, name, (success, error, args) => {
        actions[name](args[0]).then(success, (failure) => error(failure.message || failure));
      });
    }
  }
  root.mockMobileSync = sync;
})(globalThis);
