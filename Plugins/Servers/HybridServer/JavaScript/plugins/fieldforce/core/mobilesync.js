import { BridgeError, SyncError } from "./errors.js";

const SERVICE = "com.salesforce.mobilesync";
const ENDED = ["DONE", "FAILED", "STOPPED"];

const storeKey = ({ isGlobalStore, storeName }) => JSON.stringify([Boolean(isGlobalStore), storeName || "defaultStore"]);
const syncKey = (idOrName) => (typeof idOrName === "string" ? { syncName: idOrName } : { syncId: idOrName });

/** The syncs of one store. Made by `fieldforce.syncs(store)`. */
export class MobileSync {
  #connection;
  #config;

  constructor(connection, config) {
    this.#connection = connection;
    this.#config = config;
  }

  /** Creates a sync that downloads `target` into the soup, and runs it. */
  syncDown({ target, soupName, options = {}, name }) {
    return this.#run("syncDown", { target, soupName, options, syncName: name });
  }

  /** Creates a sync that uploads the soup's local changes, and runs it. */
  syncUp({ target = {}, soupName, options = {}, name }) {
    return this.#run("syncUp", { target, soupName, options, syncName: name });
  }

  /** Runs a sync again, by its id (a number) or its name (a string). */
  reSync(idOrName) {
    return this.#run("reSync", syncKey(idOrName));
  }

  /** The state of a sync, or null if there is none. */
  async status(idOrName) {
    const state = await this.#call("getSyncStatus", syncKey(idOrName));
    return state && state._soupEntryId !== undefined ? state : null;
  }

  async delete(idOrName) {
    await this.#call("deleteSync", syncKey(idOrName));
  }

  /** Removes entries whose records the server no longer has. Gives their number. */
  cleanGhosts(syncId) {
    return this.#call("cleanResyncGhosts", { syncId });
  }

  /** The records that were changed on both sides and wait for a decision, of a soup or of all soups of the store. */
  conflicts(soupName) {
    return this.#call("getConflicts", { soupName });
  }

  /**
   * Resolves a conflict; the next sync up uploads the result. `conflict`: one of `conflicts()`, or its key. `resolution`:
   * "mine", "theirs" or `{values}`; for a record in doubt `{record}` or "create"; for a child without its parent "detach" or
   * "recreateParent".
   */
  async resolve(conflict, resolution) {
    await this.#call("resolveConflict", { key: typeof conflict === "string" ? conflict : conflict.key, resolution });
  }

  #call(action, message) {
    return this.#connection.call(SERVICE, action, { ...message, ...this.#config });
  }

  #run(action, message) {
    return new SyncRun(this.#connection, this.#config, () => this.#call(action, message));
  }
}

/**
 * One run of a sync: an async iterable of its states, from RUNNING to DONE, and a promise of the last one.
 * FAILED and STOPPED reject with SyncError, in both forms. The run goes on if an iteration ends early.
 */
export class SyncRun {
  #states = [];
  #failure = null;
  #hasEnded = false;
  #wake = [];
  #done;

  constructor(connection, config, start) {
    let id;
    // Events that arrive before the response are kept until the id is known.
    const early = [];
    // Ids are unique within a store only.
    const isOwn = (state) => state._soupEntryId === id && storeKey(state) === storeKey(config);
    const stop = connection.on("sync", (state) => {
      if (id === undefined) early.push(state);
      else if (isOwn(state)) this.#add(state);
    });
    const stopClose = connection.on("close", (message) =>
      this.#fail(new BridgeError("closed", `The state of the sync is unknown. ${message}`, { service: SERVICE }))
    );
    const release = () => {
      stop();
      stopClose();
    };
    this.#done = (async () => {
      try {
        const state = await start();
        id = state._soupEntryId;
        this.#add(state);
        for (const event of early) if (isOwn(event)) this.#add(event);
        for await (const latest of this.#iterate()) if (latest.status === "DONE") return latest;
        throw this.#failure;
      } catch (error) {
        this.#fail(error);
        throw error;
      } finally {
        release();
      }
    })();
    this.#done.catch(() => {});
  }

  /** The last state, when it is DONE. */
  then(resolve, reject) {
    return this.#done.then(resolve, reject);
  }

  [Symbol.asyncIterator]() {
    return this.#iterate();
  }

  async *#iterate() {
    for (let index = 0; ; index++) {
      while (index >= this.#states.length) {
        if (this.#failure) throw this.#failure;
        if (this.#hasEnded) return;
        await new Promise((resolve) => this.#wake.push(resolve));
      }
      yield this.#states[index];
    }
  }

  #add(state) {
    if (this.#hasEnded) return;
    this.#states.push(state);
    if (ENDED.includes(state.status)) {
      this.#hasEnded = true;
      if (state.status !== "DONE") this.#failure = new SyncError(state);
    }
    this.#notify();
  }

  #fail(error) {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#failure = error;
    this.#notify();
  }

  #notify() {
    for (const resolve of this.#wake.splice(0)) resolve();
  }
}
