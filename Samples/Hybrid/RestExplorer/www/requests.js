// The requests that can be chosen: what they are for, their parameters, and the call that they become.
//
// A parameter is `{name, label, value}`; `kind: "json"` and `kind: "text"` are shown with several lines. `call(values, version)`
// gives `{method, path, params, body}` for the client of the package.
const part = encodeURIComponent;
const object = { name: "object", label: "Object", value: "Contact" };
const id = { name: "id", label: "Id", value: "" };
const fields = (value) => ({ name: "fields", label: "Fields (JSON)", kind: "json", value: JSON.stringify(value, null, 2) });
const data = (version, path) => `/services/data/${version}${path}`;
const get = (path, params) => ({ method: "GET", path, params });

export const REQUESTS = [
  { name: "Versions", about: "The versions of the API that the server has.", call: () => get("/services/data") },
  { name: "Resources", about: "The resources of one version.", call: (_, version) => get(data(version, "/")) },
  { name: "Limits", about: "What the org has used of its limits.", call: (_, version) => get(data(version, "/limits")) },
  { name: "Describe all objects", about: "The objects that this user can see.", call: (_, version) => get(data(version, "/sobjects")) },
  {
    name: "Metadata of an object", about: "An object in short, with the records that were used last.", parameters: [object],
    call: (values, version) => get(data(version, `/sobjects/${part(values.object)}`)),
  },
  {
    name: "Describe an object", about: "The fields, relationships and permissions of an object.", parameters: [object],
    call: (values, version) => get(data(version, `/sobjects/${part(values.object)}/describe`)),
  },
  {
    name: "Retrieve a record", about: "Fields of a record; no names for all.",
    parameters: [object, id, { name: "names", label: "Fields", value: "Id, Name" }],
    call: (values, version) => {
      const names = values.names.replace(/\s/g, "");
      return get(data(version, `/sobjects/${part(values.object)}/${part(values.id)}`), names === "" ? {} : { fields: names });
    },
  },
  {
    name: "Create a record", about: "The response has the new id.", parameters: [object, fields({ LastName: "Okafor" })],
    call: (values, version) => ({ method: "POST", path: data(version, `/sobjects/${part(values.object)}`), body: values.fields }),
  },
  {
    name: "Update a record", about: "Changes the given fields and no others.", parameters: [object, id, fields({ Title: "Engineer" })],
    call: (values, version) => ({ method: "PATCH", path: data(version, `/sobjects/${part(values.object)}/${part(values.id)}`), body: values.fields }),
  },
  {
    name: "Upsert a record", about: "Updates the record with that external id, or creates it.",
    parameters: [object, { name: "field", label: "External id field", value: "Id" }, { name: "key", label: "External id", value: "" }, fields({ LastName: "Okafor" })],
    call: (values, version) => ({
      method: "PATCH", path: data(version, `/sobjects/${part(values.object)}/${part(values.field)}/${part(values.key)}`), body: values.fields,
    }),
  },
  {
    name: "Delete a record", about: "The record goes to the recycle bin.", parameters: [object, id],
    call: (values, version) => ({ method: "DELETE", path: data(version, `/sobjects/${part(values.object)}/${part(values.id)}`) }),
  },
  {
    name: "Query", about: "SOQL. A long result has a link to its next page.",
    parameters: [{ name: "soql", label: "SOQL", kind: "text", value: "SELECT Id, Name FROM Contact ORDER BY Name LIMIT 10" }],
    call: (values, version) => get(data(version, "/query"), { q: values.soql }),
  },
  {
    name: "Query with deleted records", about: "SOQL that also finds what is in the recycle bin.",
    parameters: [{ name: "soql", label: "SOQL", kind: "text", value: "SELECT Id, Name, IsDeleted FROM Contact LIMIT 10" }],
    call: (values, version) => get(data(version, "/queryAll"), { q: values.soql }),
  },
  {
    name: "Search", about: "SOSL over several objects.",
    parameters: [{ name: "sosl", label: "SOSL", kind: "text", value: "FIND {Smith} IN ALL FIELDS RETURNING Contact (Id, Name)" }],
    call: (values, version) => get(data(version, "/search"), { q: values.sosl }),
  },
  {
    name: "Composite", about: "Several requests in one; a later one can use the result of an earlier one.",
    parameters: [{
      name: "requests", label: "Requests (JSON)", kind: "json",
      value: JSON.stringify([
        { method: "POST", url: "/services/data/v66.0/sobjects/Account", referenceId: "account", body: { Name: "Harbor Repair" } },
        { method: "POST", url: "/services/data/v66.0/sobjects/Contact", referenceId: "contact", body: { LastName: "Ito", AccountId: "@{account.id}" } },
      ], null, 2),
    }],
    call: (values, version) => ({ method: "POST", path: data(version, "/composite"), body: { allOrNone: true, compositeRequest: values.requests } }),
  },
  {
    name: "Any request", about: "A path on the server, with a body for POST, PUT and PATCH.",
    parameters: [
      { name: "method", label: "Method", choices: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], value: "GET" },
      { name: "path", label: "Path", value: "/services/data/v66.0/limits" },
      { name: "body", label: "Body (JSON)", kind: "json", value: "", isOptional: true },
    ],
    call: ({ method, path, body }) => ({ method, path, ...(["POST", "PUT", "PATCH"].includes(method) ? { body: body ?? {} } : {}) }),
  },
];

/** The call of a request, from the texts of the form. Throws an error that names a JSON text which is none. */
export function callOf(request, texts, version) {
  const values = {};
  for (const { name, label, kind, isOptional } of request.parameters || []) {
    const text = texts[name] ?? "";
    if (kind !== "json") values[name] = text.trim();
    else if (text.trim() !== "" || !isOptional) values[name] = parse(label, text);
  }
  const call = request.call(values, version);
  if (!call.path.startsWith("/")) throw new Error("The path has to begin with '/': requests go to the server of this user.");
  return call;
}

function parse(label, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${label}: this is no JSON. ${error.message}`);
  }
}

/** "GET /services/data/v66.0/query?q=…", as a line to read. */
export function lineOf({ method, path, params = {} }) {
  const query = new URLSearchParams(params).toString();
  return `${method} ${path}${query === "" ? "" : `?${query}`}`;
}
