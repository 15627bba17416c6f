// Requests in a table, as they happen.
import { bytes, clock, milliseconds } from "../data/format.js";
import { h } from "./dom.js";
import { badge } from "./page.js";
import { table } from "./table.js";
import { visible } from "./text.js";

const MOST = 500;
const SLOW = 2000;

const statusBadge = ({ status, milliseconds: time }) => {
  if (time === null) return badge("busy", "in flight");
  if (status === null) return badge("bad", "no response");
  return badge(status < 300 || status === 304 ? "good" : status < 500 ? "warn" : "bad", String(status));
};

/** A table of requests: `element`, `fill(requests)` with the newest first, `add(request)`. */
export function requestTable(label) {
  const element = table({
    label, emptyText: "No requests yet", total: null,
    columns: [
      { label: "Time", width: 14, cell: ({ time }) => clock(time, true) }, { label: "Method", width: 9, cell: ({ method }) => h("code", visible(method, { length: 10 })) },
      { label: "Path", cell: ({ path }) => h("code", visible(path, { length: 300 })) }, { label: "Status", width: 14, cell: statusBadge },
      { label: "Time taken", width: 12, align: "end", cell: ({ milliseconds: time }) => h(time > SLOW ? "strong" : "span", milliseconds(time)) },
      { label: "Sent", width: 10, align: "end", cell: ({ sentBytes }) => bytes(sentBytes) }, { label: "Received", width: 10, align: "end", cell: ({ receivedBytes }) => bytes(receivedBytes) },
      { label: "Again", width: 8, align: "end", cell: ({ repetitions }) => String(repetitions || "") }, { label: "Sync", width: 7, align: "end", cell: ({ syncId }) => String(syncId ?? "") },
    ],
    classOf: ({ status, milliseconds: time }) => (time !== null && (status === null || status >= 400) ? "failed" : ""),
  });
  return {
    element,
    fill(requests) {
      const known = new Set(element.rows.map(({ id }) => id));
      element.rows = [...element.rows, ...requests.filter(({ id }) => !known.has(id))].sort((left, right) => right.id - left.id).slice(0, MOST);
    },
    add(request) {
      // The end of a request takes the place of its start.
      const rows = element.rows.filter(({ id }) => id !== request.id);
      element.rows = [request, ...rows].sort((left, right) => right.id - left.id).slice(0, MOST);
    },
  };
}
