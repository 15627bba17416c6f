// A conflict in three columns, with a choice for each field and the buttons that resolve it.
import { parseExact } from "../data/exact.js";
import { diffWords } from "../data/diff.js";
import { time } from "../data/format.js";
import { plainText } from "../data/marks.js";
import { fill, h, uniqueId } from "./dom.js";
import { notice } from "./notice.js";
import { badge } from "./page.js";
import { visible } from "./text.js";
import { sameValue, valueElement } from "./value.js";

const KINDS = {
  fields: ["Changed on both sides", "Choose a value for each field, or one side for all."],
  deletedHere: ["Deleted locally, changed on the server", "Delete the record on the server too, or bring it back with the server's values."],
  deletedThere: ["Changed locally, deleted on the server", "Create the record again under a new id, or remove the local entry."],
  changedThere: ["Changed on both sides; the server's values are not known", "Upload the local values, or take the server's with the next sync down."],
  inDoubt: ["Sent, and the response was lost", "The server may have created the record. Say which one it is, or create it with the next sync up."],
  localEdits: ["Two entries of one record, with different local changes", "They are one entry now. Choose which changes it has; what is chosen is uploaded by the next sync up."],
  parentMissing: ["Cannot be uploaded without its parent", "The parent was deleted on the server or is not in its soup."],
};

const SIDES = { base: "Base version", mine: "Local", theirs: "Server" };

/** What a button says, by resolution and kind. */
function wordsOf(resolution, { kind, missingParent }) {
  switch (resolution) {
    case "mine": return { deletedHere: "Delete on the server", deletedThere: "Create again with local values", localEdits: "Keep this entry's values" }[kind] ?? "Keep all local values";
    case "theirs": return { deletedHere: "Keep the server's record", deletedThere: "Remove the local entry", localEdits: "Take the other entry's values", parentMissing: "Drop the local change" }[kind] ?? "Keep all server values";
    case "values": return "Apply the chosen values";
    case "create": return "It is not on the server: create it";
    case "detach": return "Upload without a parent";
    case "recreateParent": return `Create the parent in ${plainText(missingParent?.soupName ?? "its soup", 60)} again`;
    default: return resolution;
  }
}

const DANGEROUS = new Set(["deletedHere mine", "deletedThere theirs", "parentMissing theirs"]);

/**
 * Shows a conflict in `pane`. `resolve(request, button)` is called with the body of the request; `isWritable` says whether there
 * are buttons. `soups` gives the ids of soups by name, for links.
 */
export function showConflict(pane, conflict, { isWritable, store, soups, resolve }) {
  const [title, hint] = KINDS[conflict.kind] ?? [conflict.kind, ""];
  const soup = soups.get(conflict.soupName);
  const chosen = new Map();
  const status = h("p.status", { role: "status" });
  const request = (resolution, more = {}) => ({ key: conflict.key, version: conflict.version, resolution, ...more });
  const permits = (resolution) => isWritable && conflict.resolutions.includes(resolution);

  const apply = permits("values") ? h("button.primary", { type: "button", disabled: true, onclick: () => resolve(request("values", { fields: Object.fromEntries(chosen) }), apply) }, wordsOf("values", conflict)) : null;
  const say = () => {
    if (!apply) return;
    apply.disabled = chosen.size < conflict.fields.length;
    fill(status, chosen.size ? `${chosen.size} of ${conflict.fields.length} fields chosen` : "Choose a value in each row, or one side for all");
  };
  const choose = (name, choice) => {
    if (choice === undefined) chosen.delete(name);
    else chosen.set(name, choice);
    say();
  };
  const buttons = conflict.resolutions.filter((one) => one !== "values" && one !== "record").map((resolution) => {
    const isDangerous = DANGEROUS.has(`${conflict.kind} ${resolution}`);
    const button = h(`button${isDangerous ? ".danger" : ""}`, { type: "button", "data-resolution": resolution, disabled: !isWritable, onclick: () => resolve(request(resolution), button) }, wordsOf(resolution, conflict));
    return button;
  });

  fill(pane,
    h("header.pane-head", h("h2", { tabindex: "-1" }, visible(conflict.key, { length: 100 })), badge("warn", conflict.kind), h("span.stretch"),
      soup ? h("a", { href: `#/store/${store.id}/soup/${soup}/${conflict.entryId}` }, "Show the entry") : null),
    notice("info", `${title}.`, h("p", hint), h("p.quiet", "Record ", visible(conflict.recordId, { length: 60 }), `, found ${time(conflict.time)} by sync ${conflict.syncId} (${conflict.mergeMode})`)),
    conflict.missingParent ? parentNotice(conflict) : null,
    conflict.kind === "inDoubt" ? candidates(conflict, isWritable, (id, button) => resolve(request("record", { record: id }), button)) : null,
    conflict.fields.length ? h("div.wide-table", { tabindex: "0", role: "region", "aria-label": "Values in conflict" }, diffTable(conflict, permits("values"), choose)) : null,
    apply ? status : null, h("div.buttons.resolutions", apply, buttons),
    isWritable ? null : notice("warn", "The store is read-only, so that this page cannot resolve the conflict."));
  say();
}

