// The analytics events that programs published to the org.

import { act, amount, call, cell, element, find, text } from "./parts.js";

let shown = "";

/// Shows the lines, the newest first.
export async function loadAnalytics() { show((await call("GET", "analytics")).lines); }

function show(lines) {
  const content = `${lines.length} ${lines.at(-1)?.number}`;
  if (content === shown) return;
  shown = content;
  find("analytics").replaceChildren(...lines.toReversed().map(line));
  find("analytics-empty").hidden = lines.length > 0;
  find("analytics-table").hidden = lines.length === 0;
  find("clear-analytics").disabled = lines.length === 0;
  text("analytics-count", lines.length > 0 ? amount(lines.length) : "");
}

function line({ date, schemaType, userId, payload }) {
  const event = JSON.parse(payload);
  const row = element("tr");
  for (const content of [date, event.eventSource, schemaType, userId, JSON.stringify(event.attributes ?? {})])
    cell(row, content ?? "");
  return row;
}

find("clear-analytics").onclick = () => act(async () => { await call("DELETE", "analytics"); await loadAnalytics(); }, "The events are gone");
