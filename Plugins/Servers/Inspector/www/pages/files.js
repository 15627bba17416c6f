// The files of synced records, and those that wait for their upload.
import { paths } from "../data/api.js";
import { bytes, count, counted } from "../data/format.js";
import { fill, h } from "../parts/dom.js";
import { badge, empty, Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

const STATES = { available: "good", partial: "warn", outdated: "warn", queued: "warn", unacknowledged: "warn", rejected: "bad", orphaned: "bad", inDoubt: "bad" };
const TEXTS = { onServer: "on the server", inDoubt: "in doubt" };
const SOUPS = ["syncs_files", "syncs_file_links", "syncs_file_uploads"];

class FilesPage extends Page {
  static title = "Files";

  async load({ api, store, live }) {
    const { files, total, queued, usedBytes } = await api.get(`${paths.store(store.id)}/files`, {}, this.signal);
    const more = total - files.length;
    fill(this, this.heading("Files", h("span.quiet", `${counted(total, "file")}, ${bytes(usedBytes)} on this device`)),
      !total && !queued.length ? empty("There are no files.", "Files of synced records appear here when FileSync has listed them, and new files until they are uploaded.") : null,
      queued.length ? this.#section("Waiting for their upload", ["Name", "State", "Size", "Record or file", "Reason"], queued.map((file) => this.#queued(file))) : null,
      total ? this.#section("Files of records", ["Title", "State", "Size", "On this device", "Records", "Problem"], files.map((file) => this.#file(file))) : null,
      more > 0 ? h("p.quiet", `${count(more)} more are not shown.`) : null);
    live.listen("change", this.signal, ({ store: changed, soups: names }) => changed === store.id && SOUPS.some((name) => names.includes(name)) && this.show(this.context));
  }

  #section(title, heads, rows) {
    return h("section.card", h("header", h("h2", title), h("span.quiet", count(rows.length))),
      h("div.wide-table", { tabindex: "0", role: "region", "aria-label": title }, h("table.plain",
        h("thead", h("tr", heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", rows))));
  }

  #state = (state) => badge(STATES[state] ?? "plain", TEXTS[state] ?? state);

  #file({ title, extension, attachment, state, bytes: size, storedBytes, records, problem }) {
    const name = extension ? `${title}.${extension}` : title;
    return h("tr", h("th", { scope: "row" }, visible(name, { length: 100 }), attachment ? h("span.quiet", " attachment") : null), h("td", this.#state(state)),
      h("td.end", bytes(size)), h("td.end", storedBytes ? bytes(storedBytes) : h("span.quiet", "none")),
      h("td.data", visible(records.join(", "), { length: 200 })), h("td.sentence", problem ? visible(problem, { length: 300 }) : h("span.quiet", "none")));
  }

  #queued({ name, state, bytes: size, parent, reason }) {
    return h("tr", h("th", { scope: "row" }, visible(name, { length: 100 })), h("td", this.#state(state)), h("td.end", bytes(size)),
      h("td.data", parent ? visible(parent, { length: 60 }) : h("span.quiet", "none")), h("td.sentence", reason ? visible(reason, { length: 300 }) : h("span.quiet", "none")));
  }
}

customElements.define("ff-page-files", FilesPage);
