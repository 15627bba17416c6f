// The frame of the page: which view is shown, what the org says, and what went wrong.

import { amount, call, element, find, holdsData, ignoringFailure, say, text } from "./parts.js";
import { showRecords, tellObjects } from "./records.js";
import { loadRequests } from "./requests.js";
import { loadFaults } from "./faults.js";
import { loadAnalytics } from "./analytics.js";
import { showState } from "./state.js";

const views = ["connect", "records", "requests", "faults", "analytics", "state"];
let status = null;

function view() {
  const name = location.hash.slice(1).split("/")[0];
  return views.includes(name) ? name : "connect";
}

function showView() {
  const shown = view();
  for (const section of document.querySelectorAll("[data-view]")) section.hidden = section.dataset.view !== shown;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + shown) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "center" });
    } else link.removeAttribute("aria-current");
  }
  if (shown === "records") ignoringFailure(showRecords(location.hash.split("/")[1]));
}

function showConnection() {
  const facts = [["Address", status.instanceUrl], ["API version", status.apiVersion], ["Username", status.username],
    ["Password", status.password], ["Client id", status.clientId], ["Client secret", status.clientSecret],
    ["Redirect", status.redirectUri]];
  find("facts").replaceChildren(...facts.map(([name, value]) => {
    const copy = element("button", "Copy", "plain");
    copy.setAttribute("aria-label", "Copy " + name.toLowerCase());
    copy.onclick = async () => {
      await navigator.clipboard.writeText(value);
      say(name + " copied");
    };
    const row = element("div");
    row.append(element("dt", name), element("dd", value), copy);
    return row;
  }));
  const object = status.objects.filter(holdsData).sort((a, b) => b.count - a.count)[0];
  text("sample", `TOKEN=$(curl -s ${status.instanceUrl}/services/oauth2/token \\
  -d grant_type=password -d client_id=${status.clientId} \\
  -d client_secret=${status.clientSecret} \\
  -d username=${status.username} -d password=${status.password} \\
  | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')

curl -s ${status.instanceUrl}/services/data/v${status.apiVersion}/query \\
  -H "Authorization: Bearer $TOKEN" -G \\
  --data-urlencode "q=SELECT Id, Name FROM ${object?.name ?? "Account"} LIMIT 5"`);
}

function showHoldings() {
  const held = status.objects.filter(holdsData).sort((a, b) => b.count - a.count);
  find("holdings").replaceChildren(...held.slice(0, 24).map(o => {
    const item = element("li"), link = element("a");
    link.href = "#records/" + o.name;
    link.append(element("b", amount(o.count)), element("span", o.label));
    item.append(link);
    return item;
  }));
  find("holdings").hidden = held.length === 0;
  find("holdings-empty").hidden = held.length > 0;
  text("records-count", amount(held.reduce((sum, o) => sum + o.count, 0)));
}

/// Asks for the counts of all objects, the clock and the snapshots.
export async function loadStatus() {
  const first = status === null;
  status = await call("GET", "status");
  if (first) {
    document.title = status.organizationName;
    text("name", status.organizationName);
    showConnection();
  }
  showHoldings();
  showState(status);
  tellObjects(status.objects);
}

function tell(trouble) {
  const live = find("live");
  live.textContent = trouble ? "no answer" : "live";
  live.className = trouble ? "live off" : "live on";
  find("trouble").hidden = !trouble;
  find("trouble").textContent = trouble ?? "";
}

// Counting a million records takes the org a while: it is not asked again before twenty times that long.
let statusDue = 0, isFirst = true;

async function refresh() {
  const news = await loadRequests();
  if (news > 0 || isFirst || performance.now() > statusDue + 4000) {
    await loadFaults();
    await loadAnalytics();
  }
  if (performance.now() > statusDue && (news > 0 || isFirst || performance.now() > statusDue + 4000)) {
    const start = performance.now();
    await loadStatus();
    statusDue = performance.now() + Math.max(1000, 20 * (performance.now() - start));
    if (view() === "records") await showRecords();
    isFirst = false;
  }
}

async function tick() {
  try {
    if (!document.hidden || isFirst) await refresh();
    tell(null);
  } catch (error) {
    if (error.status === 401) {
      // Only the holder of the connection document has the key.
      tell("This browser may not look into the org. Open the address that stands as pageUrl in the first line "
        + "of output of 'fieldforce org serve'.");
    } else {
      tell("The org does not answer. It may have been stopped; this page keeps trying.");
    }
  }
  setTimeout(tick, 1000);
}

addEventListener("hashchange", showView);
addEventListener("keydown", event => {
  if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
  const search = document.querySelector(`[data-view=${view()}] .search`);
  if (search) { event.preventDefault(); search.focus(); }
});
showView();
tick();
