// Starts the page: takes the token, reads what there is, and shows the page that the address names.
import { Api, takeToken } from "./data/api.js";
import { plainText } from "./data/marks.js";
import { LiveStream } from "./data/stream.js";
import { fill, field, h } from "./parts/dom.js";
import { announce, errorNotice } from "./parts/notice.js";
import { applyTheme } from "./parts/shell.js";
import { listenForKeys } from "./parts/shortcuts.js";
import "./pages/accounts.js";
import "./pages/conflicts.js";
import "./pages/console.js";
import "./pages/developer.js";
import "./pages/files.js";
import "./pages/happenings.js";
import "./pages/keyvalues.js";
import "./pages/soup.js";
import "./pages/soups.js";
import "./pages/stores.js";
import "./pages/syncs.js";
import "./pages/unsynced.js";

const SUITE = "Fieldforce Inspector";
const CURRENT = "fieldforce.store";

// Addresses: a page of the app, or of a store. Names of parameters stand in their places.
const ROUTES = [
  ["stores", "ff-page-stores"], ["accounts", "ff-page-accounts"], ["keyvalues", "ff-page-keyvalues"], ["keyvalues/:keyStore", "ff-page-keyvalues"],
  ["keyvalues/:keyStore/:key", "ff-page-keyvalues"], ["requests", "ff-page-requests"], ["logs", "ff-page-logs"], ["events", "ff-page-events"],
  ["developer", "ff-page-developer"], ["store/:store/soups", "ff-page-soups"], ["store/:store/soup/:soup", "ff-page-soup"],
  ["store/:store/soup/:soup/:entry", "ff-page-soup"], ["store/:store/console", "ff-page-console"], ["store/:store/syncs", "ff-page-syncs"],
  ["store/:store/syncs/:sync", "ff-page-sync"], ["store/:store/conflicts", "ff-page-conflicts"], ["store/:store/unsynced", "ff-page-unsynced"],
  ["store/:store/files", "ff-page-files"],
].map(([pattern, element]) => ({ parts: pattern.split("/"), element }));

/** The route of an address; null if there is none. */
function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const segments = path.split("/").filter(Boolean);
  const fits = (part, segment) => (part.startsWith(":") ? /^[A-Za-z0-9_-]+$/.test(segment) : part === segment);
  const route = ROUTES.find(({ parts }) => parts.length === segments.length && parts.every((part, index) => fits(part, segments[index])));
  if (!route) return null;
  const parameters = {};
  route.parts.forEach((part, index) => part.startsWith(":") && (parameters[part.slice(1)] = segments[index]));
  // The name in the navigation.
  const section = { soup: "soups" }[route.parts[2]] ?? (route.parts[0] === "store" ? route.parts[2] : route.parts[0]);
  return { ...route, parameters, section, query: new URLSearchParams(query) };
}

class App {
  #generation = 0;
  #shown = null;
  status = null;
  stores = [];

  constructor(api) {
    this.api = api;
    this.live = new LiveStream(api);
    this.shell = document.querySelector("ff-shell");
  }

  async start() {
    this.api.onrefused = () => askForToken("The token of this page is not valid any more: the inspector was started again, or has ended.");
    this.live.addEventListener("state", ({ detail }) => this.shell.setLive(detail));
    // Without a connection the next page says so.
    this.live.addEventListener("store", () => this.refreshStores().catch(() => {}));
    addEventListener("hashchange", () => (location.hash.startsWith("#token=") ? location.reload() : this.show()));
    listenForKeys({ go: (target) => this.go(target), reload: () => this.show({ isReload: true }) });
    this.live.start();
    await this.show();
  }

  go(target) {
    const store = this.currentStore();
    if (target.startsWith("/")) location.hash = `#${target}`;
    else if (store) location.hash = `#/store/${store.id}/${target}`;
  }

  currentStore(id = sessionStorage.getItem(CURRENT)) {
    return this.stores.find((one) => one.id === id) ?? this.stores.find(({ owner, status }) => owner && owner === this.status?.currentAccount && status === "open") ?? this.stores[0];
  }

  /** Reads the stores again: numbers in the navigation, states in the list. */
  async refreshStores() {
    [this.status, { stores: this.stores }] = await Promise.all([this.status ?? this.api.get("status"), this.api.get("stores")]);
    this.#frame();
  }

  #frame() {
    const route = routeOf(location.hash);
    this.shell.update({ status: this.status, stores: this.stores, store: this.currentStore(route?.parameters.store), page: route?.section });
  }

  /** Shows the page of the address. An element that is shown already may follow a change of its own part of the address. */
  async show({ isReload = false } = {}) {
    const generation = ++this.#generation;
    const { main } = this.shell;
    try {
      if (isReload || !this.stores.length) {
        this.status = null;
        await this.refreshStores();
      }
    } catch (error) {
      if (error.status !== 403) fill(main, h("h1", { tabindex: "-1" }, "Not connected"), errorNotice(error, () => this.show({ isReload: true })));
      return;
    }
    if (generation !== this.#generation) return;
    const route = routeOf(location.hash);
    const { store: id } = route?.parameters ?? {};
    // A store that does not exist is not another one.
    if (!route || (id && !this.stores.some((one) => one.id === id))) {
      const store = this.currentStore();
      location.replace(!route && store?.status === "open" ? `#/store/${store.id}/soups` : "#/stores");
      return;
    }
    if (id) sessionStorage.setItem(CURRENT, id);
    this.#frame();
    const context = { api: this.api, live: this.live, app: this, store: this.currentStore(id), parameters: route.parameters, query: route.query };
    if (!isReload && this.#shown?.localName === route.element && this.#shown.follow?.(context)) return;
    const isFirst = this.#shown === null;
    this.#shown = document.createElement(route.element);
    fill(main, this.#shown);
    main.scrollTop = 0;
    await this.#shown.show(context);
    if (generation !== this.#generation) return;
    const heading = main.querySelector("h1");
    document.title = `${plainText(heading?.textContent ?? "", 80)} – ${SUITE}`;
    // The reader begins at the new page, except on the first.
    if (!isFirst && !main.contains(document.activeElement)) heading?.focus({ preventScroll: true });
  }
}

/** The page without a token: nothing but the way to get one. */
function askForToken(reason) {
  const { main } = document.querySelector("ff-shell");
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", required: true });
  const form = h("form.narrow", {
    onsubmit: (event) => {
      event.preventDefault();
      const token = /(?:token=)?([A-Za-z0-9_-]{16,128})$/.exec(input.value.trim())?.[1];
      if (!token) return announce("That is no token.", { isShown: true });
      location.hash = `#token=${token}`;
      location.reload();
    },
  }, field("Token, or the whole address", input), h("div.buttons", h("button.primary", { type: "submit" }, "Open")));
  fill(main, h("h1", { tabindex: "-1" }, "No access"),
    h("div.notice.warn", { role: "alert" }, h("strong", reason), h("p", "Open the address that ", h("code", "fieldforce inspect"), " or the app printed. Its last part, ", h("code", "#token=…"), ", gives access to the data.")),
    form);
  document.title = `No access – ${SUITE}`;
}

applyTheme();
const token = takeToken(location, history, sessionStorage);
if (token) await new App(new Api(token)).start();
else askForToken("This page was opened without its token.");
