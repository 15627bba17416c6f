// MockSmartStore.js: SmartStore in JavaScript, for development and tests without native code.
//
// Not encrypted and without indexes (queries scan), so not for production. Include it after MockCordova.js; outside a page
// it defines the same classes. Stores survive a reload of the page in sessionStorage unless MockSmartStore.persistent is
// false.
(function (root) {
  "use strict";
  const DEFAULT_STORE = "defaultStore";
  const ENTRY_ID = "_soupEntryId";
  const LAST_MODIFIED = "_soupLastModifiedDate";
  const TYPES = ["string", "integer", "floating", "full_text", "json1"];

  const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

  // ------------------------------------------------------------------------------------------ values

  // The value at a dotted path. Through an array: the values of its items, without those that have none.
  function project(value, path) {
    const [key, ...rest] = path;
    if (key === undefined || value == null) return value === null ? undefined : value;
    if (Array.isArray(value)) {
      const values = value.map((item) => project(item, path)).filter((item) => item !== undefined);
      return values.length > 0 ? values : undefined;
    }
    return isObject(value) && key in value ? project(value[key], rest) : undefined;
  }

  // The form in which an index of that type keeps a value; null when it keeps none.
  function indexed(value, type) {
    if (value === undefined || value === null) return null;
    if (type === "integer") return typeof value === "number" ? Math.trunc(value) : null;
    if (type === "floating") return typeof value === "number" ? value : null;
    if (typeof value === "boolean") return type === "json1" ? Number(value) : value ? "1" : "0";
    if (typeof value === "number") return type === "json1" ? value : String(value);
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  // Null sorts first.
  function compare(a, b) {
    if (a === b) return 0;
    if (a === null) return -1;
    if (b === null) return 1;
    return a < b ? -1 : 1;
  }

  function likePattern(pattern) {
    const source = [...String(pattern)].map((character) => {
      if (character === "%") return "[\\s\\S]*";
      return character === "_" ? "[\\s\\S]" : character.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    });
    return new RegExp(`^${source.join("")}$`, "i");
  }

  // ------------------------------------------------------------------------------------------ full-text queries

  const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const words = (text) => fold(text).match(/[\p{L}\p{N}]+/gu) || [];

  // Parses a match key into a function of {path: words}. Terms beside each other bind tightest, then NOT, AND, OR.
  function matcher(text, path) {
    const syntaxError = (near) => new Error(`fts5: syntax error near "${near}"`);
    const tokens = [...text.matchAll(/\{[^}:]*:([^}]*)\}:|"([^"]*)"|([()])|([^\s()"]+)/g)];
    if (text.replace(/\{[^}]*\}:|"[^"]*"/g, "").includes('"')) throw new Error("unterminated string");
    let position = 0;
    const next = () => tokens[position];
    const isOperator = (name) => next() && next()[4] === name;
    const startsTerm = () => next() && next()[3] !== ")" && !["AND", "OR", "NOT"].includes(next()[4]);

    function term() {
      if (!startsTerm()) throw syntaxError(next() ? next()[0] : "");
      let token = tokens[position++];
      let column = path;
      if (token[1] !== undefined) {
        column = token[1];
        if (!startsTerm()) throw syntaxError(token[0]);
        token = tokens[position++];
      }
      if (token[3] === "(") {
        const inner = either();
        if (!next() || next()[3] !== ")") throw syntaxError("(");
        position += 1;
        return inner;
      }
      const isPrefix = token[4] !== undefined && token[4].endsWith("*");
      const wanted = words(token[2] !== undefined ? token[2] : token[4]);
      if (wanted.length === 0) throw syntaxError(token[0]);
      return (columns) =>
        Object.keys(columns).some((name) => (!column || name === column) && hasPhrase(columns[name], wanted, isPrefix));
    }

    function chain(operand, isNext, skip, combine) {
      let result = operand();
      while (isNext()) {
        position += skip;
        const [left, right] = [result, operand()];
        result = (columns) => combine(left(columns), () => right(columns));
      }
      return result;
    }
    const beside = () => chain(term, startsTerm, 0, (left, right) => left && right());
    const without = () => chain(beside, () => isOperator("NOT"), 1, (left, right) => left && !right());
    const both = () => chain(without, () => isOperator("AND"), 1, (left, right) => left && right());
    const either = () => chain(both, () => isOperator("OR"), 1, (left, right) => left || right());

    const result = either();
    if (next()) throw syntaxError(next()[0]);
    return result;
  }

  function hasPhrase(text, phrase, isPrefix) {
    const last = phrase.length - 1;
    const fits = (word, index) =>
      word !== undefined && (isPrefix && index === last ? word.startsWith(phrase[index]) : word === phrase[index]);
    return text.some((_, start) => phrase.every((__, index) => fits(text[start + index], index)));
  }

  // ------------------------------------------------------------------------------------------ Smart SQL

  const REFERENCE = "\\{([^:}]+):([^}]+)\\}";
  const LITERAL = `(-?\\d+(?:\\.\\d+)?|'(?:[^']|'')*'|"(?:[^"]|"")*")`;
  const SMART_SQL = new RegExp(
    `^\\s*select\\s+(count\\(\\*\\)|${REFERENCE}(?:\\s*,\\s*${REFERENCE})*)\\s+from\\s+\\{([^:}]+)\\}` +
      `(?:\\s+where\\s+${REFERENCE}\\s*(?:in\\s*\\(((?:'(?:[^']|'')*'|"[^"]*"|[^)'"])*)\\)|(like|!=|<=|>=|<|>|=)\\s*${LITERAL}))?` +
      `(?:\\s+order\\s+by\\s+lower\\s*\\(\\s*${REFERENCE}\\s*\\))?\\s*$`,
    "i"
  );

  function literal(text) {
    if (/^['"]/.test(text)) return text.slice(1, -1).replace(new RegExp(text[0] + text[0], "g"), text[0]);
    return Number(text);
  }

  // {soup, columns or null for a count, condition(value) on `path`, orderPath}
  function parseSmartSql(sql) {
    const unsupported = new Error(`SmartQuery not supported by MockSmartStore: ${sql}`);
    const match = SMART_SQL.exec(sql);
    if (!match) throw unsupported;
    const [, selected, , , , , soup, whereSoup, path, list, operator, operand, orderSoup, orderPath] = match;
    const references = [...selected.matchAll(new RegExp(REFERENCE, "g"))];
    const soups = [...references.map((reference) => reference[1]), whereSoup, orderSoup];
    if (soups.some((name) => name !== undefined && name !== soup)) throw unsupported;
    const isCount = /^count/i.test(selected);
    return {
      soup,
      columns: isCount ? null : references.map((reference) => reference[2]),
      path,
      condition: condition(list, operator, operand),
      orderPath,
    };
  }

  function condition(list, operator, operand) {
    if (list !== undefined) {
      const values = [...list.matchAll(new RegExp(LITERAL, "g"))].map((item) => String(literal(item[0])));
      return (value) => value !== null && values.includes(String(value));
    }
    if (operator === undefined) return () => true;
    const wanted = literal(operand);
    if (operator.toLowerCase() === "like") {
      const pattern = likePattern(wanted);
      return (value) => value !== null && pattern.test(String(value));
    }
    const accepts = {
      "=": (order) => order === 0,
      "!=": (order) => order !== 0,
      "<": (order) => order < 0,
      "<=": (order) => order <= 0,
      ">": (order) => order > 0,
      ">=": (order) => order >= 0,
    }[operator];
    // A text column compares as text, whatever the literal is.
    return (value) => value !== null && accepts(compare(value, typeof value === "string" ? String(wanted) : wanted));
  }

  // ------------------------------------------------------------------------------------------ one store

  class MockSmartStore {
    constructor(isGlobalStore = false, storeName = DEFAULT_STORE) {
      this.isGlobalStore = isGlobalStore;
      this.storeName = storeName;
      this.reset();
    }

    reset() {
      this.soups = new Map();
      this.cursors = new Map();
    }

    // As text: its length is what getDatabaseSize reports.
    toJSON() {
      const soups = [...this.soups.values()].map((soup) => ({ ...soup, rows: [...soup.rows.entries()] }));
      return JSON.stringify({ soups });
    }

    fromJSON(text) {
      this.reset();
      for (const soup of JSON.parse(text).soups) this.soups.set(soup.name, { ...soup, rows: new Map(soup.rows) });
    }

    soup(name) {
      const soup = this.soups.get(name);
      if (!soup) throw new Error(`Soup: ${name} does not exist`);
      return soup;
    }

    soupExists(name) {
      return this.soups.has(name);
    }

    checkSpecs(name, indexes) {
      if (!name || typeof name !== "string") throw new Error(`Bogus soup name: ${name}`);
      if (!Array.isArray(indexes) || indexes.length === 0) throw new Error(`No indexSpecs specified for soup: ${name}`);
      for (const spec of indexes) {
        if (!spec || !spec.path || !TYPES.includes(spec.type)) {
          throw new Error(`Invalid index spec ${JSON.stringify(spec)} for soup: ${name}`);
        }
      }
    }

    registerSoup(name, indexes, features = []) {
      this.checkSpecs(name, indexes);
      if (!this.soups.has(name)) {
        const specs = indexes.map(({ path, type }) => ({ path, type }));
        this.soups.set(name, { name, specs, features: [...features], rows: new Map(), nextId: 1 });
      }
      return name;
    }

    removeSoup(name) {
      this.soups.delete(name);
    }

    clearSoup(name) {
      this.soup(name).rows.clear();
    }

    getSoupIndexSpecs(name) {
      return copy(this.soup(name).specs);
    }

    getSoupSpec(name) {
      const soup = this.soup(name);
      return { name: soup.name, features: [...soup.features] };
    }

    // Without `reIndexData`, new paths find no old entries until the soup is re-indexed.
    alterSoup(name, indexes, reIndexData, features) {
      const soup = this.soup(name);
      this.checkSpecs(name, indexes);
      const kept = new Set(soup.specs.map((spec) => `${spec.type} ${spec.path}`));
      soup.specs = indexes.map(({ path, type }) => ({ path, type }));
      if (features) soup.features = [...features];
      for (const row of soup.rows.values()) {
        const columns = {};
        for (const spec of soup.specs) {
          const isFresh = !kept.has(`${spec.type} ${spec.path}`);
          const isComputed = !isFresh || reIndexData || spec.type === "json1";
          const old = isFresh ? undefined : row.columns[spec.path];
          columns[spec.path] = isComputed ? (old !== undefined ? old : this.column(row.entry, spec)) : null;
        }
        row.columns = columns;
      }
      return name;
    }

    reIndexSoup(name, paths) {
      const soup = this.soup(name);
      const specs = soup.specs.filter((spec) => paths.includes(spec.path));
      for (const row of soup.rows.values()) {
        for (const spec of specs) row.columns[spec.path] = this.column(row.entry, spec);
      }
      return name;
    }

    column(entry, spec) {
      return indexed(project(entry, spec.path.split(".")), spec.type);
    }

    spec(soup, path) {
      const spec = [...soup.specs].reverse().find((one) => one.path === path);
      if (!spec) throw new Error(`${soup.name} does not have an index on ${path}`);
      return spec;
    }

    // What a query reads of a row under `path`.
    read(soup, row, path) {
      if (path === "_soup") return copy(row.entry);
      if (path === ENTRY_ID || path === LAST_MODIFIED) return row.entry[path];
      return row.columns[this.spec(soup, path).path];
    }

    // ---------------------------------------------------------------------------------------- entries

    // All entries or none are written.
    upsertSoupEntries(name, entries, externalIdPath = ENTRY_ID) {
      const soup = this.soup(name);
      if (!Array.isArray(entries)) throw new Error(`Invalid entries for soup: ${name}`);
      const before = { rows: new Map(soup.rows), nextId: soup.nextId };
      try {
        return entries.map((entry) => this.upsert(soup, entry, externalIdPath));
      } catch (error) {
        Object.assign(soup, before);
        throw error;
      }
    }

    upsert(soup, entry, externalIdPath) {
      if (!isObject(entry)) throw new Error(`Invalid entry for soup: ${soup.name}`);
      const known = this.entryIdFor(soup, entry, externalIdPath);
      const id = known === null ? soup.nextId++ : known;
      const stored = { ...copy(entry), [ENTRY_ID]: id, [LAST_MODIFIED]: Date.now() };
      const columns = {};
      for (const spec of soup.specs) columns[spec.path] = this.column(stored, spec);
      soup.rows.set(id, { entry: stored, columns });
      return copy(stored);
    }

    entryIdFor(soup, entry, path) {
      if (path === ENTRY_ID) {
        const id = Number(entry[ENTRY_ID]);
        return soup.rows.has(id) ? id : null;
      }
      const spec = this.spec(soup, path);
      const value = this.column(entry, spec);
      if (value === null) {
        throw new Error(`For upsert with external ID path '${path}', value cannot be empty for any entries.`);
      }
      const ids = [...soup.rows].filter(([, row]) => row.columns[path] === value).map(([id]) => id);
      if (ids.length > 1) throw new Error(`There are more than one soup elements where ${path} is ${value}`);
      return ids.length === 1 ? ids[0] : null;
    }

    retrieveSoupEntries(name, ids) {
      const { rows } = this.soup(name);
      const wanted = [...new Set(ids.map(Number))].filter((id) => rows.has(id));
      return wanted.map((id) => copy(rows.get(id).entry));
    }

    removeFromSoup(name, ids) {
      const { rows } = this.soup(name);
      for (const id of ids) rows.delete(Number(id));
    }

    // Removes what is on the first page of the query.
    removeByQuery(name, querySpec) {
      const soup = this.soup(name);
      const { rows, pageSize } = this.query(name, querySpec);
      const ids = rows.slice(0, pageSize).map((row) => (row.entry ? row.entry[ENTRY_ID] : row.values[0]));
      this.removeFromSoup(soup.name, ids);
    }

    // ---------------------------------------------------------------------------------------- queries

    // {rows, values(row), pageSize}
    query(soupName, querySpec) {
      const spec = querySpec || {};
      const pageSize = spec.pageSize > 0 ? spec.pageSize : 10;
      if (spec.queryType === "smart") {
        const rows = this.smartRows(spec.smartSql).map((values) => ({ values }));
        return { rows, pageSize, values: (row) => row.values };
      }
      const soup = this.soup(soupName);
      const rows = [...soup.rows.values()].filter(this.filter(soup, spec));
      if (spec.orderPath) {
        const sign = spec.order === "descending" ? -1 : 1;
        const key = (row) => this.read(soup, row, spec.orderPath);
        rows.sort((a, b) => sign * compare(key(a), key(b)));
      }
      const paths = spec.selectPaths;
      const values = (row) => (paths ? paths.map((path) => this.read(soup, row, path)) : copy(row.entry));
      return { rows, pageSize, values };
    }

    filter(soup, spec) {
      const isSpecial = String(spec.indexPath).startsWith("_soup");
      const type = () => (isSpecial ? "json1" : this.spec(soup, spec.indexPath).type);
      const key = (value) => (value == null ? null : indexed(value, type()));
      const value = (row) => this.read(soup, row, spec.indexPath);
      switch (spec.queryType) {
        case "exact": {
          const wanted = key(spec.matchKey);
          if (wanted === null) throw new Error("Invalid query spec: an exact query needs a matchKey");
          return (row) => value(row) === wanted;
        }
        case "range": {
          if (spec.indexPath) type();
          const [begin, end] = [key(spec.beginKey), key(spec.endKey)];
          return (row) => {
            if (begin === null && end === null) return true;
            const held = value(row);
            if (held === null) return false;
            return (begin === null || compare(held, begin) >= 0) && (end === null || compare(held, end) <= 0);
          };
        }
        case "like": {
          type();
          if (spec.likeKey == null) throw new Error("Invalid query spec: a like query needs a likeKey");
          const pattern = likePattern(spec.likeKey);
          return (row) => value(row) !== null && pattern.test(String(value(row)));
        }
        case "match": {
          if (!spec.matchKey) throw new Error("Invalid query spec: a match query needs a matchKey");
          const texts = soup.specs.filter((one) => one.type === "full_text").map((one) => one.path);
          if (spec.indexPath && !texts.includes(spec.indexPath)) {
            throw new Error(`${soup.name} does not have a full_text index on ${spec.indexPath}`);
          }
          const matches = matcher(spec.matchKey, spec.indexPath);
          return (row) => {
            const columns = {};
            for (const path of texts) columns[path] = row.columns[path] === null ? [] : words(row.columns[path]);
            return matches(columns);
          };
        }
        default:
          throw new Error(`Invalid query spec: unknown query type ${spec.queryType}`);
      }
    }

    smartRows(sql) {
      const parsed = parseSmartSql(String(sql));
      const soup = this.soup(parsed.soup);
      for (const path of [...(parsed.columns || []), parsed.path, parsed.orderPath]) {
        const isSpecial = path === undefined || path.startsWith("_soup");
        if (!isSpecial) this.spec(soup, path);
      }
      const holds = (row) => parsed.path === undefined || parsed.condition(this.read(soup, row, parsed.path));
      const rows = [...soup.rows.values()].filter(holds);
      if (parsed.columns === null) return [[rows.length]];
      if (parsed.orderPath) {
        const key = (row) => {
          const value = this.read(soup, row, parsed.orderPath);
          return typeof value === "string" ? value.toLowerCase() : value;
        };
        rows.sort((a, b) => compare(key(a), key(b)));
      }
      return rows.map((row) => parsed.columns.map((path) => this.read(soup, row, path)));
    }

    // ---------------------------------------------------------------------------------------- cursors

    openCursor(soupName, querySpec) {
      const { rows, pageSize } = this.query(soupName, querySpec);
      const cursorId = MockSmartStore.nextCursorId++;
      const totalEntries = rows.length;
      const totals = { pageSize, totalEntries, totalPages: Math.ceil(totalEntries / pageSize) };
      this.cursors.set(cursorId, { soupName, querySpec: copy(querySpec), totals });
      return this.moveCursor(cursorId, 0);
    }

    // Runs the query again: a cursor shows current data, with the totals of its creation.
    moveCursor(cursorId, index) {
      const cursor = this.cursors.get(cursorId);
      if (!cursor) throw new Error(`Invalid cursor id: ${cursorId}`);
      const { pageSize, totalPages } = cursor.totals;
      const currentPageIndex = Math.max(0, Math.min(index, totalPages - 1));
      const { rows, values } = this.query(cursor.soupName, cursor.querySpec);
      const page = rows.slice(currentPageIndex * pageSize, (currentPageIndex + 1) * pageSize);
      return { cursorId, currentPageIndex, ...cursor.totals, currentPageOrderedEntries: page.map(values) };
    }

    closeCursor(cursorId) {
      this.cursors.delete(cursorId);
    }
  }
  MockSmartStore.nextCursorId = 1;
  MockSmartStore.persistent = true;

  // ------------------------------------------------------------------------------------------ all stores

  // The stores by name, user and global apart. Stores come into being on first use.
  class MockStores {
    constructor() {
      this.kinds = { false: new Map(), true: new Map() };
    }

    get({ isGlobalStore, storeName } = {}) {
      const isGlobal = Boolean(isGlobalStore);
      const name = storeName || DEFAULT_STORE;
      const stores = this.kinds[isGlobal];
      if (!stores.has(name)) stores.set(name, new MockSmartStore(isGlobal, name));
      return stores.get(name);
    }

    list(isGlobalStore) {
      return [...this.kinds[Boolean(isGlobalStore)].keys()].map((storeName) => ({
        storeName,
        isGlobalStore: Boolean(isGlobalStore),
      }));
    }

    // Names are compared without case, as file names are on some systems.
    remove({ isGlobalStore, storeName } = {}) {
      const stores = this.kinds[Boolean(isGlobalStore)];
      const wanted = (storeName || DEFAULT_STORE).toLowerCase();
      for (const name of [...stores.keys()]) if (name.toLowerCase() === wanted) stores.delete(name);
    }

    removeAll(isGlobalStore) {
      this.kinds[Boolean(isGlobalStore)].clear();
    }

    toJSON(isGlobalStore) {
      const stores = [...this.kinds[Boolean(isGlobalStore)]].map(([name, store]) => [name, store.toJSON()]);
      return JSON.stringify(stores);
    }

    fromJSON(isGlobalStore, text) {
      for (const [storeName, store] of JSON.parse(text)) this.get({ isGlobalStore, storeName }).fromJSON(store);
    }
  }

  // The actions of the plug-in as functions of their message. They return the value or throw the error.
  MockSmartStore.actions = (stores) => {
    const onStore = (func) => (message) => func(stores.get(message), message);
    const ok = (func) => (message) => {
      func(message);
      return "OK";
    };
    return {
      pgGetDatabaseSize: onStore((store) => store.toJSON().length),
      pgRegisterSoup: onStore((store, { soupName, soupSpec, indexes }) =>
        store.registerSoup(soupSpec ? soupSpec.name : soupName, indexes, soupSpec ? soupSpec.features : [])
      ),
      pgSoupExists: onStore((store, { soupName }) => store.soupExists(soupName)),
      pgRemoveSoup: ok(onStore((store, { soupName }) => store.removeSoup(soupName))),
      pgClearSoup: ok(onStore((store, { soupName }) => store.clearSoup(soupName))),
      pgGetSoupIndexSpecs: onStore((store, { soupName }) => store.getSoupIndexSpecs(soupName)),
      pgGetSoupSpec: onStore((store, { soupName }) => store.getSoupSpec(soupName)),
      pgAlterSoup: onStore((store, { soupName, soupSpec, indexes, reIndexData }) =>
        store.alterSoup(soupName, indexes, reIndexData, soupSpec && soupSpec.features)
      ),
      pgReIndexSoup: onStore((store, { soupName, paths }) => store.reIndexSoup(soupName, paths)),
      pgUpsertSoupEntries: onStore((store, { soupName, entries, externalIdPath }) =>
        store.upsertSoupEntries(soupName, entries, externalIdPath || ENTRY_ID)
      ),
      pgRetrieveSoupEntries: onStore((store, { soupName, entryIds }) => store.retrieveSoupEntries(soupName, entryIds)),
      pgRemoveFromSoup: ok(
        onStore((store, { soupName, entryIds, querySpec }) =>
          entryIds ? store.removeFromSoup(soupName, entryIds) : store.removeByQuery(soupName, querySpec)
        )
      ),
      pgQuerySoup: onStore((store, { soupName, querySpec }) => {
        if (querySpec && querySpec.queryType === "smart") {
          throw new Error("Smart queries can only be run using runSmartQuery");
        }
        return store.openCursor(soupName, querySpec);
      }),
      pgRunSmartQuery: onStore((store, { querySpec }) => {
        if (!querySpec || querySpec.queryType !== "smart") throw new Error("runSmartQuery can only run smart queries");
        return store.openCursor(null, querySpec);
      }),
      pgMoveCursorToPageIndex: onStore((store, { cursorId, index }) => store.moveCursor(cursorId, index)),
      pgCloseCursor: ok(onStore((store, { cursorId }) => store.closeCursor(cursorId))),
      pgShowInspector: () => undefined,
      pgGetAllStores: () => stores.list(false),
      pgGetAllGlobalStores: () => stores.list(true),
      pgRemoveStore: ok((message) => stores.remove(message)),
      pgRemoveAllStores: ok(() => stores.removeAll(false)),
      pgRemoveAllGlobalStores: ok(() => stores.removeAll(true)),
    };
  };

  // ------------------------------------------------------------------------------------------ in a page

  function persist(stores, storage) {
    const keys = [
      [false, "mockStore"],
      [true, "mockGlobalStore"],
    ];
    for (const [isGlobal, key] of keys) {
      const text = storage.getItem(key);
      if (text) stores.fromJSON(isGlobal, text);
    }
    let timer = null;
    const save = () => {
      timer = null;
      if (!MockSmartStore.persistent) return;
      try {
        for (const [isGlobal, key] of keys) storage.setItem(key, stores.toJSON(isGlobal));
      } catch (error) {
        MockSmartStore.persistent = false;
        console.warn(`MockSmartStore: the stores no longer fit into sessionStorage and are in memory only. ${error}`);
      }
    };
    root.addEventListener("pagehide", save);
    return () => {
      if (timer === null) timer = setTimeout(save, 50);
    };
  }

  function intercept(cordova, stores, changed) {
    const actions = MockSmartStore.actions(stores);
    for (const action of Object.keys(actions)) {
      cordova.interceptExec("com.salesforce.smartstore", action, (success, error, args) => {
        let value;
        try {
          value = actions[action](args[0] || {});
        } catch (failure) {
          error(failure.message);
          return;
        }
        if (!/Get|Query|Exists|Retrieve|Cursor/.test(action)) changed();
        success(value);
      });
    }
  }

  root.MockSmartStore = MockSmartStore;
  root.MockStores = MockStores;
  if (root.cordova && root.cordova.interceptExec) {
    const stores = new MockStores();
    const changed = root.sessionStorage ? persist(stores, root.sessionStorage) : () => {};
    intercept(root.cordova, stores, changed);
    root.mockStores = stores;
    root.mockStore = stores.get({ isGlobalStore: false });
    root.mockGlobalStore = stores.get({ isGlobalStore: true });
  }
})(globalThis);
