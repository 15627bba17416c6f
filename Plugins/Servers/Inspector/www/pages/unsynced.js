// The entries that the server does not have.
import { paths } from "../data/api.js";
import { plain } from "../data/exact.js";
import { count, counted } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { stateBadge } from "../parts/entry-view.js";
import { act, announce, confirm } from "../parts/notice.js";
import { badge, empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";
import { valueElement } from "../parts/value.js";

const SHOWN = 50;

class UnsyncedPage extends Page {
  static title = "Unsynced entries";

  async load({ api, store, live }) {
    const { soups } = await api.get(`${paths.store(store.id)}/unsynced`, {}, this.signal);
    const lists = await Promise.all(soups.map(async (soup) => {
      const page = await api.exact(paths.entries(store.id, soup.id), { state: "unsynced", limit: SHOWN, columns: "Id,Name" }, this.signal);
      return this.#section(soup, page);
    }));
    const total = soups.reduce((sum, soup) => sum + soup.total, 0);
    // An error stays when a change on the device loads the list again.
    this.place ??= h("div");
    fill(this, this.heading("Unsynced entries", h("span.quiet", counted(total, "entry", "entries"))), this.place,
      lists.length ? lists : empty("Everything is uploaded.", "Entries that were created, updated or deleted locally appear here until a sync up has sent them."));
    live.listen("change", this.signal, ({ store: changed, soups: names }) => changed === store.id && soups.some(({ name }) => names.includes(name)) && this.show(this.context));
  }

  #section(soup, page) {
    const { store } = this.context;
    const rows = page.get("entries");
    const parts = ["created", "updated", "deleted"].filter((state) => soup[state]).map((state) => `${count(soup[state])} ${state}`);
    const more = soup.total - rows.length;
    return h("section.card",
      h("header", h("h2", h("a", { href: `#/store/${store.id}/soup/${soup.id}?state=unsynced` }, visible(soup.name, { length: 100 }))), h("span.quiet", parts.join(", "))),
      h("div.wide-table", { tabindex: "0", role: "region", "aria-label": `Unsynced entries of ${soup.name}` }, h("table.plain",
        h("thead", h("tr", ["Entry", "State", "Id", "Name", ""].map((text) => h("th", { scope: "col" }, text || h("span.hidden", "Action"))))),
        h("tbody", rows.map((row) => this.#row(soup, row))))),
      more > 0 ? h("p", h("a", { href: `#/store/${store.id}/soup/${soup.id}?state=unsynced` }, `Show the other ${count(more)}`)) : null);
  }

  #row(soup, row) {
    const { api, store } = this.context;
    const [id, conflict] = [row.get("id"), row.get("conflict")];
    const undo = h("button.small", { type: "button", disabled: !store.writable, title: store.writable ? null : "The store is read-only", "aria-label": `Undo the changes of entry ${id}`, onclick: async () => {
      if (!(await confirm("Undo the local changes?", `Entry ${id} of soup ${soup.name} returns to its base version; one that was created locally is removed.`, { action: "Undo", isDangerous: true }))) return;
      await act(undo, this.place, async () => {
        await api.post(`${paths.entry(store.id, soup.id, id)}/undo`, {}, this.signal);
        announce(`The changes of entry ${id} were undone.`, { isShown: true });
        await this.context.app.refreshStores();
        await this.show(this.context);
      });
    } }, "Undo");
    return h("tr", h("th", { scope: "row" }, h("a", { href: `#/store/${store.id}/soup/${soup.id}/${id}` }, String(id))),
      h("td", stateBadge(row.get("state")), conflict ? [" ", h("a", { href: `#/store/${store.id}/conflicts?key=${encodeURIComponent(`${soup.name}/${id}`)}` }, badge("warn", plain(conflict)))] : null),
      row.get("values").map((value) => h("td.data", valueElement(value, { length: 80 }))), h("td.end", undo));
  }
}

customElements.define("ff-page-unsynced", UnsyncedPage);
