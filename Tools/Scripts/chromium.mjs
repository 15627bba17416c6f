// Headless Chromium over the DevTools protocol, for all tests that drive a page. It needs no packages.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const NAMES = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);

/** The program, or null where there is none. */
export const chromium = NAMES.find((name) => spawnSync(name, ["--version"]).status === 0) || null;

/** Keys that type no character: their name and code number. */
const KEYS = {
  Tab: 9, Enter: 13, Escape: 27, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39,
  ArrowDown: 40, Delete: 46,
};
const MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

export class Browser {
  #nextId = 1;
  #pending = new Map();
  #listeners = new Map();
  #unread = "";
  /** The uncaught errors of the page. */
  errors = [];
  /** What the page and the browser itself wrote to the console as an error, such as refused content. */
  complaints = [];

  static async start() {
    const browser = new Browser();
    browser.folder = await mkdtemp(path.join(tmpdir(), "chromium-"));
    // Chromium reads from descriptor 3 and writes to 4.
    browser.process = spawn(chromium, [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
      "--disable-background-networking", "--force-color-profile=srgb", "--hide-scrollbars",
      `--user-data-dir=${browser.folder}`, "--remote-debugging-pipe", "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.process.once("exit", (code) => browser.#end(new Error(`Chromium ended with ${code}.`)));
    browser.process.stdio[3].on("error", (error) => browser.#end(error));
    browser.process.stdio[4].setEncoding("utf8").on("data", (part) => browser.#read(part));
    browser.on("Runtime.exceptionThrown", ({ exceptionDetails: { text, exception } }) =>
      browser.errors.push(exception?.description || text));
    browser.on("Log.entryAdded", ({ entry }) => entry.level === "error" && browser.complaints.push(entry.text));
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    browser.session = (await browser.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Runtime", "Page", "Log"]) await browser.send(`${domain}.enable`);
    return browser;
  }

  #read(part) {
    const messages = (this.#unread + part).split("\0");
    this.#unread = messages.pop();
    for (const text of messages) {
      const message = JSON.parse(text);
      for (const listener of this.#listeners.get(message.method) || []) listener(message.params);
      const waiting = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (!waiting) continue;
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    }
  }

  #end(error) {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  /** Calls `listener` with the parameters of each event of this name. */
  on(event, listener) {
    this.#listeners.set(event, [...(this.#listeners.get(event) || []), listener]);
  }

  send(method, params = {}) {
    const id = this.#nextId++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, ...(this.session ? { sessionId: this.session } : {}) }) + "\0");
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

  /** Waits until an expression is true, and returns its value. An error counts as false: the page may be on its way there. */
  async waitFor(expression, seconds = 20) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      let problem = "";
      const value = await this.evaluate(expression).catch((error) => void (problem = ` (${error.message.split("\n")[0]})`));
      if (value) return value;
      if (Date.now() > end) {
        const text = await this.evaluate("document.title + ': ' + document.body?.innerText.slice(0, 2000)");
        throw new Error(`The page never had ${expression}${problem}. It shows ${text}`);
      }
      await new Promise((done) => setTimeout(done, 15));
    }
  }

  /** The size of the window in pixels, and what the user prefers: "light" or "dark", "no-preference" or "reduce". */
  async emulate({ width, height, scheme = "light", motion = "reduce", contrast = "no-preference", scale = 1 }) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
    await this.send("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: motion },
        { name: "prefers-contrast", value: contrast },
      ],
    });
  }

  /** Presses keys one after the other: "Enter", "Shift+Tab", "j". */
  async press(...keys) {
    for (const text of keys) {
      const names = text === "+" ? ["+"] : text.split("+");
      const key = names.pop();
      const modifiers = names.reduce((sum, name) => sum | MODIFIERS[name], 0);
      const code = KEYS[key] || key.toUpperCase().charCodeAt(0);
      const typed = KEYS[key] ? (key === "Enter" ? "\r" : undefined) : key;
      const event = { key, modifiers, windowsVirtualKeyCode: code, ...(KEYS[key] ? { code: key } : {}) };
      await this.send("Input.dispatchKeyEvent", { ...event, type: typed && !(modifiers & 6) ? "keyDown" : "rawKeyDown", text: typed });
      await this.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
    }
  }

  /** Types a text into the element that has the focus. */
  async type(text) {
    await this.send("Input.insertText", { text });
  }

  /** Writes what the window shows to a file: a PNG, or a WebP of the given quality. */
  async screenshot(file, quality) {
    const form = quality ? { format: "webp", quality } : { format: "png" };
    const { data } = await this.send("Page.captureScreenshot", form);
    await writeFile(file, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
