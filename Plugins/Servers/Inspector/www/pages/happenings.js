// What happens: requests, logs and analytics events, live and further back.
import { parseExact } from "../data/exact.js";
import { clock, duration } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { debounce, field, fill, h, select } from "../parts/dom.js";
import { jsonTree } from "../parts/json-tree.js";
import { act, announce, documentNotice, errorNotice } from "../parts/notice.js";
import { badge, Page } from "../parts/page.js";
import { requestTable } from "../parts/requests.js";
import { table } from "../parts/table.js";
import { visible } from "../parts/text.js";

const LEVELS = ["verbose", "debug", "info", "default", "warn", "error", "fault", "off"];
const KIND = { verbose: "quiet", debug: "quiet", info: "info", default: "info", warn: "warn", error: "bad", fault: "bad" };
const MOST = 2000;

/** A list that grows at its top: filters, a pause, and older items on demand. */
class LivePage extends Page {
  filter = {};
  waiting = [];
  isPaused = false;

  async load({ app, live }) {
    const source = app.status?.sources?.[this.constructor.source];
    this.note = h("p.status", { role: "status" });
    this.pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.#pause(!this.isPaused) }, "Pause");
    this.older = h("button", { type: "button", hidden: true, onclick: () => act(this.older, this.note, () => this.read(this.next)) }, "Older");
    const search = h("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: debounce(() => this.change({ search: search.value }), 200) });
    this.detail = h("div");
    this.build();
    fill(this, this.heading(this.constructor.title), source ? documentNotice("warn", source) : null,
      h("div.tools", { role: "search" }, field("Search", search), this.tools(), h("div.buttons", this.pause, this.older)), this.grid, this.note, this.detail);
    await this.read();
    live.listen(this.constructor.event, this.signal, (item) => {
      if (!this.fits(item)) return;
      if (this.isPaused) this.waiting.push(item);
      else this.add([item]);
      this.say();
    });
    live.listen("lost", this.signal, ({ topic, count }) => topic === this.constructor.source && announce(`${count} events came too fast and were left out. Load the page again to see them.`, { isShown: true }));
  }

  async change(members) {
    Object.assign(this.filter, members);
    this.grid.rows = [];
    try {
      await this.read();
    } catch (error) {
      if (error.name !== "AbortError") fill(this.note, errorNotice(error));
    }
  }

  async read(after) {
    const filter = JSON.stringify(this.filter);
    const { api } = this.context;
    const page = await api.get(this.constructor.path, { ...this.filter, limit: 200, after }, this.signal);
    if (filter !== JSON.stringify(this.filter)) return;
    this.next = page.next;
    this.older.hidden = !page.next;
    this.received(page);
    this.addOlder(page[this.constructor.list]);
    this.say();
  }

  #pause(isPaused) {
    this.isPaused = isPaused;
    this.pause.setAttribute("aria-pressed", String(isPaused));
    this.pause.textContent = isPaused ? "Continue" : "Pause";
    if (!isPaused) this.add(this.waiting.splice(0));
    this.say();
  }

  say() {
    fill(this.note, `${this.grid.rows.length} shown${this.waiting.length ? `, ${this.waiting.length} waiting` : ""}. ${this.isPaused ? "Paused." : "New ones appear at the top."}`);
  }

  fits(item) {
    const text = this.filter.search?.toLowerCase();
    return !text || JSON.stringify(item).toLowerCase().includes(text);
  }
  tools() {
    return null;
  }
  received() {}
  add(items) {
    this.grid.rows = [...items.reverse(), ...this.grid.rows].slice(0, MOST);
  }
  addOlder(items) {
    this.grid.rows = [...this.grid.rows, ...items];
  }
}

class RequestsPage extends LivePage {
  static title = "Requests";
  static path = "requests";
  static list = "requests";
  static source = "requests";
  static event = "request";

