// The syncs of a store as they run, and one of them with its definition and the outcomes of its records.
import { paths } from "../data/api.js";
import { ExactObject, parseExact } from "../data/exact.js";
import { clock, count, counted, date, duration, time } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { CursorRun } from "../data/run.js";
import { fill, h, select, svg } from "../parts/dom.js";
import { outcomeKind } from "../parts/entry-view.js";
import { jsonTree } from "../parts/json-tree.js";
import { act, announce, notice } from "../parts/notice.js";
import { badge, empty, facts, Page } from "../parts/page.js";
import { requestTable } from "../parts/requests.js";
import { table } from "../parts/table.js";
import { visible } from "../parts/text.js";

const STATUS = { NEW: "info", RUNNING: "busy", DONE: "good", FAILED: "bad", STOPPED: "warn" };
const OUTCOMES = ["succeeded", "partial", "conflict", "rejected", "unanswered", "inFlight", "undecided", "waiting", "nothingToDo"];

const statusBadge = (status) => badge(STATUS[status] ?? "info", status);
const direction = (type) => h("span", { title: type }, h("span", { "aria-hidden": "true" }, type === "syncUp" ? "↑ " : "↓ "), type === "syncUp" ? "up" : "down");
const nameOf = (sync) => sync.name ?? `Sync ${sync.id}`;

function progressOf(sync) {
  const bar = h("progress", { max: "100", value: sync.progress, "aria-label": `Progress of ${plainText(nameOf(sync), 60)}` });
  const moved = sync.moved === null || sync.moved === undefined ? "" : `${count(sync.moved)} of ${count(sync.totalSize)}`;
  return h("div.progress", bar, h("span", `${sync.progress} %`), h("span.quiet", moved));
}

function paceOf(sync) {
  const rate = sync.recordsPerSecond === null || sync.recordsPerSecond === undefined ? "" : `${count(Math.round(sync.recordsPerSecond))} records/s`;
  const rest = sync.status === "RUNNING" && sync.remainingSeconds !== null ? `, ${duration(sync.remainingSeconds)} to go` : sync.endTime ? `, took ${duration(sync.elapsedSeconds)}` : "";
  return (rate + rest).replace(/^, /, "") || "–";
}

/** The last rates of a sync as a line, next to the number. */
function spark(rates) {
  const [width, height] = [90, 18];
  const most = Math.max(...rates, 1);
  const points = rates.map((rate, index) => `${((index * width) / Math.max(rates.length - 1, 1)).toFixed(1)},${(height - 1 - (rate / most) * (height - 2)).toFixed(1)}`).join(" ");
  return svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, svg("polyline", { points, fill: "none" }));
}

class SyncsPage extends Page {
  static title = "Syncs";
  #rates = new Map();

  async load({ api, store, live }) {
    const { syncs } = await api.get(`${paths.store(store.id)}/syncs`, {}, this.signal);
    this.syncs = new Map(syncs.map((sync) => [sync.id, sync]));
    this.place = h("div");
    const button = (label, action, text) => {
      const element = h("button", { type: "button", disabled: !store.writable, title: store.writable ? null : "The store is read-only", onclick: () => act(element, this.place, async () => {
        await api.post(`${paths.store(store.id)}/syncs/${action}`, {}, this.signal);
        announce(text, { isShown: true });
      }) }, label);
      return element;
    };
    this.list = h("tbody");
    this.requests = requestTable("Requests of this store's syncs, as they happen");
    fill(this, this.heading("Syncs", h("span.quiet", counted(syncs.length, "sync")), h("span.stretch"), button("Stop all", "stop", "The syncs stop."), button("Restart stopped", "restart", "Stopped syncs run again.")), this.place,
      syncs.length ? h("div.wide-table", { tabindex: "0", role: "region", "aria-label": "Syncs" }, h("table.plain.syncs",
        h("thead", h("tr", ["Sync", "Direction", "Soup", "Status", "Progress", "Rate", "To do", "Started", ""].map((text) => h("th", { scope: "col" }, text || h("span.hidden", "Action"))))), this.list)) : empty("There is no sync yet.", "The app creates one with syncDown or syncUp, or loads a file of syncs."),
      h("section", h("h2", "Requests"), this.requests.element));
    this.rows = new Map();
    for (const sync of syncs) this.#draw(sync);
    live.listen("sync", this.signal, ({ store: changed, sync }) => changed === store.id && this.#update(sync));
    live.listen("request", this.signal, (request) => request.store === store.id && this.requests.add(request));
    const { requests } = await api.get("requests", { limit: 50 }, this.signal);
    this.requests.fill(requests.filter((one) => one.store === store.id));
  }

  #update(sync) {
    const before = this.syncs.get(sync.id);
    this.syncs.set(sync.id, sync);
    if (sync.recordsPerSecond) this.#rates.set(sync.id, [...(this.#rates.get(sync.id) ?? []), sync.recordsPerSecond].slice(-60));
    this.#draw(sync);
    if (before && before.status !== sync.status) announce(`${plainText(nameOf(sync), 60)}: ${sync.status}`);
  }

