// The soups of a store with their counts, sizes and index specs.
import { paths } from "../data/api.js";
import { bytes, count, counted } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { badge, empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

class SoupsPage extends Page {
  static title = "Soups";

  async load({ api, store, live }) {
    const { soups } = await api.get(paths.soups(store.id), {}, this.signal);
    const own = soups.filter(({ metadata }) => !metadata);
    const metadata = soups.filter((soup) => soup.metadata);
    fill(this, this.heading("Soups", h("span.quiet", `${counted(own.length, "soup")}, ${bytes(store.bytes)}`)),
      soups.length ? null : empty("No soups found.", "The app registers a soup with registerSoup, or a sync configuration does."),
      own.length ? this.#table(own, "Soups") : null,
      metadata.length ? h("details", { open: !own.length }, h("summary", counted(metadata.length, "metadata soup")), this.#table(metadata, "Metadata soups")) : null);
    live.listen("change", this.signal, async ({ store: changed }) => changed === store.id && this.#renew());
  }

  #renew() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => !this.signal.aborted && this.show(this.context), 1000);
  }

  #table(soups, label) {
    const { store } = this.context;
    const columns = ["Soup", "Entries", "Size", "Unsynced", "Conflicts", "Indexes"];
    return h("div.wide-table", { tabindex: "0", role: "region", "aria-label": label }, h("table.plain",
      h("thead", h("tr", columns.map((text, index) => h("th", { scope: "col", class: index > 0 && index < 5 ? "end" : null }, text)))),
      h("tbody", soups.map((soup) => {
        const address = `#/store/${store.id}/soup/${soup.id}`;
        const number = (value, state) => (value ? h("a", { href: `${address}?state=${state}`, "aria-label": `${count(value)} ${state}` }, count(value)) : count(value));
        return h("tr", h("th", { scope: "row" }, h("a", { href: address }, visible(soup.name, { length: 100 }))), h("td.end", count(soup.count)), h("td.end", bytes(soup.bytes)),
          h("td.end", number(soup.unsynced, "unsynced")), h("td.end", number(soup.conflicts, "conflict")),
          h("td", h("ul.tags", soup.indexes.map(({ path, type }) => h("li", visible(path, { length: 60 }), " ", h("span.quiet", type))))));
      }))));
  }
}

customElements.define("ff-page-soups", SoupsPage);
