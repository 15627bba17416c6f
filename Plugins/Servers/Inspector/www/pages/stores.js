// The stores of the app and its accounts.
import { paths } from "../data/api.js";
import { bytes, counted } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { act, documentNotice, notice } from "../parts/notice.js";
import { badge, empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

const STATUS = { open: ["good", "open"], locked: ["warn", "locked"], damaged: ["bad", "damaged"], missing: ["bad", "missing"] };

class StoresPage extends Page {
  static title = "Stores";

  async load({ api, app }) {
    await app.refreshStores();
    const { accounts } = await api.get("accounts", {}, this.signal);
    const owners = new Map(accounts.map(({ id, username }) => [id, username]));
    fill(this, this.heading("Stores", h("span.quiet", counted(app.stores.length, "store"))),
      app.stores.length ? h("div.cards", app.stores.map((store) => this.#card(store, owners))) : empty("There is no store yet.", "The first call that opens one creates it."));
  }

  #card(store, owners) {
    const [kind, word] = STATUS[store.status] ?? ["info", store.status];
    const place = h("div");
    const verify = h("button", { type: "button", onclick: () => act(verify, place, () => this.#verify(store, place)) }, "Verify");
    const link = (page, value, noun, plural) => h("a", { href: `#/store/${store.id}/${page}` }, counted(value, noun, plural));
    return h("section.card", { "aria-label": store.label },
      h("header", h("h2", visible(store.label, { length: 100 })), badge(kind, word), store.status === "open" && !store.writable ? badge("warn", "read-only") : null),
      h("p.quiet", store.owner === null ? "Belongs to the app" : ["Belongs to ", visible(owners.get(store.owner) ?? "an account", { length: 100 })], store.encrypted ? ", encrypted" : h("strong", ", not encrypted")),
      store.status === "open"
        ? h("p", link("soups", store.soups, "soup"), `, ${bytes(store.bytes)}, `, link("unsynced", store.unsynced, "unsynced entry", "unsynced entries"), ", ", link("conflicts", store.conflicts, "conflict"))
        : documentNotice("bad", store.error),
      store.readOnlyError && store.status === "open" ? documentNotice("warn", store.readOnlyError) : null,
      h("div.buttons", store.status === "open" ? h("a.button.primary", { href: `#/store/${store.id}/soups` }, "Open") : null, ["open", "damaged"].includes(store.status) ? verify : null), place);
  }

  async #verify(store, place) {
    const report = await this.context.api.post(`${paths.store(store.id)}/verify`, {}, this.signal);
    const checked = `${counted(report.pages, "page")}, ${counted(report.soups, "soup")}, ${counted(report.elements, "entry", "entries")} checked`;
    const where = ({ page, soup, entryId, path }) => [page && `page ${page}`, soup && `soup ${soup}`, entryId && `entry ${entryId}`, path && `path ${path}`].filter(Boolean).join(", ");
    fill(place, report.clean ? notice("good", "Nothing is wrong.", checked) : notice("bad", `${counted(report.findingCount, "finding")}.`,
      h("ul", report.findings.map((finding) => h("li", visible(`${where(finding)}: ${finding.detail}`)))), h("p", `${checked}. Restore the store from a backup, or sync it again. What is wrong stays as it is.`)));
  }
}

customElements.define("ff-page-stores", StoresPage);
