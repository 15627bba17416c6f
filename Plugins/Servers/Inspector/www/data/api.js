// The client of the HTTP interface (Docs/Inspector-interface.md).
import { exactText, parseExact, plain } from "./exact.js";

const STORED = "fieldforce.token";

/** A failure with a code, a message and a remedy. */
export class ApiError extends Error {
  constructor({ code = "failed", name = String(code), message, remedy = null, details = {} }, status = 0) {
    super(message);
    this.code = code;
    this.errorName = name;
    this.remedy = remedy;
    this.details = details;
    this.status = status;
  }
}

/**
 * Takes the token out of the address of the page. The address must not keep it: it would stand in the history, and on a
 * screen that others see. The tab remembers it, so that a reload works.
 */
export function takeToken(location, history, storage) {
  const found = /^#token=([A-Za-z0-9_-]{16,128})(?:&(\/[\w/-]*))?$/.exec(location.hash);
  if (found) {
    storage.setItem(STORED, found[1]);
    history.replaceState(null, "", `${location.pathname}#${found[2] ?? "/"}`);
  }
  return found?.[1] ?? storage.getItem(STORED);
}

export class Api {
  #token;
  #base;

  /** Is called when the server refuses the token. */
  onrefused = () => {};

  constructor(token, base = new URL("api/", document.baseURI).href) {
    this.#token = token;
    this.#base = base;
  }

  /** The response as it came. Throws ApiError, or the AbortError of `signal`. */
  async fetch(path, { method = "GET", query, body, signal, headers } = {}) {
    const parameters = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== ""));
    const address = this.#base + path + (parameters.size ? `?${parameters}` : "");
    let response;
    try {
      response = await fetch(address, {
        method, signal, cache: "no-store", referrerPolicy: "no-referrer", redirect: "error", credentials: "omit",
        headers: { Authorization: `Bearer ${this.#token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
        body: body === undefined ? undefined : exactText(body),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError({
        name: "unreachable", message: "The inspector's server does not respond.",
        remedy: "It ends with its app, or after 15 minutes without use. Run 'fieldforce inspect' again and open the address that it prints.",
      });
    }
    if (response.ok) return response;
    if (response.status === 403) {
      this.onrefused();
      throw new ApiError({ name: "refused", message: "The server refuses the token of this page.", remedy: "Open the address that 'fieldforce inspect' printed last." }, 403);
    }
    const document = await response.json().catch(() => ({}));
    throw new ApiError(document.error ?? { name: `HTTP ${response.status}`, message: `The server responded with ${response.status}.`, remedy: "Reload the page." }, response.status);
  }

  /** A document without data of records. */
  async get(path, query, signal) {
    return (await this.fetch(path, { query, signal })).json();
  }

  /** A document with data of records, whose numbers and names stay as they are stored. */
  async exact(path, query, signal) {
    return parseExact(await (await this.fetch(path, { query, signal })).text());
  }

  async post(path, body = {}, signal) {
    return (await this.fetch(path, { method: "POST", body, signal })).json();
  }

  async postExact(path, body, signal) {
    return parseExact(await (await this.fetch(path, { method: "POST", body, signal })).text());
  }

  /** A whole response, to be saved as a file. */
  async blob(path, signal) {
    return (await this.fetch(path, { signal })).blob();
  }
}

/** A segment of a path for an id, which is opaque and safe by contract; anything else is refused. */
export function segment(id) {
  if (!/^[A-Za-z0-9_-]+$/.test(String(id))) throw new ApiError({ name: "notFound", message: "The address of this page names nothing.", remedy: "Choose another page from the list." });
  return String(id);
}

/** Addresses of resources below a store and a soup. */
export const paths = {
  store: (store) => `stores/${segment(store)}`,
  soups: (store) => `stores/${segment(store)}/soups`,
  entries: (store, soup) => `stores/${segment(store)}/soups/${segment(soup)}/entries`,
  entry: (store, soup, id) => `stores/${segment(store)}/soups/${segment(soup)}/entries/${segment(id)}`,
  sync: (store, sync) => `stores/${segment(store)}/syncs/${segment(sync)}`,
};

/** The conflicts of a page, as objects: the values of fields stay exact. */
export function conflictOf(exact) {
  const conflict = plain(exact);
  conflict.fields = (exact.get("fields") ?? []).map((field) => ({
    name: field.get("name"), base: field.get("base"), mine: field.get("mine"), theirs: field.get("theirs"),
  }));
  conflict.candidates = (exact.get("candidates") ?? []).map((one) => ({ id: one.get("id"), values: one.get("values") }));
  return conflict;
}
