// The rules by which the org misbehaves.

import { act, amount, call, cell, element, find, text } from "./parts.js";

let shown = "";

/// Shows the rules with what they have done so far.
export async function loadFaults() { show((await call("GET", "faults")).faults); }

function show(rules) {
  const content = JSON.stringify(rules);
  if (content === shown) return;
  shown = content;
  find("faults").replaceChildren(...rules.map(line));
  find("faults-empty").hidden = rules.length > 0;
  document.querySelector("#fault-table").hidden = rules.length === 0;
  find("clear-faults").disabled = rules.length === 0;
  const waiting = rules.filter(rule => !isUsedUp(rule)).length;
  text("faults-count", waiting > 0 ? waiting : "");
}

const isUsedUp = rule => rule.count !== null && rule.hits >= rule.count;

function line(rule) {
  const row = element("tr");
  const action = row.insertCell();
  action.append(element("span", rule.action + " "), isUsedUp(rule) ? element("span", "used up", "badge") : "");
  cell(row, [rule.method, rule.path && "path has " + rule.path, rule.object && "about " + rule.object].filter(Boolean).join(", ") || "all");
  const often = rule.count === null ? "always" : rule.count === 1 ? "once" : amount(rule.count) + " times";
  cell(row, [often, rule.skip > 0 ? `after ${amount(rule.skip)}` : "",
    rule.probability < 1 ? Math.round(rule.probability * 100) + " % chance" : ""].filter(Boolean).join(", "));
  cell(row, amount(rule.matched), "number").dataset.head = "matched";
  cell(row, amount(rule.hits), "number").dataset.head = "hit";
  const remove = element("button", "Remove", "plain");
  remove.setAttribute("aria-label", "Remove the rule: " + rule.action);
  remove.onclick = () => act(async () => { await call("DELETE", "faults/" + rule.number); await loadFaults(); });
  row.insertCell().append(remove);
  return row;
}

find("clear-faults").onclick = () => act(async () => { await call("DELETE", "faults"); await loadFaults(); }, "The org behaves again");
find("add-fault").onsubmit = event => {
  event.preventDefault();
  const form = new FormData(event.target), rule = JSON.parse(form.get("what"));
  for (const name of ["method", "path", "object"]) if (form.get(name).trim()) rule[name] = form.get(name).trim();
  rule.skip = Number(form.get("skip") || 0);
  rule.count = form.get("count") ? Number(form.get("count")) : null;
  rule.probability = Number(form.get("chance") || 100) / 100;
  act(async () => show((await call("POST", "faults", rule)).faults), "The rule stands");
};
