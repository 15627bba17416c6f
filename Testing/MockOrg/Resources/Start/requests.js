// The log of requests as they come.

import { act, amount, call, cell, element, find, showDetail, size, text } from "./parts.js";

const capacity = 1000, shownAtMost = 300;
let entries = [], last = 0, seen = 0, isPaused = false;

/// Takes up the requests since the last time.
///
/// Returns how many there were.
export async function loadRequests() {
  const news = (await call("GET", "log?after=" + last)).requests;
  if (news.length > 0) {
    last = news.at(-1).number;
    seen += news.length;
    entries = [...news.reverse(), ...entries].slice(0, capacity);
  }
  if (!isPaused && (news.length > 0 || find("log-empty").textContent === "")) show();
  text("requests-count", seen > 0 ? amount(last) : "");
  return news.length;
}

function decoded(part) {
  const spaced = part.replace(/\+/g, " ");
  try { return decodeURIComponent(spaced); } catch { return spaced; }
}

/// A target in the parts that a reader looks for.
function target(entry) {
  const [, lead, path, query] = /^(\/services\/data\/v[\d.]+)?([^?]*)\??(.*)$/.exec(entry.target);
  const soql = /(?:^|&)q=([^&]*)/.exec(query);
  return { lead: lead ?? "", path: decoded(path), rest: query && !soql ? "?" + decoded(query) : "",
    soql: soql ? decoded(soql[1]) : "" };
}

function badge(entry) {
  return element("span", entry.status === null ? "none" : entry.status,
    "badge s" + (entry.status === null ? 0 : Math.floor(entry.status / 100)));
}

function took(entry) {
  if (entry.microseconds < 1000) return entry.microseconds + " µs";
  return (entry.microseconds < 10000 ? (entry.microseconds / 1000).toFixed(1) : amount(Math.round(entry.microseconds / 1000))) + " ms";
}

function show() {
  const kind = document.querySelector("[name=kind]:checked").value;
  const wanted = find("log-filter").value.trim().toLowerCase();
  const chosen = entries.filter(entry =>
    (kind === "all" || (kind === "fault" ? entry.fault !== null : entry.status === null || entry.status >= 400))
    && (wanted === "" || decoded(entry.target).toLowerCase().includes(wanted)));
  find("log").replaceChildren(...chosen.slice(0, shownAtMost).map(line));
  const isNarrowed = kind !== "all" || wanted !== "";
  text("log-note", isNarrowed && entries.length > 0 ? `${amount(chosen.length)} of the last ${amount(entries.length)}` : "newest first");
  find("log-empty").hidden = chosen.length > 0;
  text("log-empty", entries.length > 0 ? "No request is like that." : "No request yet. Point a client at this org: its requests appear here as they come.");
  document.querySelector(".log thead").hidden = chosen.length === 0;
}

function line(entry) {
  const row = element("tr", undefined, "open"), parts = target(entry);
  cell(row, entry.date.slice(11, 19), "mono");
  const status = row.insertCell();
  status.append(badge(entry));
  const method = row.insertCell();
  method.append(element("button", entry.method, "link method"));
  const cellOfTarget = row.insertCell();
  cellOfTarget.className = "target";
  cellOfTarget.title = parts.soql || parts.path + parts.rest;
  if (entry.fault) cellOfTarget.append(element("span", entry.fault, "tag"));
  cellOfTarget.append(element("span", parts.lead, "lead"), parts.path + parts.rest + " ", element("span", parts.soql, "soql"));
  cell(row, took(entry), "number wide");
  cell(row, entry.requestBytes === 0 ? "" : size(entry.requestBytes), "number wide");
  cell(row, entry.responseBytes === 0 ? "" : size(entry.responseBytes), "number wide");
  row.onclick = () => {
    if (!getSelection().isCollapsed) return;
    showDetail(`${entry.method} ${parts.path}`, [["Status", entry.status ?? "no answer"], ["Fault", entry.fault],
      ["Target", entry.target], ["SOQL", parts.soql], ["At", entry.date], ["Took", took(entry)],
      ["Body received", size(entry.requestBytes)], ["Body sent", size(entry.responseBytes)],
      ["User agent", entry.userAgent], ["Number", entry.number]].filter(([, value]) => value !== "" && value !== null));
  };
  return row;
}

find("log-filter").oninput = show;
for (const choice of document.querySelectorAll("[name=kind]")) choice.onchange = show;
find("pause").onclick = () => {
  isPaused = !isPaused;
  find("pause").setAttribute("aria-pressed", isPaused);
  text("pause", isPaused ? "Go on" : "Pause");
  if (!isPaused) show();
};
/// Forgets what was shown.
export function forgetRequests() { entries = []; seen = 0; show(); }

find("clear-log").onclick = () => act(async () => { await call("DELETE", "log"); forgetRequests(); }, "The log is empty");
