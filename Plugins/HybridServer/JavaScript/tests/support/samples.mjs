// A sample of Samples/Hybrid with an org behind it, for tests that click through it in a browser.
//
// Without further ado that is the bridge of the tests with its org in memory. If the environment variable FIELDFORCE_TOOL
// names the program (FIELDFORCE_TOOL=.build/debug/fieldforce), it is `fieldforce hybrid serve` with the mock org: same pages, same
// clicks, same expectations.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Browser, chromium } from "../../../../../Tools/Scripts/chromium.mjs";
import { startBridge } from "../bridge.mjs";
import { Person } from "./person.mjs";

const SAMPLES = fileURLToPath(new URL("../../../../../Samples/Hybrid/", import.meta.url));
const program = process.env.FIELDFORCE_TOOL && path.resolve(process.env.FIELDFORCE_TOOL);

/** Why the samples cannot be tested here, or false. */
export const skip = chromium ? false : "there is no Chromium on this machine";
export const isRealBridge = Boolean(program);

/**
 * Serves a sample, with `prepare(org)` before the page is there, and opens a browser: `{person, org, startUrl}`. `org` has
 * `create(type, fields)`, `update(type, id, fields)`, `delete(type, id)`, `query(soql)` and `reachable(isReachable)`.
 */
export async function openSample(t, name, { loggedIn = true, prepare = async () => {} } = {}) {
  const www = path.join(SAMPLES, name, "www");
  const world = program ? await serveForReal(t, www, { loggedIn, prepare }) : await serveInTest(t, www, { loggedIn, prepare });
  const browser = await Browser.start();
  t.after(async () => {
    await browser.close();
    // An exception in a page, or what the browser refuses, is a failure, whatever the page shows.
    const errors = [...browser.errors, ...browser.complaints];
    if (errors.length > 0) throw new Error(errors.join("\n"));
  });
  return { ...world, person: new Person(browser), browser };
}

// ------------------------------------------------------------------------------------------ bridge of the tests

async function serveInTest(t, www, { loggedIn, prepare }) {
  const bridge = await startBridge({ www, loggedIn });
  t.after(() => bridge.close());
  const org = {
    create: async (type, fields) => bridge.org.create(type, fields),
    update: async (type, id, fields) => bridge.org.update(type, id, fields),
    delete: async (type, id) => bridge.org.delete(type, id),
    query: async (soql) => bridge.org.query(soql).records,
    reachable: async (isReachable) => void (bridge.org.isReachable = isReachable),
  };
  await prepare(org);
  return { org, startUrl: bridge.startUrl, bridge };
}

// ------------------------------------------------------------------------------------------ the program

async function serveForReal(t, www, { loggedIn, prepare }) {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-"));
  const state = path.join(folder, "state");
  t.after(() => rm(folder, { recursive: true, force: true }));
  const info = await serve(t, ["org", "serve", "--port", "0"]);
  const org = new MockOrg(info);
  await prepare(org);
  if (loggedIn) {
    const tokens = ["--access-token", info.accessToken, "--refresh-token", info.refreshToken];
    await promisify(execFile)(program, ["login", "--url", info.url, ...tokens, "--state", state]);
  }
  const { startUrl } = await serve(t, ["hybrid", "serve", "--www", www, "--state", state]);
  return { org, startUrl };
}

// The object on the first line of a server, which ends with the test.
async function serve(t, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise((resolve, reject) => {
    lines.once("line", resolve);
    child.once("close", (code) => reject(new Error(`fieldforce ${args.join(" ")} ended with ${code}.`)));
  });
  return JSON.parse(line);
}

// The mock org over its own socket.
class MockOrg {
  #isReachable = true;

  constructor({ url, accessToken, apiVersion }) {
    Object.assign(this, { url, accessToken, base: `/services/data/v${apiVersion}` });
  }

  async #send(method, address, body) {
    const headers = { Authorization: `Bearer ${this.accessToken}`, "Content-Type": "application/json" };
    const response = await fetch(this.url + address, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  // What another user does comes a second later than what was before, and reaches the org also while this device does not.
  async #sendAsOther(...request) {
    await this.#send("POST", "/mock-org/clock", { advanceSeconds: 1 });
    if (this.#isReachable) return this.#send(...request);
    await this.#send("DELETE", "/mock-org/faults");
    const response = await this.#send(...request);
    await this.reachable(false);
    return response;
  }

  async create(type, fields) {
    return (await this.#sendAsOther("POST", `${this.base}/sobjects/${type}`, fields)).id;
  }

  async update(type, id, fields) {
    await this.#sendAsOther("PATCH", `${this.base}/sobjects/${type}/${id}`, fields);
  }

  async delete(type, id) {
    await this.#sendAsOther("DELETE", `${this.base}/sobjects/${type}/${id}`);
  }

  async query(soql) {
    return (await this.#sendAsOther("GET", `${this.base}/query?q=${encodeURIComponent(soql)}`)).records;
  }

  async reachable(isReachable) {
    this.#isReachable = isReachable;
    await this.#send("DELETE", "/mock-org/faults");
    if (!isReachable) await this.#send("POST", "/mock-org/faults", { path: "/services/", drop: "before", count: null });
  }
}
