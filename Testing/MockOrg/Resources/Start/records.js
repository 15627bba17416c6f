// The objects of the org and their records, page by page.

import { amount, cell, call, element, find, holdsData, ignoringFailure, showDetail, text } from "./parts.js";

const pageSize = 50;
// What every object has says least: it stands behind the rest.
const common = /^(IsDeleted|OwnerId|Created(Date|ById)|LastModified(Date|ById)|SystemModstamp|Last(Viewed|Referenced)Date)$/;
let objects = [], chosen = null, offset = 0, shownPage = "";

/// Takes up what objects there are.
export function tellObjects(all) {
  objects = all;
  if (find("object-names").children.length !== all.length) {
    find("object-names").replaceChildren(...all.map(o => Object.assign(element("option"), { value: o.name })));
  }
  showObjects();
}

function showObjects() {
  const wanted = find("object-filter").value.trim().toLowerCase();
  const shown = objects
    .filter(o => o.name.toLowerCase().includes(wanted) || o.label.toLowerCase().includes(wanted))
    .sort((a, b) => (b.count > 0) - (a.count > 0) || a.name.localeCompare(b.name));
  const focused = find("objects").contains(document.activeElement) ? document.activeElement.dataset.name : null;
  find("objects").replaceChildren(...shown.map(o => {
    const item = element("li"), button = element("button", undefined, o.count === 0 ? "bare" : "");
    button.dataset.name = o.name;
    button.title = `${o.label}, ${o.fields} fields`;
    button.setAttribute("aria-current", o.name === chosen);
    button.append(element("span", o.name), element("span", amount(o.count), "count"));
    button.onclick = () => { location.hash = "#records/" + o.name; };
    item.append(button);
    return item;
  }));
  if (focused) find("objects").querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  find("objects-empty").hidden = shown.length > 0 || objects.length === 0;
}

/// Shows the records of an object, or those of the one that is chosen, as they are now.
export async function showRecords(name) {
  if (name && name !== chosen) { chosen = name; offset = 0; shownPage = ""; wait(); }
  if (!chosen) {
    chosen = objects.filter(holdsData).sort((a, b) => b.count - a.count)[0]?.name ?? null;
    if (!chosen) return;
    wait();
  }
  showObjects();
  const object = chosen, from = offset;
  let page;
  try {
    page = await call("GET", `objects/${encodeURIComponent(object)}?offset=${from}`);
  } catch (error) {
    if (error.status !== 404) throw error;
    find("records").replaceChildren(element("p", "The org has no object of that name.", "empty"));
    return;
  }
  if (object !== chosen || from !== offset) return;
  show(page, objects.find(o => o.name === object)?.count ?? page.records.length);
}

function wait() {
  text("object-name", chosen);
  text("object-note", "");
  const lines = element("div", undefined, "empty");
  for (let line = 0; line < 6; line += 1) lines.append(element("div", undefined, "skeleton"));
  find("records").replaceChildren(lines);
}

function show(page, total) {
  const last = offset + page.records.length;
  text("object-name", chosen);
  text("object-note", page.records.length === 0 ? "no records"
    : `${amount(offset + 1)}–${amount(last)} of ${amount(Math.max(total, last))}, newest first`);
  find("newer").disabled = offset === 0;
  find("older").disabled = last >= total;
  // A table that is the same is not made again: a user who scrolls in it or selects from it keeps their place.
  const content = JSON.stringify(page);
  if (content === shownPage) return;
  shownPage = content;
  if (page.records.length === 0) {
    find("records").replaceChildren(element("p", "There are no records.", "empty"));
    return;
  }
  const filled = page.fields.filter((f, place) => place < 2 || page.records.some(r => r[f] !== null));
  const fields = [...filled.filter(f => !common.test(f)), ...filled.filter(f => common.test(f))].slice(0, 40);
  const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const field of fields) head.append(element("th", field, typeof page.records[0][field] === "number" ? "number" : ""));
  for (const record of page.records) {
    const row = body.insertRow();
    row.className = "open";
    const open = () => showDetail(`${chosen} ${record.Name ?? record.Id}`, page.fields.map(f => [f, record[f]]));
    row.onclick = () => { if (getSelection().isCollapsed) open(); };
    for (const field of fields) {
      const value = record[field];
      if (field === "Id") {
        const button = element("button", value, "link mono");
        row.insertCell().append(button);
      } else {
        const isInstant = typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+\+0000$/.test(value);
        cell(row, typeof value === "object" && value !== null ? JSON.stringify(value)
          : isInstant ? value.slice(0, 19).replace("T", " ") : value,
          isInstant || /Id$/.test(field) ? "mono" : typeof value === "number" ? "number" : "");
      }
    }
  }
  find("records").replaceChildren(table);
}

function turn(distance) {
  offset = Math.max(0, offset + distance);
  find("records").scrollTop = 0;
  ignoringFailure(showRecords());
}
find("newer").onclick = () => turn(-pageSize);
find("older").onclick = () => turn(pageSize);
find("object-filter").oninput = showObjects;
