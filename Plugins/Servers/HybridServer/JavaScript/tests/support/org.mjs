// A Salesforce org in memory: as much REST and SOQL as the tests of this folder use.
import { parseSoql, SoqlError } from "./soql.mjs";

const FIRST_DATE = Date.parse("2026-01-01T00:00:00.000Z");
const KEY_PREFIXES = { Account: "001", Contact: "003", Task: "00T" };
// Of the platform's limits, those that tests run into.
const LONGEST = { Phone: 40, Name: 255, Subject: 255 };

export class Org {
  #tables = new Map();
  #nextId = 1;
  #clock = FIRST_DATE;
  #cursors = new Map();
  requests = [];
  /** While it is false, requests get no response. */
  isReachable = true;

  constructor({ pageSize = 2000 } = {}) {
    this.pageSize = pageSize;
  }

  table(type) {
    const name = type[0].toUpperCase() + type.slice(1).toLowerCase();
    if (!this.#tables.has(name)) this.#tables.set(name, new Map());
    return { name, records: this.#tables.get(name) };
  }

  create(type, fields) {
    const { name, records } = this.table(type);
    check(name, fields);
    const id = `${KEY_PREFIXES[name] ?? "001"}${String(this.#nextId++).padStart(12, "0")}AAA`;
    const fullName = name === "Contact" && { Name: [fields.FirstName, fields.LastName].filter(Boolean).join(" ") };
    records.set(id, { attributes: { type: name }, Id: id, ...fullName, ...fields, LastModifiedDate: this.#now() });
    return id;
  }

  update(type, id, fields) {
    const record = this.#existing(type, id);
    check(this.table(type).name, fields);
    Object.assign(record, fields, { LastModifiedDate: this.#now() });
  }

  delete(type, id) {
    this.#existing(type, id);
    this.table(type).records.delete(id);
  }

  #now() {
    this.#clock += 1000;
    return new Date(this.#clock).toISOString();
  }

  #existing(type, id) {
    const record = this.table(type).records.get(id);
    if (!record) throw new OrgError(404, "NOT_FOUND", "The requested resource does not exist");
    return record;
  }

  // ------------------------------------------------------------------------------------------ SOQL

  query(soql) {
    const { fields, isCount, type, matches, compare, limit, offset } = this.#parse(soql);
    const records = [...this.table(type).records.values()].filter(matches).sort(compare);
    const wanted = records.slice(offset, offset + limit);
    if (isCount) return { totalSize: wanted.length, done: true, records: [] };
    const selected = wanted.map((record) => this.#select(record, fields));
    return this.#page(selected, 0, `c${this.#nextId++}`);
  }

  #parse(soql) {
    try {
      return parseSoql(soql, (record, path) => this.#valueAt(record, path));
    } catch (error) {
      throw error instanceof SoqlError ? new OrgError(400, "MALFORMED_QUERY", error.message) : error;
    }
  }

  // A field, or a field of a parent: "Account.Name".
  #valueAt(record, path) {
    const [first, ...rest] = path.split(".");
    if (rest.length === 0) return record[first];
    const parent = this.#parent(record, first);
    return parent && this.#valueAt(parent, rest.join("."));
  }

  #parent(record, name) {
    const id = record[`${name}Id`];
    for (const records of this.#tables.values()) if (records.has(id)) return records.get(id);
    return null;
  }

  #select(record, fields) {
    const selected = { attributes: record.attributes };
    for (const path of fields) {
      const [name, ...rest] = path.split(".");
      if (rest.length === 0) {
        selected[name] = record[name] ?? null;
      } else {
        const parent = this.#parent(record, name);
        selected[name] = parent && { ...selected[name], ...this.#select(parent, [rest.join(".")]) };
      }
    }
    return selected;
  }

  #page(records, start, cursor) {
    const end = start + this.pageSize;
    const page = { totalSize: records.length, done: end >= records.length, records: records.slice(start, end) };
    if (page.done) return page;
    this.#cursors.set(`${cursor}-${end}`, () => this.#page(records, end, cursor));
    return { ...page, nextRecordsUrl: `/services/data/v66.0/query/${cursor}-${end}` };
  }

  // ------------------------------------------------------------------------------------------ REST

  /** {status, headers, body} for a request of the network plug-in. */
  handle({ endPoint = "", path, method, queryParams, headerParams }) {
    this.requests.push({ endPoint, path, method, queryParams, headerParams });
    if (!this.isReachable) throw new UnreachableError();
    try {
      const [address, query = ""] = `${endPoint}${path}`.split("?");
      const isRead = ["GET", "HEAD", "DELETE"].includes(method);
      const params = { ...Object.fromEntries(new URLSearchParams(query)), ...(isRead ? queryParams : {}) };
      const body = this.#route(method, address.replace(/\/+$/, ""), params, isRead ? undefined : queryParams);
      return { status: body === undefined ? 204 : 200, headers: {}, body };
    } catch (error) {
      if (!(error instanceof OrgError)) throw error;
      return { status: error.status, headers: {}, body: [{ errorCode: error.code, message: error.message }] };
    }
  }

  #route(method, address, params, body) {
    const apex = /^\/services\/apexrest(\/.*)$/.exec(address);
    if (apex) return this.#apex(method, apex[1].split("/").slice(1), params, body);
    const [, , , version, resource, ...rest] = address.split("/");
    if (version === undefined) return [{ label: "Spring '26", url: "/services/data/v66.0", version: "66.0" }];
    if (resource === undefined) return { sobjects: `/services/data/${version}/sobjects`, query: `/services/data/${version}/query` };
    if (resource === "query" && rest.length > 0) return this.#nextPage(rest[0]);
    if (resource === "query" || resource === "queryAll") return this.query(params.q);
    if (resource === "search") return { searchRecords: this.#search(params.q) };
    if (resource === "sobjects") return this.#sobjects(method, rest.map(decodeURIComponent), params, body);
    throw new OrgError(404, "NOT_FOUND", "The requested resource does not exist");
  }

  #nextPage(cursor) {
    const next = this.#cursors.get(cursor);
    if (!next) throw new OrgError(400, "INVALID_QUERY_LOCATOR", "invalid query locator");
    return next();
  }

  #sobjects(method, [type, id, detail], params, body) {
    if (type === undefined) return { sobjects: [...this.#tables.keys()].map((name) => ({ name })) };
    const { name, records } = this.table(type);
    if (id === "describe") return detail ? { detailLayoutSections: [] } : describe(name);
    if (id === undefined && method === "POST") return { id: this.create(type, body), success: true, errors: [] };
    if (id === undefined) {
      const recentItems = [...records.values()].map(({ attributes, Id, Name }) => ({ attributes, Id, Name }));
      return { objectDescribe: describe(name), recentItems };
    }
    if (method === "PATCH") return this.update(type, id, body);
    if (method === "DELETE") return this.delete(type, id);
    const record = this.#existing(type, id);
    return params.fields ? this.#select(record, params.fields.split(",")) : { ...record };
  }

  #search(sosl) {
    const term = /find\s*\{([^}]*?)\*?\}/i.exec(sosl)[1].toLowerCase();
    const all = [...this.#tables.values()].flatMap((records) => [...records.values()]);
    return all.filter((record) => String(record.Name).toLowerCase().startsWith(term));
  }

  // The Apex classes of the guide: one account with other field names, and a list of them.
  #apex(method, [resource, id], params, body) {
    const simple = (record) => ({ accountId: record.Id, accountName: record.Name });
    if (resource === "simpleAccounts") {
      const records = this.query(`SELECT Id, Name FROM Account WHERE Name LIKE '${params.namePattern}'`).records;
      return { totalSize: records.length, records: records.map(simple) };
    }
    if (method === "POST") return simple(this.#existing("Account", this.create("Account", { Name: body.accountName })));
    if (method === "PATCH") this.update("Account", id, { Name: body.accountName });
    if (method === "DELETE") return this.delete("Account", id);
    return simple(this.#existing("Account", id));
  }

  /** The functions of forceJsClient, without a connection. */
  client() {
    const send = async (method, path, queryParams = {}) => {
      const { status, body } = this.handle({ path, method, queryParams });
      if (status >= 400) throw JSON.stringify({ response: { statusCode: status, body } });
      return body;
    };
    const base = "/services/data/v66.0";
    return {
      query: (q) => send("GET", `${base}/query`, { q }),
      queryMore: (url) => send("GET", url),
      search: (q) => send("GET", `${base}/search`, { q }),
      metadata: (type) => send("GET", `${base}/sobjects/${type}`),
      retrieve: (type, id, fields) => send("GET", `${base}/sobjects/${type}/${id}`, { fields: fields.join(",") }),
      create: (type, fields) => send("POST", `${base}/sobjects/${type}/`, fields),
      update: (type, { Id, ...fields }) => send("PATCH", `${base}/sobjects/${type}/${Id}`, fields),
      del: (type, id) => send("DELETE", `${base}/sobjects/${type}/${id}`),
    };
  }
}

/** No response from the org. */
export class UnreachableError extends Error {
  constructor() {
    super("The connection was refused.");
  }
}

class OrgError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

const describe = (name) => ({ name, keyPrefix: "001", childRelationships: [], fields: [] });

function check(type, fields) {
  if (type === "Account" && fields.Name === "") {
    throw new OrgError(400, "REQUIRED_FIELD_MISSING", "Required fields are missing: [Name]");
  }
  for (const [name, longest] of Object.entries(LONGEST)) {
    if (String(fields[name] ?? "").length <= longest) continue;
    throw new OrgError(400, "STRING_TOO_LONG", `${name}: data value too large: ${fields[name]} (max length=${longest})`);
  }
}
