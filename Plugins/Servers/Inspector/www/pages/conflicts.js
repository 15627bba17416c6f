// The conflicts of a store: a list, and the one that is being resolved.
import { conflictOf, paths } from "../data/api.js";
import { counted } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { fill, h } from "../parts/dom.js";
import { showConflict } from "../parts/conflict-view.js";
import { act, announce } from "../parts/notice.js";
import { badge, empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

class ConflictsPage extends Page {
  static title = "Conflicts";

  async load({ api, store, query, live }) {
    const { soups } = await api.get(paths.soups(store.id), {}, this.signal);
    this.soups = new Map(soups.map(({ name, id }) => [name, id]));
    this.list = h("ul.conflict-list", { "aria-label": "Conflicts" });
    this.pane = h("section.conflict", { "aria-label": "Conflict" });
    this.place = h("div");
    this.number = h("span.quiet");
    this.older = h("button", { type: "button", hidden: true, onclick: () => act(this.older, this.place, () => this.#read(this.next)) }, "More");
    this.conflicts = [];
    fill(this, this.heading("Conflicts", this.number), this.place, this.body = h("div.split.conflicts", h("div.list", this.list, this.older), this.pane));
    this.addEventListener("keydown", (event) => this.#key(event));
    await this.#read();
    this.#select(this.conflicts.find(({ key }) => key === query.get("key")) ?? this.conflicts[0]);
    live.listen("change", this.signal, ({ store: changed, soups: names }) => changed === store.id && !this.isResolving && this.conflicts.some(({ soupName }) => names.includes(soupName)) && this.#again());
  }

  async #read(after) {
    const { api, store } = this.context;
    const page = await api.exact(`${paths.store(store.id)}/conflicts`, { limit: 200, after }, this.signal);
    this.conflicts.push(...page.get("conflicts").map(conflictOf));
    this.next = page.get("next");
    this.older.hidden = !this.next;
    this.#draw();
  }

  /** After a change elsewhere: the list is read again, the conflict in work stays. */
  async #again() {
    const { key, version } = this.selected ?? {};
    this.conflicts = [];
    await this.#read();
    const same = this.conflicts.find((one) => one.key === key);
    if (same?.version === version) this.selected = same;
    else this.#select(same ?? this.conflicts[0]);
    this.#draw();
  }

  #draw() {
    fill(this.number, counted(this.conflicts.length, "conflict") + (this.next ? " or more" : ""));
    if (!this.conflicts.length) return fill(this.body, empty("There are no conflicts.", "Records that were changed on both sides appear here in the merge modes MERGE_FIELDS and LEAVE_IF_CHANGED."));
    fill(this.list, this.conflicts.map((one) => h("li", h("button.conflict-item", { type: "button", "aria-current": one === this.selected ? "true" : null, onclick: () => this.#select(one, true) },
      h("span", visible(one.key, { length: 60 })), badge("warn", one.kind), h("span.quiet", one.fields.length ? visible(one.fields.map(({ name }) => name).join(", "), { length: 60 }) : "")))));
  }

  #select(conflict, isByUser = false) {
    this.selected = conflict;
    this.#draw();
    if (!conflict) return;
    const { store } = this.context;
    showConflict(this.pane, conflict, { isWritable: store.writable, store, soups: this.soups, resolve: (request, button) => this.#resolve(request, button) });
    if (isByUser) this.pane.querySelector("h2").focus();
  }

  async #resolve(request, button) {
    const { api, store, app } = this.context;
    this.isResolving = true;
    const done = await act(button, this.place, () => api.post(`${paths.store(store.id)}/conflicts/resolve`, request, this.signal));
    this.isResolving = false;
    if (!done) return;
    announce(`${plainText(request.key, 60)} is resolved; what is to be uploaded goes with the next sync up.`, { isShown: true });
    const index = this.conflicts.findIndex(({ key }) => key === request.key);
    this.conflicts.splice(index, 1);
    await app.refreshStores();
    this.context.store = app.currentStore(store.id);
    this.#select(this.conflicts[Math.min(index, this.conflicts.length - 1)], true);
    if (!this.conflicts.length) this.querySelector("h1").focus();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=text]")) return;
    const step = { n: 1, p: -1 }[event.key];
    const side = { b: "base", l: "mine", s: "theirs" }[event.key];
    if (step) {
      const index = this.conflicts.indexOf(this.selected) + step;
      if (this.conflicts[index]) this.#select(this.conflicts[index], true);
    } else if (side) {
      const row = event.target.closest("[data-field]") ?? this.pane.querySelector("[data-field]:not(:has(:checked))") ?? this.pane.querySelector("[data-field]");
      const radio = row?.querySelector(`[data-choice=${side}]`);
      if (!radio) return;
      radio.click();
      radio.focus();
    } else return;
    event.preventDefault();
  }
}

customElements.define("ff-page-conflicts", ConflictsPage);
