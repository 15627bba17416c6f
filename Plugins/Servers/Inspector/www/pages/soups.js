// The soups of a store with their counts, sizes and index specs.
import { paths } from "../data/api.js";
import { bytes, count, counted } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { announce } from "../parts/notice.js";
import { empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

class SoupsPage extends Page {
  static title = "Soups";

  async load({ api, store, live }) {
    const { soups } = await api.get(paths.soups(store.id), {}, this.signal);
    this.uncounted = [];
    const own = soups.filter(({ metadata }) => !metadata);
    const metadata = soups.filter((soup) => soup.metadata);
    fill(this, this.heading("Soups", h("span.quiet", `${counted(own.length, "soup")}, ${bytes(store.bytes)}`)),
      soups.length ? null : empty("No soups found.", "The app registers a soup with registerSoup, or a sync configuration does."),
      own.length ? this.#table(own, "Soups") : null,
      metadata.length ? h("details", { open: !own.length }, h("summary", counted(metadata.length, "metadata soup")), this.#table(metadata, "Metadata soups")) : null);
    this.#count();
    live.listen("change", this.signal, async ({ store: changed }) => changed === store.id && this.#renew());
  }

  /** Of many soups the list has no numbers: they come one by one. */
  async #count() {
    const { api, store } = this.context;
    try {
      for (const { soup, show } of this.uncounted) {
        const { soups: [counted] } = await api.get(paths.soups(store.id), { soup: soup.id }, this.signal);
        show(counted);
      }
    } catch (error) {
      if (error.name !== "AbortError") announce(`The soups could not be counted: ${error.message}`, { isShown: true });
    }
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
        const cells = [soup.count, soup.bytes, soup.unsynced, soup.conflicts].map(() => h("td.end"));
        const show = (one) => [count(one.count), bytes(one.bytes), number(one.unsynced, "unsynced"), number(one.conflicts, "conflict")].forEach((value, index) => fill(cells[index], value));
        show(soup);
        if (soup.count === null) this.uncounted.push({ soup, show });
        return h("tr", h("th", { scope: "row" }, h("a", { href: address }, visible(soup.name, { length: 100 }))), cells,
          h("td", h("ul.tags", soup.indexes.map(({ path, type }) => h("li", visible(path, { length: 60 }), " ", h("span.quiet", type))))));
      }))));
  }
}

customElements.define("ff-page-soups", SoupsPage);
