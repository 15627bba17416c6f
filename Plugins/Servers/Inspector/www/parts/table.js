// A table of any length: only the rows in sight are elements. It is a grid for keyboards and screen readers.
import { plainText } from "../data/marks.js";
import { fill, h, uniqueId } from "./dom.js";

const OVERSCAN = 8;

/**
 * `<ff-table>`. Set `columns`, then `rows`:
 *
 * - `columns`: `{ label, width, align, sort, cell(row) }`; width in characters, `grow` for what is left.
 * - `label`: what the table shows.
 * - `onopen(row)`: Enter or a click on a row. `onedge(direction)`: the first or last rows are in sight.
 * - `onsort(column)`: a click on a heading that has `sort`.
 */
export class DataTable extends HTMLElement {
  #rows = [];
  #columns = [];
  #active = -1;
  #selected = null;
  #drawn = { from: 0, to: 0 };
  #id = uniqueId("table");
  #frame = 0;
  #height = 26;
  onopen = null;
  onedge = null;
  onsort = null;
  /** What the table shows, for those who do not see it. */
  label = "";
  /** What is shown in place of rows. */
  emptyText = "Nothing here";
  /** A class for a row. */
  classOf = () => "";
  /** The number of rows that come before those that are here, and of all; null if it is not known. */
  offset = 0;
  total = null;

