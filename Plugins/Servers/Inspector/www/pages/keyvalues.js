// Key-value stores, their keys, and a value.
import { ApiError, segment } from "../data/api.js";
import { ExactObject, parseExact } from "../data/exact.js";
import { bytes, count, counted } from "../data/format.js";
import { CursorRun } from "../data/run.js";
import { debounce, field, fill, h } from "../parts/dom.js";
import { jsonTree } from "../parts/json-tree.js";
import { announce, documentNotice, errorNotice } from "../parts/notice.js";
import { empty, Page } from "../parts/page.js";
import { table } from "../parts/table.js";
import { visible } from "../parts/text.js";

const PART = 16_384;

class KeyValuesPage extends Page {
  static title = "Key-value stores";

  async load({ api, parameters }) {
    const { stores } = await api.get("keyvalues", {}, this.signal);
    this.stores = stores;
    const store = stores.find(({ id }) => id === parameters.keyStore);
    if (!store) return this.#list();
    const search = h("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: debounce(() => this.#load({ search: search.value }), 200) });
    this.pane = h("aside.pane", { hidden: true, "aria-label": "Value" });
    this.problem = h("div");
    this.grid = table({
      label: `Keys of ${store.name}`, emptyText: "No key matches", onopen: ({ id }) => (location.hash = `#/keyvalues/${store.id}/${id}`),
      columns: [{ label: "Key", class: "data", cell: ({ key }) => visible(key, { length: 200 }) }, { label: "Size", width: 10, align: "end", cell: (row) => bytes(row.bytes) }],
    });
    this.run = new CursorRun(this.grid, async (query, signal) => {
      const { keys, ...rest } = await api.get(`keyvalues/${segment(store.id)}/keys`, query, signal);
      return { rows: keys, ...rest };
    });
    fill(this, this.heading(visible(store.name, { length: 100 }), h("span.quiet", counted(store.count, "key")), h("a", { href: "#/keyvalues" }, "All key-value stores")),
      h("div.tools", { role: "search" }, field("Search keys", search)), this.problem, h("div.split", h("div.list", this.grid), this.pane));
    await this.#load({});
    if (parameters.key) await this.#show(parameters.key);
    return undefined;
  }

  follow(context) {
    if (!this.grid || context.parameters.keyStore !== this.context.parameters.keyStore) return false;
    this.context = context;
    this.#show(context.parameters.key);
    return true;
  }

  #list() {
    fill(this, this.heading("Key-value stores", h("span.quiet", counted(this.stores.length, "store"))),
      this.stores.length ? h("div.cards", this.stores.map((store) => h("section.card", h("header", h("h2", h("a", { href: `#/keyvalues/${store.id}` }, visible(store.name, { length: 100 })))),
        h("p.quiet", store.owner === null ? "Belongs to the app" : "Belongs to an account", `, version ${store.storeVersion}`),
        h("p", store.count === null ? "Its keys cannot be listed" : counted(store.count, "key")), store.error ? documentNotice("bad", store.error) : null))) : empty("There is no key-value store."));
  }

  async #load(query) {
    fill(this.problem);
    try {
      await this.run.open({ limit: 100, ...query });
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof ApiError)) throw error;
      fill(this.problem, errorNotice(error));
    }
  }

  async #show(key) {
    this.pane.hidden = !key;
    if (!key) return this.grid.focus();
    const { api, parameters } = this.context;
    const path = `keyvalues/${segment(parameters.keyStore)}/keys/${segment(key)}`;
    const close = h("button.icon", { type: "button", "data-close": true, "aria-label": "Close the value", title: "Close (Esc)", onclick: () => (location.hash = `#/keyvalues/${parameters.keyStore}`) }, "×");
    const title = h("h2", { tabindex: "-1" }, "Value");
    try {
      const value = await api.get(path, { from: 0, length: PART }, this.signal);
      fill(title, visible(value.key, { length: 100 }));
      fill(this.pane, h("header.pane-head", title, h("span.quiet", `${bytes(value.bytes)}, ${value.form}`), h("span.stretch"), close), this.#value(value, path));
      announce("The value is shown.");
    } catch (error) {
      if (error.name !== "AbortError") fill(this.pane, h("header.pane-head", title, close), errorNotice(error));
    }
    return undefined;
  }

  #value(value, path) {
    const isText = value.form === "text";
    const shown = h(`pre.long${isText ? "" : ".hex"}`, { tabindex: "0", "aria-label": "Value" });
    let from = 0;
    const add = (part) => {
      shown.append(isText ? visible(part.content, { length: Infinity, lines: true }) : hexDump(part.content, from));
      from += part.length;
    };
    add(value);
    const isWhole = isText ? value.bytes === new TextEncoder().encode(value.content).length : value.length >= value.bytes;
    if (isWhole && isText && /^\s*[[{]/.test(value.content)) {
      try {
        const json = parseExact(value.content);
        if (json instanceof ExactObject || Array.isArray(json)) return [jsonTree(json, { label: "Value" }), h("details", h("summary", "As text"), shown)];
      } catch {
        // Text, then.
      }
    }
    if (isWhole) return value.bytes ? shown : h("p.quiet", "The value is empty.");
    const more = h("button", { type: "button", onclick: async () => {
      const part = await this.context.api.get(path, { from, length: PART }, this.signal);
      add(part);
      more.hidden = part.length < PART;
    } }, `Show more of ${count(value.bytes)} bytes`);
    return [shown, more];
  }
}

/** Bytes in lines of 16: offset, hexadecimal, what is printable. */
export function hexDump(content, from) {
  const lines = [];
  for (let index = 0; index < content.length; index += 32) {
    const pairs = content.slice(index, index + 32).match(/../g);
    const letters = pairs.map((pair) => (parseInt(pair, 16) >= 0x20 && parseInt(pair, 16) < 0x7f ? String.fromCharCode(parseInt(pair, 16)) : "·")).join("");
    lines.push(`${(from + index / 2).toString(16).padStart(8, "0")}  ${pairs.join(" ").padEnd(47)}  ${letters}\n`);
  }
  return lines.join("");
}

customElements.define("ff-page-keyvalues", KeyValuesPage);
