// The Smart SQL console: a statement with completions and a history, its rows, its time and its plan in words.
import { paths } from "../data/api.js";
import { parseExact } from "../data/exact.js";
import { explain, summary } from "../data/explain.js";
import { count, counted, milliseconds } from "../data/format.js";
import { debounce, field, fill, h, select, uniqueId } from "../parts/dom.js";
import { announce, errorNotice, notice } from "../parts/notice.js";
import { empty, Page } from "../parts/page.js";
import { table } from "../parts/table.js";
import { visible } from "../parts/text.js";
import { valueElement } from "../parts/value.js";

const MOST = 100;
const LONGEST = 20_000;

/** The statements that ran in this tab, by store, the newest first. They are not kept longer: they hold values. */
class History {
  #key;
  constructor(store) {
    this.#key = `fieldforce.history.${store}`;
  }
  get all() {
    return JSON.parse(sessionStorage.getItem(this.#key) ?? "[]");
  }
  add(text) {
    // A statement of this length was generated, and a tab keeps 5 MB.
    if (text.length > LONGEST) return;
    sessionStorage.setItem(this.#key, JSON.stringify([text, ...this.all.filter((one) => one !== text)].slice(0, MOST)));
  }
}

class ConsolePage extends Page {
  static title = "Smart SQL";
  #page = 0;
  #abort = null;

  async load({ api, store, query }) {
    const [{ soups }, { words }] = await Promise.all([api.get(paths.soups(store.id), {}, this.signal), api.get(`${paths.store(store.id)}/words`, {}, this.signal)]);
    Object.assign(this, { soups, words, history: new History(store.id) });
    const named = soups.find(({ id }) => id === query.get("soup")) ?? soups.find(({ metadata }) => !metadata);
    const sample = named ? `SELECT {${named.name}:_soupEntryId}, {${named.name}:_soup} FROM {${named.name}} LIMIT 20` : "";
    const list = uniqueId("words");
    this.editor = h("textarea.code", {
      rows: "5", spellcheck: "false", autocomplete: "off", autocapitalize: "off", value: query.has("soup") ? sample : this.history.all[0] ?? sample,
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list, onkeydown: (event) => this.#key(event), oninput: debounce(() => this.#complete(), 60),
      onblur: () => setTimeout(() => document.activeElement !== this.editor && this.#close(), 150),
    });
    this.choices = h("ul.choices", { role: "listbox", id: list, "aria-label": "Completions", hidden: true });
    this.args = h("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: '"Berlin", 12, null' });
    this.size = select([[20, "20"], [100, "100"], [500, "500"]], 100, () => {});
    this.go = h("button.primary", { type: "button", onclick: () => this.#run(0) }, "Run");
    this.stop = h("button", { type: "button", hidden: true, onclick: () => this.#abort?.abort() }, "Stop");
    this.result = h("section", { "aria-label": "Result" });
    this.recent = h("details.history", { open: false });
    fill(this, this.heading("Smart SQL", h("span.quiet", "SELECT only; nothing is changed")),
      soups.length ? null : empty("This store has no soups to query."),
      h("div.editor", field("Statement", this.editor), this.choices),
      h("div.tools", field("Arguments for ?", this.args), field("Rows per page", this.size), h("div.buttons", this.go, this.stop, h("span.quiet", h("kbd", "Ctrl"), "+", h("kbd", "Enter")))),
      this.recent, this.result);
    this.#showHistory();
  }

  #showHistory() {
    const all = this.history.all;
    this.recent.hidden = !all.length;
    fill(this.recent, h("summary", `History (${all.length})`), h("ol", all.map((text) => h("li", h("button.link", { type: "button", onclick: () => {
      this.editor.value = text;
      this.editor.focus();
    } }, visible(text, { length: 200 }))))));
  }

  #key(event) {
    const isOpen = !this.choices.hidden;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#run(0);
    else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) this.#recall(event.key === "ArrowUp" ? 1 : -1);
    else if (isOpen && event.key === "ArrowDown") this.#mark(this.marked + 1);
    else if (isOpen && event.key === "ArrowUp" && this.marked >= 0) this.#mark(this.marked - 1);
    else if (isOpen && event.key === "Enter" && this.marked >= 0) this.#take(this.marked);
    else if (isOpen && event.key === "Tab" && !event.shiftKey) this.#take(Math.max(this.marked, 0));
    else if (isOpen && event.key === "Escape") this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #recall(step) {
    const all = this.history.all;
    const index = Math.min(Math.max((all.indexOf(this.editor.value) + step), 0), all.length - 1);
    if (all[index] !== undefined) this.editor.value = all[index];
  }

  // Completions: of the reference or the word before the cursor.
  #complete() {
    const before = this.editor.value.slice(0, this.editor.selectionStart);
    this.typed = /\{[^{}]*$|[A-Za-z]\w*$/.exec(before)?.[0] ?? "";
    const typed = this.typed.toLowerCase();
    const found = typed ? this.words.filter((word) => word.toLowerCase().startsWith(typed) && word.toLowerCase() !== typed).slice(0, 8) : [];
    if (!found.length) return this.#close();
    this.found = found;
    this.marked = -1;
    fill(this.choices, found.map((word, index) => h("li", { role: "option", id: `${this.choices.id}-${index}`, "aria-selected": "false", onmousedown: (event) => event.preventDefault(), onclick: () => this.#take(index) }, visible(word, { length: 80 }))));
    this.choices.hidden = false;
    this.editor.setAttribute("aria-expanded", "true");
  }

  #mark(index) {
    this.marked = Math.min(index, this.found.length - 1);
    [...this.choices.children].forEach((child, place) => child.setAttribute("aria-selected", String(place === this.marked)));
    if (this.marked < 0) this.editor.removeAttribute("aria-activedescendant");
    else this.editor.setAttribute("aria-activedescendant", `${this.choices.id}-${this.marked}`);
  }

  #take(index) {
    const { selectionStart: end, value } = this.editor;
    this.editor.setRangeText(this.found[index], end - this.typed.length, end, "end");
    // A closing brace that is there already would stand twice.
    if (value[end] === "}" && this.found[index].endsWith("}")) this.editor.setRangeText("", this.editor.selectionEnd, this.editor.selectionEnd + 1, "end");
    this.#close();
    this.editor.focus();
  }

  #close() {
    this.choices.hidden = true;
    this.marked = -1;
    this.editor.setAttribute("aria-expanded", "false");
    this.editor.removeAttribute("aria-activedescendant");
  }

  async #run(page) {
    const { api, store } = this.context;
    const smartSQL = this.editor.value;
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    this.signal.addEventListener("abort", () => abort.abort(), { once: true });
    this.#close();
    if (!smartSQL.trim()) return fill(this.result, notice("info", "No query specified"));
    let args;
    try {
      args = parseExact(`[${this.args.value}]`);
    } catch {
      return fill(this.result, notice("bad", "The arguments are not JSON.", "Write texts in double quotes and put commas between the values."));
    }
    this.stop.hidden = false;
    this.go.setAttribute("aria-busy", "true");
    this.history.add(smartSQL);
    this.#showHistory();
    try {
      const body = { smartSQL, args, pageSize: Number(this.size.value), page, plan: true };
      const result = await api.postExact(`${paths.store(store.id)}/query`, body, abort.signal);
      this.#page = page;
      this.#show(result, smartSQL);
    } catch (error) {
      if (error.name !== "AbortError") fill(this.result, errorNotice(error));
      else if (abort === this.#abort) fill(this.result, notice("info", "Stopped."));
    } finally {
      if (abort === this.#abort) this.stop.hidden = true;
      this.go.removeAttribute("aria-busy");
    }
  }

  #show(result, smartSQL) {
    const rows = result.get("rows");
    const names = result.get("columns");
    const [size, total] = [result.get("pageSize"), result.get("total")];
    const first = this.#page * size;
    const elapsed = Number(String(result.get("elapsedMilliseconds")));
    const text = `${counted(rows.length, "row")}${total === null ? "" : ` of ${count(total)}`} in ${milliseconds(elapsed)}`;
    const isObject = rows.length > 0 && !Array.isArray(rows[0]);
    const width = isObject ? 1 : Math.max(...rows.map((row) => row.length), names?.length ?? 0, 1);
    const grid = table({
      label: "Rows of the query", offset: first, total, emptyText: "No rows returned",
      columns: Array.from({ length: width }, (_, index) => ({ label: visible(names?.[index] ?? "entry", { length: 60 }), class: "data", cell: (row) => valueElement(isObject ? row : row[index], { length: 160 }) })),
      onopen: (row) => fill(this.detail, h("h3", "Row"), h("dl.facts", (isObject ? [row] : row).map((value, index) => h("div", h("dt", visible(names?.[index] ?? "entry", { length: 60 })), h("dd", valueElement(value, { length: 4096, lines: true })))))),
    });
    grid.rows = rows;
    this.detail = h("div");
    const isLast = total !== null ? first + rows.length >= total : rows.length < size;
    const turn = (label, page, isOff) => h("button", { type: "button", disabled: isOff, onclick: () => this.#run(page) }, label);
    fill(this.result, h("p.status", h("strong", text), h("span.stretch"), turn("Previous page", this.#page - 1, this.#page === 0), turn("Next page", this.#page + 1, isLast)),
      this.#plan(result.get("plan"), smartSQL), grid, this.detail);
    announce(text);
  }

  #plan(plan, smartSQL) {
    if (!plan) return null;
    const steps = explain({ rows: plan.get("rows").map((row) => Object.fromEntries(row.members)) }, smartSQL, this.soups);
    const { kind, text } = summary(steps);
    const item = (step) => {
      const { advice } = step;
      const element = h(`li.step.${step.kind}`, h("span", visible(step.text, { length: 600 })), " ", h("code.quiet", visible(step.detail, { length: 300 })),
        advice ? h("div.advice", h("p", visible(advice.text, { length: 600 })), advice.command ? [h("p", "It would be made with:"), h("pre", visible(advice.command, { length: 2000 }))] : null) : null);
      element.style.marginInlineStart = `${step.level * 1.5}em`;
      return element;
    };
    return h(`details.plan.${kind}`, { open: kind === "bad" }, h("summary", "Plan: ", text), h("ol", steps.map(item)));
  }
}

customElements.define("ff-page-console", ConsolePage);
