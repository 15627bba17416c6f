const SERVICE = "com.salesforce.smartstore";
const PAGE_SIZE = 100;

/** Builders of query specs. `options`: `{order, orderPath, pageSize, selectPaths}`. */
export const QuerySpec = {
  all: (orderPath, options) => spec("range", { indexPath: orderPath, orderPath, ...options }),
  exact: (indexPath, matchKey, options) => spec("exact", { indexPath, matchKey, ...options }),
  range: (indexPath, beginKey, endKey, options) => spec("range", { indexPath, beginKey, endKey, ...options }),
  like: (indexPath, likeKey, options) => spec("like", { indexPath, likeKey, ...options }),
  match: (indexPath, matchKey, options) => spec("match", { indexPath, matchKey, ...options }),
  smart: (smartSql, options) => spec("smart", { smartSql, ...options }),
};

function spec(queryType, members) {
  return { queryType, order: "ascending", pageSize: PAGE_SIZE, orderPath: members.indexPath, ...members };
}

/** One store of soups. Made by `fieldforce.store()`; the store itself comes into being on first use. */
export class SmartStore {
  #connection;

  constructor(connection, { name, isGlobal = false } = {}) {
    this.#connection = connection;
    this.name = name;
    this.isGlobal = isGlobal;
  }

  /** The store in the form that calls of the bridge use. */
  get config() {
    return { isGlobalStore: this.isGlobal, storeName: this.name };
  }

  #call(action, message) {
    return this.#connection.call(SERVICE, action, { ...message, ...this.config });
  }

  /** Creates the soup unless it exists. `indexes`: `[{path, type}]`. */
  registerSoup(soupName, indexes) {
    return this.#call("pgRegisterSoup", { soupName, indexes });
  }

  soupExists(soupName) {
    return this.#call("pgSoupExists", { soupName });
  }

  soupIndexes(soupName) {
    return this.#call("pgGetSoupIndexSpecs", { soupName });
  }

  /** Replaces the indexes. Without `reIndexData` new paths find no entries that are already stored. */
  alterSoup(soupName, indexes, { reIndexData = true } = {}) {
    return this.#call("pgAlterSoup", { soupName, indexes, reIndexData });
  }

  reIndexSoup(soupName, paths) {
    return this.#call("pgReIndexSoup", { soupName, paths });
  }

  async clearSoup(soupName) {
    await this.#call("pgClearSoup", { soupName });
  }

  async removeSoup(soupName) {
    await this.#call("pgRemoveSoup", { soupName });
  }

  /** Inserts or updates all `entries`, or none. Gives them as stored, with `_soupEntryId`. */
  upsert(soupName, entries, { externalIdPath = "_soupEntryId" } = {}) {
    return this.#call("pgUpsertSoupEntries", { soupName, entries, externalIdPath });
  }

  /** The entries with these ids, without those that do not exist. */
  retrieve(soupName, entryIds) {
    return this.#call("pgRetrieveSoupEntries", { soupName, entryIds });
  }

  /** Removes entries by an array of ids, or those on the first page of a query spec. */
  async remove(soupName, idsOrQuerySpec) {
    const selection = Array.isArray(idsOrQuerySpec) ? { entryIds: idsOrQuerySpec } : { querySpec: idsOrQuerySpec };
    await this.#call("pgRemoveFromSoup", { soupName, ...selection });
  }

  /** The size of the database in bytes. */
  size() {
    return this.#call("pgGetDatabaseSize", {});
  }

  /** Deletes the store with all its soups. */
  async delete() {
    await this.#call("pgRemoveStore", {});
  }

  /** The results of a query, page by page as they are used: `for await (const entry of store.query(…))`. */
  query(soupName, querySpec) {
    return new QueryResult(() => this.#call("pgQuerySoup", { soupName, querySpec }), (action, m) => this.#call(action, m));
  }

  /** The rows of a Smart SQL statement: `for await (const [name, count] of store.sql("select …"))`. */
  sql(smartSql, { pageSize = PAGE_SIZE } = {}) {
    const querySpec = QuerySpec.smart(smartSql, { pageSize });
    return new QueryResult(() => this.#call("pgRunSmartQuery", { querySpec }), (action, m) => this.#call(action, m));
  }
}

/** Results of a query: an async iterable of entries or rows. Each iteration has a cursor of its own, closed at its end. */
export class QueryResult {
  #open;
  #call;

  constructor(open, call) {
    this.#open = open;
    this.#call = call;
  }

  /** The pages: `{entries, index, totalEntries, totalPages}`. */
  async *pages() {
    let cursor = await this.#open();
    const { cursorId } = cursor;
    try {
      while (cursor.currentPageIndex < cursor.totalPages) {
        const { currentPageIndex: index, totalEntries, totalPages } = cursor;
        yield { entries: cursor.currentPageOrderedEntries, index, totalEntries, totalPages };
        if (index + 1 >= totalPages) return;
        cursor = await this.#call("pgMoveCursorToPageIndex", { cursorId, index: index + 1 });
      }
    } finally {
      // With the connection the cursor is gone as well.
      await this.#call("pgCloseCursor", { cursorId }).catch(() => {});
    }
  }

  async *[Symbol.asyncIterator]() {
    for await (const page of this.pages()) yield* page.entries;
  }

  /** All results in one array. */
  async toArray() {
    const all = [];
    for await (const page of this.pages()) for (const entry of page.entries) all.push(entry);
    return all;
  }

  /** The first result, or undefined. */
  async first() {
    for await (const entry of this) return entry;
    return undefined;
  }
}
