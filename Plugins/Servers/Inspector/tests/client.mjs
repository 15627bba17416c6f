// A plain client of the interface, for the tests.
import http from "node:http";
import { RealState, tool } from "./server/real.mjs";
import { startInspector } from "./server/server.mjs";

/** The server under test: the reference server, the one whose address is in INSPECTOR_URL, or with FIELDFORCE_TOOL the package's. */
export async function connect(t, options) {
  if (process.env.INSPECTOR_URL) return client(process.env.INSPECTOR_URL);
  if (tool) {
    const real = await RealState.make();
    t.after(() => real.close());
    return client(await real.inspect());
  }
  const server = await startInspector(options);
  t.after(() => server.close());
  return Object.assign(client(server.url), { server });
}

export function client(address) {
  const url = new URL(address);
  const token = /token=(.*)$/.exec(url.hash)[1];
  const base = url.origin + url.pathname;

  /** A request as it is written: status, headers, text. */
  function raw(path, { method = "GET", headers = {}, body, authorized = true } = {}) {
    return new Promise((resolve, reject) => {
      const request = http.request({ agent: false, host: url.hostname, port: url.port, path, method, headers: { ...(authorized ? { Authorization: `Bearer ${token}` } : {}), ...headers } }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  /** The document of a resource, and its text. */
  async function call(method, path, body) {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const { status, text } = await raw(`${url.pathname}api/${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    return { status, text, document: text ? JSON.parse(text) : null };
  }

  return {
    url, token, base, raw, call,
    get: async (path) => {
      const { status, document } = await call("GET", path);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(document)}`);
      return document;
    },
    post: (path, body = {}) => call("POST", path, body),
  };
}

/** The first events of a stream, until `enough` of them are there. */
export function events(api, topics, enough, headers = {}) {
  return new Promise((resolve, reject) => {
    const found = [];
    const request = http.request(`${api.base}api/events?topics=${topics}`, { headers: { Authorization: `Bearer ${api.token}`, ...headers } }, (response) => {
      let unread = "";
      response.setEncoding("utf8").on("data", (part) => {
        const frames = (unread + part).split("\n\n");
        unread = frames.pop();
        for (const frame of frames.filter((one) => !one.startsWith(":"))) {
          const event = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
          found.push({ ...event, data: JSON.parse(event.data) });
        }
        if (enough(found)) {
          request.destroy();
          resolve(found);
        }
      });
    });
    request.on("error", (error) => error.code !== "ECONNRESET" && reject(error));
    request.end();
  });
}