  #draw(sync) {
    const { store } = this.context;
    let row = this.rows.get(sync.id);
    if (!row) {
      row = h("tr");
      const run = runButton(this, sync);
      const cells = Array.from({ length: 7 }, () => h("td"));
      fill(row, h("th", { scope: "row" }, h("a", { href: `#/store/${store.id}/syncs/${sync.id}` }, visible(nameOf(sync), { length: 80 }))), cells, h("td.end", run));
      Object.assign(row, { cells_: cells, run });
      this.rows.set(sync.id, row);
      this.list.append(row);
    }
    row.run.disabled = !store.writable || sync.status === "RUNNING";
    const rates = this.#rates.get(sync.id);
    const values = [
      direction(sync.type), visible(sync.soupName, { length: 60 }), statusBadge(sync.status), progressOf(sync), h("span.lines", paceOf(sync).split(", ").map((text) => h("span", text)), rates?.length > 2 ? spark(rates) : null),
      this.#toDo(sync), sync.startTime ? h("span.lines", h("span", clock(sync.startTime)), h("span.quiet", date(sync.startTime))) : "–",
    ];
    values.forEach((value, index) => fill(row.cells_[index], value));
    row.className = sync.status === "FAILED" ? "failed" : "";
  }

  /** What keeps records of the sync from the server. */
  #toDo(sync) {
    const address = `#/store/${this.context.store.id}`;
    const parts = [
      sync.dirty && h("a", { href: `${address}/unsynced` }, `${count(sync.dirty)} unsynced`), sync.conflictCount && h("a", { href: `${address}/conflicts` }, counted(sync.conflictCount, "conflict")),
      sync.unsentCount && h("a", { href: `${address}/syncs/${sync.id}` }, `${count(sync.unsentCount)} not sent`),
    ].filter(Boolean);
    return parts.length ? h("span.lines", parts) : "–";
  }
}

function runButton(page, sync) {
  const button = h("button.small", { type: "button", "aria-label": `Run ${plainText(nameOf(sync), 60)}`, onclick: () => act(button, page.place, async () => {
    const { api, store } = page.context;
    await api.post(`${paths.sync(store.id, sync.id)}/run`, {}, page.signal);
    announce(`${plainText(nameOf(sync), 60)} runs.`, { isShown: true });
  }) }, "Run");
  return button;
}

class SyncPage extends Page {
  static title = "Sync";

