import { BridgeError, RestError } from "./errors.js";

const SERVICE = "com.salesforce.network";
const segment = encodeURIComponent;

/** Salesforce's REST API with the session of the current user, which the bridge holds and refreshes. */
export class RestClient {
  #connection;

  constructor(connection, { apiVersion = "v66.0" } = {}) {
    this.#connection = connection;
    this.apiVersion = apiVersion;
  }

  /**
   * Sends a request. `path` is absolute on the server, such as `/services/data/v66.0/limits`, or a whole URL. `params` are the
   * query of GET, HEAD and DELETE, `body` is the JSON body of the others. Rejects with RestError.
   */
  async request({ path, method = "GET", params, body, headers = {}, files = {}, binary = false, authenticated = true }) {
    const message = {
      ...(/^https?:\/\//i.test(path) ? {} : { endPoint: "" }),
      path,
      method,
      queryParams: body !== undefined ? body : params || {},
      headerParams: headers,
      fileParams: files,
      returnBinary: binary,
      doesNotRequireAuthentication: !authenticated,
    };
    try {
      return await this.#connection.call(SERVICE, "pgSendRequest", message);
    } catch (error) {
      throw error instanceof BridgeError && error.code === "refused" ? restError(error, method, path) : error;
    }
  }

  #data(path) {
    return `/services/data/${this.apiVersion}${path}`;
  }

  /** The records of a SOQL query, page by page as they are used. */
  async *query(soql) {
    let page = await this.request({ path: this.#data("/query"), params: { q: soql } });
    yield* page.records;
    while (page.nextRecordsUrl) {
      page = await this.request({ path: page.nextRecordsUrl });
      yield* page.records;
    }
  }

  /** The records that a SOSL search finds. */
  async search(sosl) {
    const response = await this.request({ path: this.#data("/search"), params: { q: sosl } });
    return Array.isArray(response) ? response : response.searchRecords;
  }

  describe(type) {
    return this.request({ path: this.#data(`/sobjects/${segment(type)}/describe`) });
  }

  retrieve(type, id, fields) {
    const params = fields ? { fields: fields.join(",") } : {};
    return this.request({ path: this.#data(`/sobjects/${segment(type)}/${segment(id)}`), params });
  }

  /** Creates a record. Gives its id. */
  async create(type, record) {
    const path = this.#data(`/sobjects/${segment(type)}/`);
    const response = await this.request({ path, method: "POST", body: record });
    return response.id;
  }

  async update(type, id, fields) {
    await this.request({ path: this.#data(`/sobjects/${segment(type)}/${segment(id)}`), method: "PATCH", body: fields });
  }

  /** Creates or updates the record whose external id field has that value. */
  upsert(type, field, value, record) {
    const path = this.#data(`/sobjects/${segment(type)}/${segment(field)}/${segment(value)}`);
    return this.request({ path, method: "PATCH", body: record });
  }

  async delete(type, id) {
    await this.request({ path: this.#data(`/sobjects/${segment(type)}/${segment(id)}`), method: "DELETE" });
  }
}

// The error of the plug-in is a text that holds JSON.
function restError(error, method, path) {
  let details;
  try {
    details = JSON.parse(error.message);
  } catch {
    return error;
  }
  const what = `${method} ${path.split("?")[0]}`;
  if (!details.response) return new RestError(`${what} got no response. ${details.error || ""}`.trim());
  const { statusCode: status, headers, body } = details.response;
  const reason = Array.isArray(body) && body[0] ? `${body[0].errorCode}: ${body[0].message}` : "";
  return new RestError(`${what} was refused with ${status}. ${reason}`.trim(), { status, headers, body });
}
