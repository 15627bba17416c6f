// A page without a browser: the part of the DOM that the scripts of this folder touch, in a realm of its own.
import { readFile } from "node:fs/promises";
import vm from "node:vm";
import { NodeWebSocket } from "../../plugins/fieldforce/node/websocket.js";

class PageEvent extends Event {
  constructor(type, { detail, ...options } = {}) {
    super(type, options);
    this.detail = detail;
  }
}

class Page {
  errors = [];
  messages = [];
  sockets = [];
  #scripts = [];

  constructor(url, { cookies } = {}) {
    this.url = url;
    const page = this;
    const windowEvents = new EventTarget();
    this.document = Object.assign(new EventTarget(), {
      baseURI: url,
      readyState: "loading",
      visibilityState: "visible",
      currentScript: null,
      head: { appendChild: (script) => this.#inject(script) },
      createElement: (name) => ({ name, src: "", set textContent(text) { this.text = text; } }),
      getElementsByTagName: () => this.#scripts,
      getElementById: () => null,
      write: (html) => this.#written.push(html),
    });
    class WebSocket extends NodeWebSocket {
      constructor(address) {
        super(address);
        page.sockets.push(this);
      }
    }
    const log = (level) => (...values) => this.messages.push(`${level}: ${values.join(" ")}`);
    this.window = vm.createContext({
      document: this.document,
      location: { ...locationOf(url), reload: () => (this.reloads = (this.reloads || 0) + 1) },
      console: { log: log("log"), error: log("error"), warn: log("warn"), info: log("info"), debug: log("debug"), time() {}, timeEnd() {} },
      addEventListener: (...args) => windowEvents.addEventListener(...args),
      removeEventListener: (...args) => windowEvents.removeEventListener(...args),
      dispatchEvent: (event) => windowEvents.dispatchEvent(event),
      setTimeout: (func, delay) => {
        const timer = setTimeout(() => this.#guard(func), delay);
        // The reminder of five seconds must not keep a test running.
        if (delay >= 1000) timer.unref();
        return timer;
      },
      clearTimeout,
      queueMicrotask: (func) => queueMicrotask(() => this.#guard(func)),
      WebSocket,
      Event: PageEvent,
      CustomEvent: PageEvent,
      URL,
      TextEncoder,
      TextDecoder,
      btoa,
      atob,
      crypto: { getRandomValues: (array) => array.map((_, index) => index + 1) },
      sessionStorage: cookies,
    });
    this.window.window = this.window;
    // As in browsers: an accessor without a setter.
    const navigator = { onLine: true, userAgent: "SalesforceMobileSDK/14.0.0 test" };
    Object.defineProperty(this.window, "navigator", { get: () => navigator, configurable: true });
  }

  #written = [];

  #guard(func) {
    try {
      func();
    } catch (error) {
      this.errors.push(error);
    }
  }

  /** Runs a script of the page: an address, relative to the page, or a file of this repository. */
  async script(address) {
    const src = new URL(address, this.url).href;
    const text = src.startsWith("file:") ? await readFile(new URL(src), "utf8") : await fetchText(src);
    this.run(text, src);
    for (const html of this.#written.splice(0)) await this.#parse(html);
    return this;
  }

  run(text, src = this.url) {
    const script = { src };
    this.#scripts.push(script);
    this.document.currentScript = script;
    try {
      return vm.runInContext(text, this.window, { filename: src });
    } finally {
      this.document.currentScript = null;
    }
  }

  async #parse(html) {
    for (const [, src, text] of html.matchAll(/<script(?: src="([^"]*)")?>([\s\S]*?)<\/script>/g)) {
      if (src) await this.script(src);
      else this.run(text);
    }
  }

  async #inject(script) {
    this.#scripts.push(script);
    try {
      const text = await fetchText(script.src);
      this.document.currentScript = script;
      this.#guard(() => vm.runInContext(text, this.window, { filename: script.src }));
      this.document.currentScript = null;
      script.onload?.();
    } catch (error) {
      script.onerror?.(error);
    }
  }

  /** Ends the parsing of the page. */
  finish() {
    this.document.readyState = "interactive";
    this.document.dispatchEvent(new PageEvent("DOMContentLoaded"));
    this.document.readyState = "complete";
    this.window.dispatchEvent(new PageEvent("load"));
    return this;
  }

  deviceReady() {
    return new Promise((resolve) => this.document.addEventListener("deviceready", resolve, false));
  }

  /** As when the user goes to another page. */
  unload() {
    for (const socket of this.sockets) socket.close();
  }
}

function locationOf(url) {
  const { href, protocol, host, hostname, pathname, origin } = new URL(url);
  return { href, protocol, host, hostname, pathname, origin };
}

async function fetchText(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.text();
}

/** Runs `scripts`, one after the other, then ends the parsing. */
export async function openPage(url, scripts, options) {
  const page = new Page(url, options);
  for (const script of scripts) await page.script(script);
  return page.finish();
}

export { Page };

/** A value of another realm as one of this realm, for comparisons. */
export const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
