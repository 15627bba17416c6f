// The entries of a soup, and one of them next to the table.
import { paths } from "../data/api.js";
import { plain } from "../data/exact.js";
import { bytes, count, counted, milliseconds, time } from "../data/format.js";
import { CursorRun } from "../data/run.js";
import { debounce, field, fill, h, select } from "../parts/dom.js";
import { showEntry, stateBadge } from "../parts/entry-view.js";
import { announce, errorNotice } from "../parts/notice.js";
import { badge, Page } from "../parts/page.js";
import { table } from "../parts/table.js";
import { visible } from "../parts/text.js";
import { valueElement } from "../parts/value.js";

const FLAGS = new Set(["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__", "__sync_id__"]);
const MATCHES = [["contains", "contains"], ["prefix", "begins with"], ["exact", "is"]];
const STATES = [["", "All entries"], ["unsynced", "Unsynced"], ["created", "Created locally"], ["updated", "Updated locally"], ["deleted", "Deleted locally"], ["conflict", "In conflict"]];

class SoupPage extends Page {
  static title = "Soup";
  #view = { order: "_soupEntryId", direction: "ascending", search: "", path: "", match: "contains", state: "" };

  async load({ api, store, parameters, query, live }) {
    const { soups: [soup] } = await api.get(paths.soups(store.id), { soup: parameters.soup }, this.signal);
    this.soup = soup;
    this.#view.state = query.get("state") ?? "";
    this.columns = soup.indexes.map(({ path }) => path).filter((path) => !FLAGS.has(path)).slice(0, 8);
    this.table = table({
      label: `Entries of soup ${soup.name}`, emptyText: "No entry matches", onopen: (row) => this.#open(row.get("id")),
      onsort: (column) => this.#sort(column), classOf: (row) => (row.get("state") ? "local" : ""),
    });
    this.pane = h("aside.pane", { hidden: true, "aria-label": "Entry" });
    this.note = h("p.status", { role: "status" });
    this.problem = h("div");
    this.run = new CursorRun(this.table, (more, signal) => this.#fetch(more, signal));
    this.run.onprogress = (progress) => this.#say(progress);
    this.run.onerror = (error) => fill(this.problem, errorNotice(error, () => this.refresh()));
    fill(this,
      this.heading(visible(soup.name, { length: 100 }), h("span.quiet", counted(soup.count, "entry", "entries"), soup.bytes === null ? "" : `, ${bytes(soup.bytes)}`),
        soup.metadata ? badge("info", "metadata of sync") : null, h("span.stretch"),
        h("a.button", { href: `#/store/${store.id}/console?soup=${soup.id}` }, "Query in Smart SQL")),
      this.#tools(soup), this.problem, this.fresh = h("div"), h("div.split", h("div.list", this.table, this.note), this.pane));
    this.#setColumns();
    live.listen("change", this.signal, ({ store: changed, soups }) => {
      if (changed !== store.id || !soups.includes(soup.name)) return;
      fill(this.fresh, h("div.notice.info", h("strong", "Entries of this soup have changed."), h("button", { type: "button", onclick: () => this.refresh() }, "Show them")));
    });
    await this.refresh();
    if (parameters.entry) await this.#show(parameters.entry);
  }

  /** Another entry of the same soup. */
  follow(context) {
    if (!this.soup || context.parameters.store !== this.context.parameters.store || context.parameters.soup !== this.soup.id || context.query.size) return false;
    this.context = context;
    this.#show(context.parameters.entry);
    return true;
  }

  async refresh() {
    fill(this.fresh);
    await this.#load();
  }

  #indexes(soup) {
    return h("details.indexes", h("summary", counted(soup.indexes.length, "index", "indexes")),
      h("ul.tags", soup.indexes.map(({ path, type, columnName }) => h("li", { title: columnName }, visible(path, { length: 80 }), " ", h("span.quiet", type)))));
  }

  #tools(soup) {
    const { search, state } = this.#view;
    const text = h("input", { type: "search", value: search, autocomplete: "off", spellcheck: "false", placeholder: "Search", oninput: debounce(() => this.#change({ search: text.value }), 250) });
    const match = select(MATCHES.slice(0, 1), "contains", (value) => this.#change({ match: value }));
    const place = select([["", "whole entry"], ...soup.indexes.map(({ path }) => [path, path.slice(0, 60)])], "", (path) => {
      fill(match, MATCHES.slice(0, path ? 3 : 1).map(([value, words]) => h("option", { value }, words)));
      match.value = path ? "prefix" : "contains";
      this.#change({ path, match: match.value });
    });
    const only = select(STATES, state, (value) => this.#change({ state: value }));
    const from = h("input.short", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "value", onkeydown: (event) => event.key === "Enter" && this.#load({ from: from.value }) });
    const columns = h("input", { type: "text", value: this.columns.join(", "), spellcheck: "false", onchange: () => {
      this.columns = columns.value.split(",").map((path) => path.trim()).filter(Boolean).slice(0, 20);
      this.#setColumns();
      this.refresh();
    } });
    this.slider = h("input", {
      type: "range", min: "0", max: "1000", value: "0", "aria-label": "Position in the soup",
      oninput: debounce(() => this.#load({ at: Math.min(this.slider.value / 1000, 0.999999) }), 60),
    });
    this.fromLabel = h("span");
    return h("div.tools", { role: "search" },
      field("Search", text), field("in", place), field("Match", match), field("Show", only),
      h("div.field", h("label", { for: (from.id = "go-to") }, "Go to ", this.fromLabel), from),
      h("div.field", h("span.label", { "aria-hidden": "true" }, "Position"), this.slider),
      h("div.buttons", h("button", { type: "button", onclick: () => this.#load({ edge: "start" }) }, "First"), h("button", { type: "button", onclick: () => this.#load({ edge: "end" }) }, "Last")),
      this.#indexes(soup), h("details", h("summary", "Columns"), field("Paths, separated by commas", columns)));
  }

  #setColumns() {
    const { order, direction } = this.#view;
    const sorted = (path) => (order === path ? direction : undefined);
    const indexed = new Set(this.soup.indexes.map(({ path }) => path));
    fill(this.fromLabel, order === "_soupEntryId" ? "entry id" : visible(order, { length: 30 }));
    this.table.columns = [
      { label: "Entry id", path: "_soupEntryId", width: 12, align: "end", sort: true, sorted: sorted("_soupEntryId"), cell: (row) => String(row.get("id")) },
      { label: "State", width: 13, cell: (row) => (row.get("conflict") ? badge("warn", "conflict") : stateBadge(row.get("state"))) },
      ...this.columns.map((path, index) => ({
        label: visible(path, { length: 60 }), path, width: path === "Id" ? 20 : undefined, sort: indexed.has(path), sorted: sorted(path), class: "data",
        cell: (row) => valueElement(row.get("values")[index], { length: 100 }),
      })),
      { label: "Size", width: 9, align: "end", cell: (row) => bytes(row.get("bytes")) },
      { label: "Last modified", path: "_soupLastModifiedDate", width: 20, sort: true, sorted: sorted("_soupLastModifiedDate"), cell: (row) => time(Number(row.get("lastModified"))) },
    ];
  }

  #sort({ path }) {
    const isSame = this.#view.order === path;
    this.#view.direction = isSame && this.#view.direction === "ascending" ? "descending" : "ascending";
    this.#change({ order: path });
    announce(`Sorted by ${path}, ${this.#view.direction}.`);
  }

  #change(members) {
    Object.assign(this.#view, members);
    this.#setColumns();
    this.#load();
  }

  async #fetch(query, signal) {
    const started = performance.now();
    const { api, store } = this.context;
    const page = await api.exact(paths.entries(store.id, this.soup.id), query, signal);
    this.elapsed = performance.now() - started;
    return {
      rows: page.get("entries"), next: page.get("next"), previous: page.get("previous"), total: page.get("total"), scanned: page.get("scanned"),
      complete: page.get("complete"), cut: plain(page.get("cut")),
    };
  }

  async #load(start = {}) {
    const { search, path, match, ...view } = this.#view;
    // A beginning is found by its index, which is also the order then.
    const searched = search ? { search, path, match, ...(match !== "contains" && path ? { order: path } : {}) } : {};
    this.slider.disabled = Boolean(search || view.state || view.order !== "_soupEntryId");
    if (start.at === undefined) this.slider.value = start.edge === "end" ? "1000" : "0";
    const columns = this.columns.map((one) => one.replace(/[\\,]/g, "\\$&")).join(",");
    fill(this.problem);
    try {
      await this.run.open({ ...view, columns, limit: 100, ...searched, ...start });
    } catch (error) {
      if (error.name !== "AbortError") fill(this.problem, errorNotice(error, () => this.#load(start)));
    }
  }

  #say({ scanned, isSearching, total, rows }) {
    const first = rows[0]?.get("id");
    const ids = rows.length ? `, entry ids ${count(first)} to ${count(rows.at(-1).get("id"))}` : "";
    const stop = h("button.small", { type: "button", onclick: () => this.run.stop() }, "Stop");
    if (this.#view.search) {
      fill(this.note, isSearching ? [h("span.spinner", { "aria-hidden": "true" }), `Searched ${count(scanned)} of ${count(this.soup.count)}, ${count(rows.length)} found `, stop] : `${count(rows.length)} found, ${count(scanned)} entries read`);
    } else {
      fill(this.note, `${count(rows.length)}${total === null ? "" : ` of ${count(total)}`} loaded${ids}. Page in ${milliseconds(this.elapsed)}.`);
    }
  }

  #open(id) {
    const { store } = this.context;
    const address = `#/store/${store.id}/soup/${this.soup.id}/${id}`;
    if (location.hash === address) this.#show(id);
    else location.hash = address;
  }

  async #show(id) {
    const { api, store } = this.context;
    this.pane.hidden = !id;
    this.classList.toggle("has-pane", Boolean(id));
    this.table.selected = id ? this.table.rows.find((row) => String(row.get("id")) === String(id)) ?? null : null;
    if (!id) return this.table.focus();
    const isFromTable = this.contains(document.activeElement);
    const title = await showEntry(this.pane, {
      api, store, soup: this.soup, id, signal: this.signal, onclose: () => (location.hash = `#/store/${store.id}/soup/${this.soup.id}`),
      onchange: () => {
        this.refresh();
        this.context.app.refreshStores();
        this.#show(id);
      },
    });
    this.pane.scrollTop = 0;
    // In a narrow window the entry covers the table.
    if (isFromTable && getComputedStyle(this.pane).position === "fixed") title?.focus();
  }
}

customElements.define("ff-page-soup", SoupPage);
