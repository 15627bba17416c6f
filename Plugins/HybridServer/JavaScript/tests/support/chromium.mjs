// Headless Chromium over the DevTools protocol.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { NodeWebSocket } from "../../plugins/fieldforce/node/websocket.js";

const NAMES = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);

/** The program, or null where there is none. */
export const chromium = NAMES.find((name) => spawnSync(name, ["--version"]).status === 0) || null;

export class Browser {
  #nextId = 1;
  #pending = new Map();
  errors = [];

  static async start() {
    const browser = new Browser();
    browser.folder = await mkdtemp(path.join(tmpdir(), "chromium-"));
    browser.process = spawn(chromium, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
      "--disable-background-networking", `--user-data-dir=${browser.folder}`, "--remote-debugging-port=0", "about:blank",
    ], { stdio: ["ignore", "ignore", "pipe"] });
    const lines = createInterface({ input: browser.process.stderr });
    const address = await new Promise((resolve, reject) => {
      lines.on("line", (line) => {
        const found = /DevTools listening on (ws:\S+)/.exec(line);
        if (found) resolve(found[1]);
      });
      browser.process.once("exit", (code) => reject(new Error(`Chromium ended with ${code}.`)));
    });
    await browser.#connect(address);
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    browser.session = (await browser.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await browser.send("Runtime.enable");
    await browser.send("Page.enable");
    return browser;
  }

  #connect(address) {
    return new Promise((resolve, reject) => {
      this.socket = new NodeWebSocket(address);
      this.socket.onopen = resolve;
      this.socket.onclose = ({ reason }) => reject(new Error(reason));
      this.socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.method === "Runtime.exceptionThrown") {
          const { text, exception } = message.params.exceptionDetails;
          this.errors.push(exception?.description || text);
        }
        const waiting = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (!waiting) return;
        if (message.error) waiting.reject(new Error(message.error.message));
        else waiting.resolve(message.result);
      };
    });
  }

  send(method, params = {}) {
    const id = this.#nextId++;
    this.socket.send(JSON.stringify({ id, method, params, ...(this.session ? { sessionId: this.session } : {}) }));
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  async open(url) {
    await this.send("Page.navigate", { url });
    await this.evaluate("new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))");
  }

  /** The value of an expression in the page; of its promise, if it is one. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.socket.onclose = null;
    this.socket.close();
    this.process.kill("SIGTERM");
    await ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