  build() {
    this.requests = requestTable("Requests");
    this.grid = this.requests.element;
  }
  add(items) {
    for (const item of items) this.requests.add(item);
  }
  addOlder(items) {
    this.requests.fill(items);
  }
}

class LogsPage extends LivePage {
  static title = "Logs";
  static path = "logs";
  static list = "records";
  static source = "logs";
  static event = "log";

  build() {
    this.grid = table({
      label: "Log records", emptyText: "No record passes the filter", classOf: ({ level }) => (KIND[level] === "bad" ? "failed" : ""), onopen: (row) => this.#open(row),
      columns: [
        { label: "Time", width: 14, cell: ({ time }) => clock(time, true) }, { label: "Level", width: 10, cell: ({ level }) => badge(KIND[level] ?? "info", level) },
        { label: "Component", width: 20, cell: ({ component, tag }) => visible(tag ? `${component}/${tag}` : component, { length: 60 }) },
        { label: "Message", class: "data", cell: ({ message, error }) => h("span", visible(message, { length: 400 }), error ? h("span.quiet", " – ", visible(error, { length: 200 })) : null) },
      ],
    });
    this.levels = h("details");
  }

  tools() {
    const level = select(LEVELS.slice(0, -1).map((one) => [one, one]), "verbose", (value) => this.change({ level: value }));
    this.component = select([["", "all"]], "", (value) => this.change({ component: value }));
    return [field("Least level", level), field("Component", this.component), this.levels];
  }

  received({ components, levels }) {
    if (this.component.options.length !== components.length + 1) {
      fill(this.component, h("option", { value: "" }, "all"), components.map((one) => h("option", { value: one }, plainText(one, 60))));
      this.component.value = this.filter.component ?? "";
    }
    const place = h("div");
    const wasOpen = this.levels.open;
    fill(this.levels, h("summary", "Levels"), Object.entries(levels).map(([component, level]) => {
      const choice = select(LEVELS.map((one) => [one, one]), level, () => act(choice, place, async () => {
        await this.context.api.post("logs/levels", { component, level: choice.value }, this.signal);
        announce(`${plainText(component, 60)} logs from ${choice.value}.`, { isShown: true });
      }));
      return field(component, choice);
    }), place);
    this.levels.open = wasOpen;
  }

  fits(item) {
    const { level = "verbose", component } = this.filter;
    return super.fits(item) && LEVELS.indexOf(item.level) >= LEVELS.indexOf(level) && (!component || item.component === component);
  }

  #open(row) {
    fill(this.detail, h("section.card", h("header", h("h2", "Record"), badge(KIND[row.level] ?? "info", row.level), h("span.quiet", `${clock(row.time, true)}, ${row.file}, ${row.function}`)),
      h("pre", visible(row.message, { length: 10_000, lines: true })), row.error ? h("pre.bad", visible(row.error, { length: 10_000, lines: true })) : null));
    announce("The record is shown below the table.");
  }
}

class EventsPage extends LivePage {
  static title = "Analytics events";
  static path = "analytics";
  static list = "events";
  static source = "analytics";
  static event = "analytics";

  build() {
    this.grid = table({
      label: "Analytics events", emptyText: "No event passes the filter",
      columns: [
        { label: "Time", width: 14, cell: ({ time }) => clock(time, true) }, { label: "Name", width: 26, cell: ({ name }) => visible(name, { length: 60 }) },
        { label: "Duration", width: 11, align: "end", cell: ({ startTime, endTime }) => (endTime ? duration((endTime - startTime) / 1000) : "–") },
        { label: "Attributes", class: "data", cell: ({ attributes }) => visible(JSON.stringify(attributes), { length: 300 }) },
      ],
      onopen: (row) => fill(this.detail, h("section.card", h("h2", visible(row.name, { length: 80 })), jsonTree(parseExact(JSON.stringify(row.attributes)), { label: "Attributes" }))),
    });
  }
}

customElements.define("ff-page-requests", RequestsPage);
customElements.define("ff-page-logs", LogsPage);
customElements.define("ff-page-events", EventsPage);
