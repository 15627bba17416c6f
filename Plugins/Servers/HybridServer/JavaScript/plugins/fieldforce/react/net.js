import { caller } from "./native.js";

const DATA = "/services/data";
const list = (fields) => (Array.isArray(fields) ? fields.join(",") : fields);

/** REST requests of the current user. Paths have `setApiVersion`'s version. */
export function makeNet(connection) {
  const exec = caller(connection, "net");
  let version = "v66.0";

  const sendRequest = (endPoint, path, success, fail, method, payload, headerParams, fileParams, returnBinary, doesNotRequireAuthentication) =>
    exec(success, fail, "sendRequest", {
      endPoint,
      path,
      method: method || "GET",
      queryParams: payload || {},
      headerParams: headerParams || {},
      fileParams: fileParams || {},
      returnBinary: Boolean(returnBinary),
      doesNotRequireAuthentication: Boolean(doesNotRequireAuthentication),
    });
  const data = (path, success, fail, method, payload) => sendRequest(DATA, `/${version}${path}`, success, fail, method, payload);
  const record = (type, ...parts) => `/sobjects/${[type, ...parts].map(encodeURIComponent).join("/")}`;
  const collection = "/composite/sobjects";

  return {
    setApiVersion: (value) => void (version = value),
    getApiVersion: () => version,
    sendRequest,
    versions: (ok, fail) => sendRequest(DATA, "/", ok, fail),
    resources: (ok, fail) => data("/", ok, fail),
    describeGlobal: (ok, fail) => data("/sobjects/", ok, fail),
    metadata: (type, ok, fail) => data(`${record(type)}/`, ok, fail),
    describe: (type, ok, fail) => data(`${record(type)}/describe/`, ok, fail),
    describeLayout: (type, recordTypeId, ok, fail) =>
      data(`${record(type)}/describe/layouts/${encodeURIComponent(recordTypeId || "")}`, ok, fail),
    create: (type, fields, ok, fail) => data(`${record(type)}/`, ok, fail, "POST", fields),
    // The list of fields may be left out.
    retrieve: (type, id, ...rest) => {
      const fields = typeof rest[0] === "function" ? undefined : rest.shift();
      data(record(type, id), rest[0], rest[1], "GET", fields ? { fields: list(fields) } : {});
    },
    upsert: (type, externalIdField, externalId, fields, ok, fail) =>
      data(record(type, externalIdField, externalId || ""), ok, fail, externalId ? "PATCH" : "POST", fields),
    update: (type, id, fields, ok, fail) => data(record(type, id), ok, fail, "PATCH", fields),
    del: (type, id, ok, fail) => data(record(type, id), ok, fail, "DELETE"),
    query: (soql, ok, fail) => data("/query", ok, fail, "GET", { q: soql }),
    queryMore: (url, ok, fail) => sendRequest("", url.replace(/^https?:\/\/[^/]*/i, ""), ok, fail),
    search: (sosl, ok, fail) => data("/search", ok, fail, "GET", { q: sosl }),
    getAttachment: (id, ok, fail) =>
      sendRequest(DATA, `/${version}${record("Attachment", id, "Body")}`, ok, fail, "GET", null, null, null, true),
    collectionCreate: (allOrNone, records, ok, fail) => data(collection, ok, fail, "POST", { allOrNone, records }),
    collectionUpdate: (allOrNone, records, ok, fail) => data(collection, ok, fail, "PATCH", { allOrNone, records }),
    collectionUpsert: (allOrNone, type, externalIdField, records, ok, fail) =>
      data(`${collection}/${encodeURIComponent(type)}/${encodeURIComponent(externalIdField)}`, ok, fail, "PATCH", { allOrNone, records }),
    collectionRetrieve: (type, ids, fields, ok, fail) =>
      data(`${collection}/${encodeURIComponent(type)}`, ok, fail, "POST", { ids, fields }),
    collectionDelete: (allOrNone, ids, ok, fail) => data(collection, ok, fail, "DELETE", { allOrNone, ids: list(ids) }),
  };
}
