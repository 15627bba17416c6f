// The reference server of the inspector's HTTP interface (Docs/Inspector-interface.md): its guards and files.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exactText } from "../../www/data/exact.js";
import { makeActivity } from "./activity.mjs";
import { makeApi } from "./api.mjs";
import { EventHub } from "./events.mjs";
import { Fault, fault } from "./faults.mjs";
import { makeWorld } from "./world.mjs";

const WWW = fileURLToPath(new URL("../../www/", import.meta.url));
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};
const LIMITS = { requestBytes: 1 << 20, pageEntries: 500, cellCharacters: 200, textCharacters: 4096, queryMilliseconds: 30_000, searchMilliseconds: 80 };

function same(left, right) {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Starts a server.
 *
 * Options: `entries` (of the large soup), `access` ("readWrite" or "readOnly"), `state` of the default store ("locked",
 * "damaged", "missing", "owned"), `slow` (milliseconds that each response takes longer, or a function that says so for an address), `failing` (a pattern of paths
 * that fail), `live` (syncs and logs that come by themselves), `steps` (of a run of a sync), `port`, `limits`.
 */
export async function startInspector(options = {}) {
  const page = randomBytes(16).toString("base64url");
  const token = randomBytes(16).toString("base64url");
  const world = makeWorld(options);
  applyState(world, options.state);
  const hub = new EventHub();
  const limits = { ...LIMITS, ...options.limits };
  const settings = { slow: 0, failing: null, access: "readWrite", ...options };
  const activity = makeActivity(world, hub, settings);
  const api = makeApi({ world, hub, limits, activity, settings });
  const log = [];

  const server = http.createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const host = `127.0.0.1:${server.address().port}`;
    const refuse = (status) => response.writeHead(status, { "Content-Length": 0 }).end();
    const site = request.headers["sec-fetch-site"];
    if (request.headers.host !== host) return refuse(403);
    if (request.headers.origin !== undefined && request.headers.origin !== `http://${host}`) return refuse(403);
    if (site !== undefined && site !== "same-origin" && site !== "none") return refuse(403);
    const [target, query = ""] = request.url.split("?", 2);
    const [, first, ...rest] = target.split("/");
    if (!same(first, page) || rest.length === 0) return refuse(403);
    log.push(`${request.method} ${target}`);
    if (rest[0] !== "api") return file(request, response, rest.join("/"), refuse);
    const credentials = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (!same(credentials, token)) return refuse(403);
    return respond(request, response, rest.slice(1), new URLSearchParams(query));
  });

  async function file(request, response, name, refuse) {
    const type = TYPES[path.extname(name || "index.html")];
    const full = path.join(WWW, name || "index.html");
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(405);
    if (!type || name.includes("%") || !full.startsWith(WWW)) return refuse(404);
    const bytes = await readFile(full).catch(() => null);
    if (!bytes) return refuse(404);
    response.writeHead(200, { "Content-Type": `${type}; charset=utf-8`, "Content-Length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
  }

  async function respond(request, response, segments, parameters) {
    try {
      const delay = typeof settings.slow === "function" ? settings.slow(request.url) : settings.slow;
      // A delay that is left over does not keep the process alive.
      if (delay) await setTimeout(delay, undefined, { ref: false });
      if (settings.failing?.test(request.url)) throw fault("io", "The system refused to read the store.", "Retry; if it stays so, check the disk.");
      const result = await api(request, response, segments, parameters, () => body(request));
      if (result === undefined) return;
      const { httpStatus = 200, headers = {}, raw, ...document } = result;
      const bytes = Buffer.from(raw ?? exactText(document));
      response.writeHead(httpStatus, { "Content-Type": "application/json; charset=utf-8", "Content-Length": bytes.length, ...headers });
      response.end(bytes);
    } catch (error) {
      const found = error instanceof Fault ? error : fault("failed", String(error.stack));
      const bytes = Buffer.from(JSON.stringify({ error: found.document }));
      const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Length": bytes.length, ...(found.status === 503 ? { "Retry-After": "1" } : {}), ...error.headers };
      // What is left of a body that is too long is not read.
      if (error.closes) headers.Connection = "close";
      if (!response.headersSent) response.writeHead(error.httpStatus ?? found.status, headers).end(bytes);
    }
  }

  async function body(request) {
    if (!/^application\/json\s*(;|$)/.test(request.headers["content-type"] ?? "")) {
      throw Object.assign(fault("invalidRequest", "The body is not application/json."), { httpStatus: 415 });
    }
    let bytes = Buffer.alloc(0);
    for await (const part of request) {
      bytes = Buffer.concat([bytes, part]);
      if (bytes.length > limits.requestBytes) throw Object.assign(fault("invalidRequest", `The body is longer than ${limits.requestBytes} bytes.`), { httpStatus: 413, closes: true });
    }
    try {
      const document = JSON.parse(bytes.toString());
      if (document && typeof document === "object" && !Array.isArray(document)) return document;
    } catch {
      // Said below.
    }
    throw fault("invalidRequest", "The body is not a JSON object.");
  }

  await new Promise((done) => server.listen(options.port ?? 0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin, page, token, base: `${origin}/${page}/`, url: `${origin}/${page}/#token=${token}`, world, hub, settings, activity,
    /** The addresses that were requested: what a server would write to a log. */
    log,
    async close() {
      activity.stop();
      hub.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function applyState(world, state) {
  const [main] = world.stores;
  const like = (status) => world.stores.find((store) => store.status === status);
  if (state === "owned") {
    Object.assign(main, { writable: false, readOnlyError: world.stores.find((store) => store.readOnlyError).readOnlyError });
  } else if (state) {
    const error = like(state).error.map((text) => text.replaceAll(like(state).name, main.name));
    Object.assign(main, { status: state, error });
  }
}
