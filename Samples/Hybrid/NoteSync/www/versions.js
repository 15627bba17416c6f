// A conflict as a table: the base version (the last one that this device and the server had in common), what this device
// has and what the server has, with a choice for each field. The same file in each sample that uses it.
import { element } from "./common.js";

const text = (record, name) => (record && record[name] !== null && record[name] !== undefined ? String(record[name]) : "");
const shown = (value) => (value === "" ? element("span", { class: "muted" }, "(empty)") : value);

/** The fields in which the device and the server differ. */
export const differing = (fields, { mine, theirs }) => fields.filter(({ name }) => text(mine, name) !== text(theirs, name));

/**
 * The table, and `values()`: what is chosen, by field. `fields`: `[{name, label}]`. Preselected is the side that alone
 * changed a field, and where both did the value of this device. A record that was deleted on this device is null: then the
 * table shows what the server has changed, and there is nothing to choose by field.
 */
export function versionsTable(fields, { base, mine, theirs }) {
  const rows = differing(fields, { mine: mine || base, theirs });
  const chosen = {};
  const cell = ({ name, label }, side, record, where) => {
    const value = text(record, name);
    const isChanged = base && value !== text(base, name);
    const radio = element("input", {
      type: "radio", name: `version-${name}`, checked: chosen[name] === value, "aria-label": `${label} ${where}: ${value || "empty"}`,
      onchange: () => (chosen[name] = value),
    });
    const content = mine ? element("label", {}, radio, element("span", {}, shown(value))) : shown(value);
    return element("td", { class: isChanged ? "changed" : null, "data-version": side }, content);
  };
  const note = (words) => element("span", { class: "muted" }, words);
  const body = rows.map((field) => {
    const isMineUnchanged = base && text(base, field.name) === text(mine, field.name);
    chosen[field.name] = text(isMineUnchanged ? theirs : mine, field.name);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, field.label),
      element("td", { "data-version": "Base version" }, base ? shown(text(base, field.name)) : note("not known")),
      mine ? cell(field, "This device", mine, "on this device") : element("td", { "data-version": "This device" }, note("deleted")),
      cell(field, "Server", theirs, "on the server")
    );
  });
  const heads = ["Field", "Base version", "This device", "Server"].map((head) => element("th", { scope: "col" }, head));
  const table = element("table", { class: "versions" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, body));
  return { table, values: () => ({ ...chosen }) };
}