function parentNotice({ missingParent: parent }) {
  const place = [visible(parent.field, { length: 60 }), " refers to ", visible(parent.recordId, { length: 60 }), " in soup ", visible(parent.soupName, { length: 60 })];
  const note = parent.isRequired ? "The server keeps no such record without a parent, so that it cannot be detached." : parent.entryId === null ? "The soup has no entry of the parent, so that it cannot be created again." : "";
  return h("p", place, ". ", note);
}

function candidates(conflict, isWritable, choose) {
  if (!conflict.candidates.length) return notice("warn", "The server did not say whether it has the record.", own(isWritable, choose));
  return h("section", h("h3", "Records of the server that it may be"), h("ul.candidates", conflict.candidates.map(({ id, values }) => {
    const button = h("button", { type: "button", disabled: !isWritable, "aria-label": `It is ${plainText(id, 40)}`, onclick: () => choose(id, button) }, "It is this one");
    return h("li.card", h("header", h("strong", visible(id, { length: 40 })), h("span.stretch"), button), h("dl.facts", values.members.map(([name, value]) => h("div", h("dt", visible(name, { length: 60 })), h("dd", valueElement(value))))));
  })), own(isWritable, choose));
}

/** A field for the id of a record that is no candidate. */
function own(isWritable, choose) {
  const input = h("input", { type: "text", id: uniqueId("record"), autocomplete: "off", spellcheck: "false", disabled: !isWritable, oninput: () => (button.disabled = !input.value.trim()) });
  const button = h("button", { type: "button", disabled: true, onclick: () => choose(input.value.trim(), button) }, "It is this record");
  return h("div.field.inline", h("label", { for: input.id }, "Id of another record on the server"), input, button);
}

function diffTable(conflict, isChoice, choose) {
  const sides = conflict.kind === "localEdits" ? { base: "Base version", mine: "This entry", theirs: "Other entry" } : conflict.kind === "inDoubt" ? { base: "Sent", mine: "Local", theirs: "Server" } : SIDES;
  return h("table.diff", h("thead", h("tr", h("th", { scope: "col" }, "Field"), Object.values(sides).map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", conflict.fields.map((field) => fieldRow(field, sides, isChoice, choose))));
}

function fieldRow(field, sides, isChoice, choose) {
  const group = uniqueId("choice");
  const name = plainText(field.name, 80);
  const row = h("tr", { "data-field": "" });
  const mark = (side) => row.querySelectorAll("td").forEach((cell) => cell.classList.toggle("chosen", cell.dataset.side === side));
  const cells = Object.entries(sides).map(([side, title]) => {
    const value = field[side];
    const isChanged = side !== "base" && value !== undefined && !sameValue(value, field.base);
    const content = compared(field.base, value, side);
    const cell = h(`td${isChanged ? ".changed" : ""}`, { "data-side": side }, content);
    if (!isChoice || value === undefined) return cell;
    const radio = h("input", { type: "radio", name: group, "aria-label": `${name}: ${title}`, "data-choice": side, onchange: () => {
      choose(field.name, side);
      mark(side);
    } });
    return fill(cell, h("label.pick", radio, content));
  });
  if (isChoice) {
    const input = h("input", { type: "text", "aria-label": `Another value of ${name}, JSON or text`, placeholder: "JSON or text", spellcheck: "false", oninput: () => {
      other.checked = input.value !== "";
      choose(field.name, input.value === "" ? undefined : { value: valueOf(input.value) });
      mark(null);
    } });
    const other = h("input", { type: "radio", name: group, "aria-label": `${name}: another value`, disabled: true });
    cells.at(-1).append(h("details.other", h("summary", "Another value"), h("label.pick", other, input)));
  }
  return fill(row, h("th", { scope: "row" }, visible(field.name, { length: 80 })), cells);
}

/** As on the command line: JSON, or else text. */
function valueOf(text) {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** A value, with the words of a text that differ from the base version. */
function compared(base, value, side) {
  if (side === "base" || typeof base !== "string" || typeof value !== "string" || base === value || base.length + value.length > 20_000) return valueElement(value, { length: 4000, lines: true, quotes: false });
  const names = { added: "ins", removed: "del" };
  return h("span.value.is-string", diffWords(base, value).map(({ kind, text }) => (kind === "same" ? visible(text, { length: 4000, lines: true }) : h(names[kind], visible(text, { length: 4000, lines: true })))));
}