  async load({ api, store, parameters, live }) {
    const path = paths.sync(store.id, parameters.sync);
    const sync = await api.get(path, {}, this.signal);
    const exact = await api.exact(path, {}, this.signal);
    this.place = h("div");
    this.summary = h("div");
    const run = runButton(this, sync);
    run.className = "primary";
    const ghosts = h("button", { type: "button", onclick: () => act(ghosts, this.place, async () => {
      const { removed } = await api.post(`${path}/ghosts`, {}, this.signal);
      fill(this.place, notice("good", `${counted(removed, "ghost")} removed.`));
    }) }, "Remove ghosts");
    ghosts.disabled = run.disabled = !store.writable;
    this.requests = requestTable("Requests of this sync");
    fill(this, this.heading(visible(nameOf(sync), { length: 100 }), h("a", { href: `#/store/${store.id}/syncs` }, "All syncs"), h("span.stretch"), run, sync.type === "syncDown" ? ghosts : null), this.place, this.summary,
      sync.type === "syncUp" ? await this.#outcomes(path) : null,
      h("section", h("h2", "Requests"), this.requests.element),
      h("section", h("h2", "Definition"), jsonTree(new ExactObject(["id", "type", "name", "soupName", "target", "options", "maxTimeStamp"].map((name) => [name, exact.get(name) ?? null])), { label: "Definition of the sync" })));
    this.#show(sync);
    live.listen("sync", this.signal, ({ store: changed, sync: next }) => changed === store.id && next.id === sync.id && this.#show(next));
    live.listen("request", this.signal, (request) => request.store === store.id && request.syncId === sync.id && this.requests.add(request));
    const { requests } = await api.get("requests", { limit: 200 }, this.signal);
    this.requests.fill(requests.filter((one) => one.store === store.id && one.syncId === sync.id));
  }

  #show(sync) {
    const { store } = this.context;
    fill(this.summary, facts([
      ["Status", statusBadge(sync.status)], ["Direction", direction(sync.type)], ["Soup", visible(sync.soupName, { length: 100 })], ["Merge mode", sync.options?.mergeMode ?? "–"],
      ["Progress", progressOf(sync)], ["Rate", paceOf(sync)], ["Unsynced", count(sync.dirty)],
      ["Conflicts", sync.conflictCount ? h("a", { href: `#/store/${store.id}/conflicts` }, count(sync.conflictCount)) : "0"],
      sync.outcomes && ["Records", `${count(sync.outcomes.succeeded)} succeeded, ${count(sync.outcomes.skipped)} skipped, ${count(sync.outcomes.failed)} failed${sync.outcomes.nothingToDo ? `, ${count(sync.outcomes.nothingToDo)} with nothing to upload` : ""}`],
      ["Started", time(sync.startTime)], ["Ended", time(sync.endTime)],
    ]),
    sync.error ? h("div.notice.bad", { role: "alert" }, h("strong", "The last run failed: ", visible(sync.error.message, { length: 1000 })), h("p.quiet", `Status ${sync.error.code || "none"}`),
      sync.error.body ? h("details", h("summary", "What the server said"), jsonTree(parseExact(JSON.stringify(sync.error.body)), { label: "Response of the server" })) : null) : null);
  }

  async #outcomes(path) {
    const { api, store } = this.context;
    const { soups } = await api.get(paths.soups(store.id), {}, this.signal);
    const ids = new Map(soups.map(({ name, id }) => [name, id]));
    const grid = table({
      label: "Outcomes of records", emptyText: "No outcomes of this kind",
      columns: [
        { label: "Outcome", width: 14, cell: (row) => badge(outcomeKind(row.outcome), row.outcome) }, { label: "Action", width: 9, cell: (row) => row.action ?? "–" },
        { label: "Entry", width: 9, align: "end", cell: (row) => (ids.has(row.soup) ? h("a", { href: `#/store/${store.id}/soup/${ids.get(row.soup)}/${row.entryId}` }, String(row.entryId)) : String(row.entryId)) },
        { label: "Record", width: 22, cell: (row) => visible(row.recordId ?? "–", { length: 40 }) },
        { label: "Why", cell: (row) => (row.error ? visible(row.error.message ?? JSON.stringify(row.error), { length: 300 }) : row.conflict ? h("a", { href: `#/store/${store.id}/conflicts?key=${encodeURIComponent(row.conflict)}` }, "Conflict") : "") },
        { label: "Time", width: 10, cell: (row) => clock(row.time) },
      ],
      onopen: (row) => ids.has(row.soup) && (location.hash = `#/store/${store.id}/soup/${ids.get(row.soup)}/${row.entryId}`),
    });
    const run = new CursorRun(grid, async (query, signal) => {
      const { outcomes, ...rest } = await api.get(`${path}/outcomes`, query, signal);
      return { rows: outcomes, ...rest };
    });
    const kind = select([["", "All outcomes"], ...OUTCOMES.map((one) => [one, one])], "", (outcome) => act(kind, this.place, () => run.open({ outcome, limit: 200 })));
    kind.setAttribute("aria-label", "Outcome");
    const section = h("section", h("header.section-head", h("h2", "Outcomes of the last run"), kind), grid);
    await run.open({ limit: 200 });
    return section;
  }
}

customElements.define("ff-page-syncs", SyncsPage);
customElements.define("ff-page-sync", SyncPage);
