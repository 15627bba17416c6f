// Starts fieldforce-window and mock orgs, and looks at what the window shows.
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const { FIELDFORCE_TOOL: tool, FIELDFORCE_WINDOW: program, WINDOW_SCREENSHOTS: screenshots } = process.env;
const PATIENCE_MS = 30_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

class Program {
  errors = "";

  constructor(command, args, options = {}) {
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
    this.process.stdin.on("error", () => {});
    this.ended = new Promise((resolve) => this.process.once("exit", (code, signal) => resolve(code ?? signal)));
    this.process.stderr.on("data", (text) => (this.errors += text));
    this.lines = createInterface({ input: this.process.stdout });
  }

  /** The next line of output. */
  async line() {
    const line = new Promise((resolve) => this.lines.once("line", resolve));
    const text = await Promise.race([line, this.ended.then(() => null)]);
    if (text === null) throw new Error(`The program ended: ${this.errors}`);
    return text;
  }

  /** The part of the messages that a pattern captures, once there is one. */
  async said(pattern) {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause()) {
      const found = pattern.exec(this.errors);
      if (found) return found[1];
    }
    throw new Error(`The program never said ${pattern}: ${this.errors}`);
  }

  end() {
    this.process.kill("SIGTERM");
    return this.ended;
  }
}

/** A mock org and a state folder, with what a test needs to start windows on them. */
export class Stage {
  #programs = [];

  static async start(t, { port = 0, loggedIn = true, org = [] } = {}) {
    const stage = new Stage();
    stage.folder = await mkdtemp(path.join(tmpdir(), "window-"));
    stage.state = path.join(stage.folder, "state");
    t.after(() => stage.#close());
    await stage.serveOrg(port, org);
    if (loggedIn) {
      const { instanceUrl, accessToken, refreshToken, clientId, redirectUri } = stage.line;
      const args = ["login", "--url", instanceUrl, "--access-token", accessToken, "--refresh-token", refreshToken];
      const login = new Program(tool, [...args, "--client-id", clientId, "--redirect-uri", redirectUri, "--state", stage.state, "--json"]);
      if ((await login.ended) !== 0) throw new Error(login.errors);
    }
    // What the window opens outside goes into a file instead of a browser.
    const bin = path.join(stage.folder, "bin");
    await mkdir(bin);
    await writeFile(path.join(bin, "xdg-open"), `#!/bin/sh\ncp "$1" "${stage.folder}/outside-$$" 2>/dev/null || echo "$1" > "${stage.folder}/outside-$$"\n`);
    await chmod(path.join(bin, "xdg-open"), 0o755);
    stage.environment = { ...process.env, PATH: `${bin}:${process.env.PATH}`, WEBKIT_DISABLE_COMPOSITING_MODE: "1", HOME: stage.folder };
    return stage;
  }

  async serveOrg(port, options = []) {
    this.orgProgram = new Program(tool, ["org", "serve", "--port", String(port), "--generate", "Account=5", "--generate", "Contact=4", ...options]);
    this.#programs.push(this.orgProgram);
    this.line = JSON.parse(await this.orgProgram.line());
  }

  /** A www folder with these files. */
  async www(files) {
    const folder = await mkdtemp(path.join(this.folder, "www-"));
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
    return folder;
  }

  /** The www folder of an app whose pages are on the server. */
  remoteApp(members = {}) {
    const boot = {
      remoteAccessConsumerKey: this.line.clientId, oauthRedirectURI: "http://localhost:0/done", oauthScopes: ["api", "web"],
      isLocal: false, startPage: "apex/BasicVFTest", shouldAuthenticate: true, attemptOfflineLoad: true, ...members,
    };
    return this.www({ "bootconfig.json": JSON.stringify(boot) });
  }

  window(www, ...options) {
    const args = [www, "--state", this.state, "--login-url", this.line.url, "--fieldforce", tool, "--size", "900x640", "--drive", ...options];
    const window = new AppWindow(new Program(program, args, { env: this.environment }));
    this.#programs.push(window);
    return window;
  }

  async request(method, address, body) {
    const headers = { Authorization: `Bearer ${this.line.accessToken}`, "Content-Type": "application/json" };
    const response = await fetch(this.line.url + address, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${await response.text()}`);
  }

  /** What was opened outside of the window, once there is something. */
  async outside() {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause()) {
      const names = (await readdir(this.folder)).filter((name) => name.startsWith("outside-"));
      const texts = await Promise.all(names.map((name) => readFile(path.join(this.folder, name), "utf8")));
      if (texts.some((text) => text !== "")) return texts.join("\n");
    }
    throw new Error("Nothing was opened outside of the window.");
  }

  async #close() {
    for (const one of this.#programs.reverse()) await one.end().catch(() => {});
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class AppWindow {
  #waiting = new Map();
  #lastId = 0;

  constructor(program) {
    this.program = program;
    program.lines.on("line", (line) => {
      const { id, value, error } = JSON.parse(line);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    });
    program.ended.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`The window ended: ${program.errors}`));
    });
  }

  #command(command) {
    const id = ++this.#lastId;
    const result = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.program.process.stdin.write(JSON.stringify({ id, ...command }) + "\n");
    return result;
  }

  /** The result of the body of an async function in the page. */
  run(body) {
    return this.#command({ evaluate: body });
  }

  /** Waits until an expression is true in the page, and returns its value. */
  async waitFor(expression) {
    let problem = "";
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause()) {
      if (this.program.process.exitCode !== null) break;
      const value = await this.run(`return ${expression}`).catch((error) => void (problem = error.message));
      if (value) return value;
    }
    const text = await this.run("return location.href + '\\n' + document.body.innerText").catch((error) => error.message);
    throw new Error(`The page never had ${expression}. ${problem}\n${text}\n${this.program.errors}`);
  }

  sees(text) {
    return this.waitFor(`document.body && document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /** Writes a picture into the folder that WINDOW_SCREENSHOTS names; without it, into none. */
  async picture(name) {
    if (!screenshots) return;
    await mkdir(screenshots, { recursive: true });
    // What was just changed is painted with the next frames.
    await this.run("await new Promise((done) => setTimeout(done, 300))");
    await this.#command({ picture: path.join(screenshots, `${name}.png`) });
  }

  /** Closes the window as the end of its commands does; its status. */
  async end() {
    this.program.process.stdin.end();
    const fuse = setTimeout(() => this.program.process.kill("SIGKILL"), 15_000);
    const status = await this.program.ended;
    clearTimeout(fuse);
    if (status !== 0) throw new Error(`The window ended with ${status}: ${this.program.errors}`);
    return status;
  }
}