  // Made at once, so that rows can be given before the table is on the page.
  cols = h("colgroup");
  head = h("thead");
  body = h("tbody");
  table = h("table", { role: "grid", tabindex: "0", "aria-readonly": "true" }, this.cols, this.head, this.body);
  scroller = h("div.scroller", { onscroll: () => this.#later() }, this.table);
  note = h("p.empty", { hidden: true });
  observer = new ResizeObserver(() => this.#later());

  constructor() {
    super();
    this.table.addEventListener("keydown", (event) => this.#key(event));
    this.table.addEventListener("focus", () => this.#active < 0 && this.#rows.length && this.#move(this.#first()));
  }

  connectedCallback() {
    if (!this.scroller.isConnected) this.append(this.scroller, this.note);
    this.observer.observe(this.scroller);
    this.#draw(true);
  }

  disconnectedCallback() {
    this.observer.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  set columns(columns) {
    this.#columns = columns;
    this.#drawHead();
    this.#draw(true);
  }

  get rows() {
    return this.#rows;
  }

  set rows(rows) {
    this.#rows = rows;
    if (this.#active >= rows.length) this.#active = rows.length - 1;
    this.#draw(true);
  }

  /** The row that stays marked, or null. */
  set selected(row) {
    this.#selected = row;
    this.#active = this.#rows.indexOf(row);
    this.#draw(true);
  }

  get active() {
    return this.#rows[this.#active] ?? null;
  }

  /** Puts rows in front, without moving what is in sight. */
  extendStart(rows, dropped = 0) {
    const top = this.scroller.scrollTop + rows.length * this.#height;
    if (this.#active >= 0) this.#active += rows.length;
    this.#rows = [...rows, ...(dropped ? this.#rows.slice(0, -dropped) : this.#rows)];
    if (this.#active >= this.#rows.length) this.#active = -1;
    this.#fill(true);
    this.scroller.scrollTop = top;
    this.#draw(true);
  }

  /** Puts rows behind; `dropped` of the first are given back. */
  extendEnd(rows, dropped = 0) {
    const top = this.scroller.scrollTop - dropped * this.#height;
    this.#rows = [...this.#rows.slice(dropped), ...rows];
    this.#active = Math.max(this.#active - dropped, -1);
    this.#fill(true);
    if (dropped) this.scroller.scrollTop = top;
    this.#draw(true);
  }

  scrollToTop() {
    this.scroller.scrollTop = 0;
    this.#active = -1;
    this.#draw(true);
  }

  scrollToEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#draw(true);
  }

  /** Whether the last row is in sight. */
  get isAtEnd() {
    return this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - this.#height;
  }

  focus() {
    this.table.focus();
  }

  #first() {
    return Math.min(Math.ceil(this.scroller.scrollTop / this.#height), this.#rows.length - 1);
  }

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #drawHead() {
    fill(this.cols, this.#columns.map(({ width }) => {
      const col = h("col");
      if (width) col.style.width = `${width}ch`;
      return col;
    }));
    const least = this.#columns.reduce((sum, { width }) => sum + (width ?? 24), 0);
    this.table.style.minWidth = `${least}ch`;
    fill(this.head, h("tr", { "aria-rowindex": "1" }, this.#columns.map((column, index) => {
      const content = column.sort
        ? h("button", { type: "button", tabindex: "-1", onclick: () => this.onsort?.(column) }, column.label, h("span.sort", { "aria-hidden": "true" }, { ascending: " ▲", descending: " ▼" }[column.sorted] ?? ""))
        : column.label;
      return h("th", {
        scope: "col", "aria-colindex": String(index + 1), class: column.align === "end" ? "end" : null, "aria-sort": column.sort ? column.sorted ?? "none" : null,
      }, content);
    })));
  }

  #draw(isFresh = false) {
    this.#fill(isFresh);
    this.checkEdges();
  }

  /** Calls `onedge` for each end that is in sight. */
  checkEdges() {
    if (!this.#rows.length) return;
    const { from, to } = this.#inSight();
    if (to >= this.#rows.length - OVERSCAN) this.onedge?.("end");
    if (from === 0) this.onedge?.("start");
  }

  #inSight() {
    const { scrollTop, clientHeight } = this.scroller;
    return {
      from: Math.max(Math.floor(scrollTop / this.#height) - OVERSCAN, 0),
      to: Math.min(Math.ceil((scrollTop + clientHeight) / this.#height) + OVERSCAN, this.#rows.length),
    };
  }

  /** Makes the rows in sight. */
  #fill(isFresh) {
    const { from, to } = this.#inSight();
    this.note.hidden = this.#rows.length > 0;
    this.note.textContent = this.emptyText;
    this.table.setAttribute("aria-rowcount", String(this.total === null ? -1 : this.total + 1));
    this.table.setAttribute("aria-label", plainText(this.label));
    if (isFresh || from !== this.#drawn.from || to !== this.#drawn.to) {
      this.#drawn = { from, to };
      const space = (rows) => {
        const row = h("tr.space", { "aria-hidden": "true" }, h("td", { colspan: String(this.#columns.length || 1) }));
        row.firstChild.style.height = `${rows * this.#height}px`;
        return row;
      };
      fill(this.body, from > 0 ? space(from) : null, this.#rows.slice(from, to).map((row, index) => this.#row(row, from + index)), to < this.#rows.length ? space(this.#rows.length - to) : null);
      if (this.#active >= from && this.#active < to) this.table.setAttribute("aria-activedescendant", `${this.#id}-${this.#active}`);
      else this.table.removeAttribute("aria-activedescendant");
      this.#measure();
    }
  }

  /** The height of a row depends on the size of the font. */
  #measure() {
    const height = this.body.querySelector("tr:not(.space)")?.getBoundingClientRect().height;
    if (!height || Math.abs(height - this.#height) < 0.5) return;
    this.#height = height;
    this.#later();
  }

  #row(row, index) {
    const isSelected = row === this.#selected;
    const element = h("tr", {
      id: `${this.#id}-${index}`, "aria-rowindex": String(this.offset + index + 2), "aria-selected": String(isSelected), class: `${this.classOf(row)}${index === this.#active ? " active" : ""}` || null,
      onclick: (event) => {
        if (event.target.closest("button, a, input, select")) return;
        this.#move(index);
        this.onopen?.(row);
      },
    }, this.#columns.map((column, place) => {
      const content = column.cell(row);
      return h("td", { "aria-colindex": String(place + 1), class: [column.align === "end" ? "end" : "", column.class ?? ""].filter(Boolean).join(" ") || null }, content);
    }));
    return element;
  }

  #move(index) {
    if (!this.#rows.length) return;
    this.#active = Math.min(Math.max(index, 0), this.#rows.length - 1);
    const top = this.#active * this.#height;
    const head = this.head.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + this.#height + head > this.scroller.scrollTop + this.scroller.clientHeight) this.scroller.scrollTop = top + this.#height + head - this.scroller.clientHeight;
    this.#draw(true);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.table) return;
    const page = Math.max(Math.floor(this.scroller.clientHeight / this.#height) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) this.#move(this.#active < 0 ? this.#first() : this.#active + steps[event.key]);
    else if (event.key === "Home") this.#move(0);
    else if (event.key === "End") this.#move(this.#rows.length - 1);
    else if (event.key === "Enter" && this.active) this.onopen?.(this.active);
    else return;
    event.preventDefault();
  }
}

customElements.define("ff-table", DataTable);

/** A table with its members set. */
export function table(members) {
  const element = document.createElement("ff-table");
  return Object.assign(element, members);
}
