// `fieldforce hybrid serve` and a mock org in place of the bridge of the tests, where the environment variable
// FIELDFORCE_TOOL names the program (FIELDFORCE_TOOL=.build/debug/fieldforce). It has the members of that bridge which a
// program has; a test that needs more is marked with `onTestBridge`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

/** The path of the program, or null. */
export const tool = process.env.FIELDFORCE_TOOL ? path.resolve(process.env.FIELDFORCE_TOOL) : null;

/** Starts a mock org and, with its user logged in unless `loggedIn` is false, a bridge to it. */
export class RealBridge {
  /** The calls of the pages and clients that `record` was given, without the version in front of the arguments. */
  calls = [];

  static async start({ www, testRunner = false, loggedIn = true, options = [], orgOptions = [] }) {
    const bridge = new RealBridge();
    bridge.folder = await mkdtemp(path.join(tmpdir(), "hybrid-"));
    const state = ["--state", path.join(bridge.folder, "state")];
    try {
      bridge.orgProgram = await Program.start(["org", "serve", "--port", "0", ...orgOptions]);
      bridge.org = new RealOrg(bridge.orgProgram.line);
      if (loggedIn) await bridge.org.logIn(state);
      const all = [...(www ? ["--www", www] : []), ...(testRunner ? ["--test-runner"] : []), ...options];
      bridge.program = await Program.start(["hybrid", "serve", ...state, "--login-url", bridge.org.line.url, ...all]);
      Object.assign(bridge, bridge.program.line);
      bridge.host = new URL(bridge.url).host;
    } catch (error) {
      await bridge.close();
      throw error;
    }
    return bridge;
  }

  get line() {
    return JSON.stringify(this.program.line);
  }

  /** Notes the frames that a socket sends from now on. */
  record(socket) {
    const { send } = socket;
    socket.send = (text) => {
      const { service, action, args } = JSON.parse(text);
      this.calls.push({ service, action, args: String(args[0]).startsWith("pluginSDKVersion") ? args.slice(1) : args });
      send.call(socket, text);
    };
  }

  /** Logs in on the page that the program opens in the system's browser, as the user of the org or with another password. */
  async logInAtBrowser(password = this.org.line.password) {
    const page = await this.program.said(/^(http\S+authorize\S+)$/m);
    const form = new URL(page).searchParams;
    form.set("username", this.org.line.username);
    form.set("password", password);
    const response = await fetch(page.split("?")[0], { method: "POST", body: form });
    return response.text();
  }

  async close() {
    const status = await this.program?.end();
    await this.orgProgram?.end();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (status) throw new Error(`hybrid serve ended with ${status}: ${this.program.errors}`);
  }
}

class Program {
  errors = "";

  /** Starts the tool; its first line of output is JSON. */
  static async start(args) {
    const program = new Program();
    program.process = spawn(tool, args, { stdio: ["ignore", "pipe", "pipe"] });
    program.ended = new Promise((resolve) => program.process.once("exit", (code, signal) => resolve(code ?? signal)));
    program.process.stderr.on("data", (text) => (program.errors += text));
    const lines = createInterface({ input: program.process.stdout });
    const first = new Promise((resolve) => lines.once("line", resolve));
    const line = await Promise.race([first, program.ended.then(() => null)]);
    if (line === null) throw new Error(`fieldforce ${args.join(" ")} ended: ${program.errors}`);
    program.line = JSON.parse(line);
    return program;
  }

  /** The part of the next message that `pattern` captures. */
  async said(pattern) {
    for (;;) {
      const found = pattern.exec(this.errors);
      if (found) {
        this.errors = this.errors.slice(found.index + found[0].length);
        return found[1];
      }
      await Promise.race([once(this.process.stderr, "data"), this.ended]);
      if (this.process.exitCode !== null) throw new Error(`fieldforce ended: ${this.errors}`);
    }
  }

  end() {
    this.process.kill("SIGTERM");
    return this.ended;
  }
}

/** The records of a mock org, as another user of the org changes them. */
class RealOrg {
  #isReachable = true;

  constructor(line) {
    this.line = line;
    this.base = `/services/data/v${line.apiVersion}`;
  }

  async logIn(state) {
    const { instanceUrl, accessToken, refreshToken, clientId, redirectUri } = this.line;
    const login = ["--url", instanceUrl, "--access-token", accessToken, "--refresh-token", refreshToken];
    const app = ["--client-id", clientId, "--redirect-uri", redirectUri];
    const program = await Program.start(["login", ...login, ...app, ...state, "--json"]);
    await program.ended;
  }

  async create(type, fields) {
    return (await this.#sendAsOther("POST", `/sobjects/${type}`, fields)).id;
  }

  update(type, id, fields) {
    return this.#sendAsOther("PATCH", `/sobjects/${type}/${id}`, fields);
  }

  delete(type, id) {
    return this.#sendAsOther("DELETE", `/sobjects/${type}/${id}`);
  }

  query(soql) {
    return this.#sendAsOther("GET", `/query?q=${encodeURIComponent(soql)}`);
  }

  /** Whether requests reach the org. */
  async setReachable(isReachable) {
    this.#isReachable = isReachable;
    await this.#send("DELETE", "/mock-org/faults");
    if (!isReachable) await this.#send("POST", "/mock-org/faults", { path: "/services/", drop: "before", count: null });
  }

  // What another user does comes a second later than what was before, and reaches the org also while this device does not.
  async #sendAsOther(method, resource, body) {
    await this.#send("POST", "/mock-org/clock", { advanceSeconds: 1 });
    const isReachable = this.#isReachable;
    if (!isReachable) await this.setReachable(true);
    const response = await this.#send(method, this.base + resource, body);
    if (!isReachable) await this.setReachable(false);
    return response;
  }

  async #send(method, address, body) {
    const headers = { Authorization: `Bearer ${this.line.accessToken}`, "Content-Type": "application/json" };
    const response = await fetch(this.line.instanceUrl + address, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}
