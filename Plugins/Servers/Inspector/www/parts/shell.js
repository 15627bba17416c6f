// The frame of all pages: the head with the store, the navigation, and the place for a page.
import { counted } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { fill, h, select } from "./dom.js";
import { badge } from "./page.js";
import { documentNotice, openDialog } from "./notice.js";
import { showHelp } from "./shortcuts.js";

const THEME = "fieldforce.theme";
const STORE_PAGES = [["soups", "Soups"], ["console", "Smart SQL"], ["syncs", "Syncs"], ["conflicts", "Conflicts"], ["unsynced", "Unsynced"], ["files", "Files"]];
const APP_PAGES = [
  ["stores", "Stores"], ["accounts", "Accounts"], ["keyvalues", "Key-value stores"], ["requests", "Requests"], ["logs", "Logs"], ["events", "Events"], ["developer", "Developer"],
];

export function applyTheme(theme = localStorage.getItem(THEME) ?? "auto") {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  return theme;
}

class Shell extends HTMLElement {
  connectedCallback() {
    this.picker = h("div.picker");
    this.access = h("button.link", { type: "button", hidden: true });
    this.state = h("span.live", { role: "status" });
    this.navigation = h("nav", { "aria-label": "Pages" });
    this.main = h("main", { id: "content", tabindex: "-1" });
    const theme = select([["auto", "System colors"], ["light", "Light"], ["dark", "Dark"]], applyTheme(), (value) => {
      localStorage.setItem(THEME, value);
      applyTheme(value);
    });
    theme.setAttribute("aria-label", "Colors");
    fill(this,
      h("header.top", h("a.brand", { href: "#/stores" }, h("span.logo", { "aria-hidden": "true" }), "Fieldforce Inspector"), this.picker, this.access, h("span.stretch"),
        this.state, theme, h("button", { type: "button", onclick: showHelp, "aria-label": "Keyboard help", title: "Keyboard help (?)" }, "?")),
      this.navigation, this.main, h("div", { id: "announcements", role: "status", "aria-live": "polite" }));
    this.setLive("closed");
  }

  setLive(state) {
    fill(this.state, h(`span.dot.${state}`, { "aria-hidden": "true" }), state === "open" ? "Live" : "Not live");
    this.state.title = state === "open" ? "Events come as they happen" : "No event stream at the moment; the page tries again";
  }

  /** Shows the stores, what may be changed, and where one is. */
  update({ status, stores, store, page }) {
    const picker = select(stores.map((one) => [one.id, `${plainText(one.label, 60)}${one.status === "open" ? "" : ` – ${one.status}`}`]), store?.id, (id) => {
      const inStore = STORE_PAGES.some(([name]) => name === page);
      location.hash = `#/store/${id}/${inStore ? page : "soups"}`;
    });
    picker.setAttribute("aria-label", "Store");
    fill(this.picker, picker);
    const reason = store && !store.writable ? store.readOnlyError : status?.accessError;
    const isReadOnly = Boolean(reason) || (store && store.status !== "open");
    this.access.hidden = !store;
    fill(this.access, isReadOnly ? badge("warn", "Read-only") : badge("good", "Read-write"));
    this.access.title = "What may be changed, and why";
    this.access.onclick = () => {
      const close = h("button.primary", { type: "button", onclick: () => dialog.close() }, "Close");
      const text = reason ? documentNotice("warn", reason) : isReadOnly ? documentNotice("warn", store.error) : h("p", "This process owns the store: conflicts can be resolved, edits undone and syncs run from this page.");
      const dialog = openDialog(isReadOnly ? "Read-only" : "Read-write", [text, h("div.buttons", close)]);
      close.focus();
    };
    const link = ([name, title], href, number, noun) => h("a", { href, "aria-current": page === name ? "page" : null },
      title, number ? h("span.number", { "aria-label": counted(number, noun) }, String(number > 999 ? "999+" : number)) : null);
    const counts = { conflicts: [store?.conflicts, "conflict"], unsynced: [store?.unsynced, "unsynced entry"] };
    fill(this.navigation,
      store ? [h("h2", "Store"), h("ul", STORE_PAGES.map((one) => h("li", link(one, `#/store/${store.id}/${one[0]}`, ...(counts[one[0]] ?? [])))))] : null,
      h("h2", "App"), h("ul", APP_PAGES.map((one) => h("li", link(one, `#/${one[0]}`)))));
    // In a narrow window the navigation is a line that scrolls.
    this.navigation.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

customElements.define("ff-shell", Shell);
