// Developer information and actions.
import { field, fill, h, select } from "../parts/dom.js";
import { act, announce, confirm, notice, openDialog } from "../parts/notice.js";
import { Page } from "../parts/page.js";
import { visible } from "../parts/text.js";

class DeveloperPage extends Page {
  static title = "Developer";

  async load({ api, app }) {
    const { information, actions } = await api.get("developer", {}, this.signal);
    const place = h("div");
    const text = () => information.map(({ name, value }) => (name.startsWith("section:") ? `\n${name.slice(8)}` : `${name}: ${value}`)).join("\n").trim();
    const copy = h("button", { type: "button", onclick: () => act(copy, place, async () => {
      await navigator.clipboard.writeText(text());
      announce("The information was copied.", { isShown: true });
    }) }, "Copy as text");
    fill(this, this.heading("Developer", h("span.quiet", visible(app.status?.application ?? "", { length: 80 })), h("span.stretch"), copy), place,
      h("section", h("h2", "Actions"), h("div.actions", actions.map((action) => this.#action(action, place)))), this.#sections(information));
  }

  #action(action, place) {
    const isReadOnly = action.writes && this.context.app.status?.access !== "readWrite";
    const reason = isReadOnly ? "The inspector is read-only." : action.reason;
    const button = h("button", { type: "button", disabled: !action.enabled || isReadOnly, onclick: async () => {
      const values = action.fields?.length ? await ask(action) : {};
      if (!values || (action.confirmation && !(await confirm(action.name, action.confirmation, { action: action.name, isDangerous: true })))) return;
      await act(button, place, async () => {
        const { message } = await this.context.api.post("developer/actions", { name: action.name, values }, this.signal);
        fill(place, notice("good", visible(message, { length: 500 })));
        announce(message);
      });
    } }, visible(action.name, { length: 80 }));
    return h("div.action", button, reason ? h("p.quiet", visible(reason, { length: 300 })) : null);
  }

  /** The list with its markers of sections; one without rows is not shown. */
  #sections(information) {
    const sections = [];
    for (const { name, value } of information) {
      if (name.startsWith("section:")) sections.push({ title: name.slice(8), rows: [] });
      else {
        if (!sections.length) sections.push({ title: "App", rows: [] });
        sections.at(-1).rows.push([name, value]);
      }
    }
    return sections.filter(({ rows }) => rows.length).map(({ title, rows }) => h("section", h("h2", visible(title, { length: 80 })),
      h("dl.facts.list", rows.map(([name, value]) => h("div", h("dt", visible(name, { length: 80 })), h("dd", value ? visible(value, { length: 2000 }) : h("span.quiet", "none")))))));
  }
}

/** Asks for the fields of an action. Resolves to their values by name, or null if the dialog is closed. */
function ask(action) {
  return new Promise((resolve) => {
    const controls = new Map(action.fields.map((one) => [one, controlOf(one)]));
    const valueOf = ({ kind }, control) => (kind === "switch" ? control.checked : control.value);
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      resolve(Object.fromEntries([...controls].map(([one, control]) => [one.name, valueOf(one, control)])));
      dialog.close();
    } }, [...controls].map(([one, control]) => field(visible(one.label, { length: 80 }), control)), h("div.buttons", cancel, h("button.primary", { type: "submit" }, "Run")));
    const dialog = openDialog(visible(action.name, { length: 80 }), form);
    dialog.addEventListener("close", () => resolve(null));
    form.querySelector("input, select").focus();
  });
}

function controlOf({ kind, value, choices }) {
  if (kind === "choice") return select(choices.map((one) => [one.value, one.text]), value);
  return kind === "switch" ? h("input", { type: "checkbox", checked: value }) : h("input", { type: "text", value, autocomplete: "off", spellcheck: "false" });
}

customElements.define("ff-page-developer", DeveloperPage);
