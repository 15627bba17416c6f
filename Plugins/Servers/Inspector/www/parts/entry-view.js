// One entry: its JSON, what was changed, its conflict and its last outcome.
import { paths } from "../data/api.js";
import { ExactObject, plain } from "../data/exact.js";
import { bytes, count, time } from "../data/format.js";
import { fill, h } from "./dom.js";
import { jsonTree } from "./json-tree.js";
import { act, announce, confirm, errorNotice, notice } from "./notice.js";
import { badge } from "./page.js";
import { visible } from "./text.js";
import { sameValue, valueElement } from "./value.js";

export const STATES = { created: ["good", "created"], updated: ["info", "updated"], deleted: ["bad", "deleted"] };

/** The state of an entry: what a sync up would do. */
export const stateBadge = (state) => (state ? badge(...STATES[state] ?? ["warn", state], "Changed locally and not uploaded") : null);

const FLAGS = /^(__|_soup)/;

/** The members that differ between the base version and the entry. */
function changes(base, entry) {
  const names = new Set([...base.members, ...entry.members].map(([name]) => name).filter((name) => !FLAGS.test(name) && name !== "attributes"));
  return [...names].filter((name) => base.get(name) !== undefined && !sameValue(base.get(name), entry.get(name)))
    .map((name) => ({ name, base: base.get(name), mine: entry.get(name) }));
}

/** Shows an entry in `pane`. `onchange` is called after it was changed. */
export async function showEntry(pane, { api, store, soup, id, signal, onclose, onchange }) {
  const path = paths.entry(store.id, soup.id, id);
  const title = h("h2", { tabindex: "-1" }, `Entry ${id}`);
  const close = h("button.icon", { type: "button", "data-close": true, "aria-label": "Close the entry", title: "Close (Esc)", onclick: onclose }, "×");
  let entry;
  pane.setAttribute("aria-busy", "true");
  try {
    entry = await api.exact(path, {}, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(pane, h("header.pane-head", title, close), errorNotice(error));
    return;
  } finally {
    pane.removeAttribute("aria-busy");
  }
  const place = h("div");
  const value = entry.get("entry");
  const base = entry.get("base");
  const conflict = entry.get("conflict") && plain(entry.get("conflict"));
  const outcome = entry.get("outcome") && plain(entry.get("outcome"));
  const state = entry.get("state");
  const cut = new Map(plain(entry.get("cut")).map(({ pointer, characters }) => [pointer, characters]));

  const copy = h("button", { type: "button", onclick: () => act(copy, place, async () => {
    const text = await (await api.blob(`${path}/json`, signal)).text();
    await navigator.clipboard.writeText(text);
    announce("The JSON was copied.", { isShown: true });
  }) }, "Copy JSON");
  const download = h("button", { type: "button", onclick: () => act(download, place, async () => save(await api.blob(`${path}/json`, signal), `entry-${id}.json`)) }, "Download");
  const undo = state && store.writable ? h("button.danger", { type: "button", onclick: async () => {
    const text = state === "created" ? "The entry was created locally. Undoing removes it." : "The entry returns to its base version, the last one that the server is known to have.";
    if (!(await confirm("Undo the local changes?", text, { action: "Undo", isDangerous: true }))) return;
    await act(undo, place, async () => {
      await api.post(`${path}/undo`, {}, signal);
      announce("The local changes were undone.", { isShown: true });
      onchange?.();
    });
  } }, "Undo local changes") : null;

  fill(pane,
    h("header.pane-head", title, stateBadge(state), conflict ? badge("warn", "in conflict") : null, h("span.quiet", bytes(entry.get("bytes"))), h("span.stretch"), close),
    h("div.buttons", copy, download, undo), place,
    conflict ? notice("warn", "Changed on both sides", h("a", { href: `#/store/${store.id}/conflicts?key=${encodeURIComponent(conflict.key)}` }, "Show and resolve the conflict")) : null,
    outcome ? h("p", "Last sync up: ", badge(outcomeKind(outcome.outcome), outcome.outcome), " ", h("span.quiet", time(outcome.time)), outcome.error ? [" ", visible(outcome.error.message ?? JSON.stringify(outcome.error), { length: 500 })] : null) : null,
    base instanceof ExactObject && value instanceof ExactObject ? changedTable(changes(base, value)) : null,
    h("h3", "JSON"),
    value === null ? notice("info", `The entry is too large to be shown (${bytes(entry.get("bytes"))}).`, "Download it to read it.") : jsonTree(value, {
      label: `JSON of entry ${id}`, root: "/entry", cut,
      more: async (pointer, from) => plain(await api.exact(`${path}/text`, { pointer: pointer.replace(/^\/entry/, ""), from, length: 65_536 }, signal)),
    }),
    base instanceof ExactObject ? h("details", h("summary", "Base version"), jsonTree(base, { label: "Base version", root: "/base", cut: new Map() })) : null);
  announce(`Entry ${id}, ${value instanceof ExactObject ? `${count(value.members.length)} members` : "too large to show"}.`);
  return title;
}

export const outcomeKind = (outcome) => ({ succeeded: "good", nothingToDo: "good", partial: "warn", conflict: "warn", waiting: "warn", undecided: "warn" })[outcome] ?? "bad";

function changedTable(rows) {
  if (!rows.length) return null;
  return h("section", h("h3", "Changed locally"), h("div.wide-table", { tabindex: "0", role: "region", "aria-label": "Changed fields" }, h("table.plain",
    h("thead", h("tr", ["Field", "Base version", "Local"].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", rows.map(({ name, base, mine }) => h("tr", h("th", { scope: "row" }, visible(name)), h("td", valueElement(base)), h("td.changed", valueElement(mine))))))));
}

/** Has the browser save a file. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

