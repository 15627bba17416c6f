// The org's time, its sessions and its snapshots.

import { act, call, element, find, text } from "./parts.js";
import { loadFaults } from "./faults.js";
import { forgetRequests } from "./requests.js";
import { loadStatus } from "./page.js";

let difference = 0, isFrozen = false;

/// Shows the org's time and snapshots.
export function showState(status) {
  difference = Date.parse(status.now) - Date.now();
  isFrozen = status.clockIsFrozen;
  text("clock-state", isFrozen ? "stands still" : "goes with the machine's");
  find("run-clock").disabled = !isFrozen;
  showClock(status.now);
  find("snapshots").replaceChildren(...status.snapshots.map(name => {
    const item = element("li"), actions = element("span", undefined, "actions"), restore = element("button", "Restore");
    restore.setAttribute("aria-label", "Restore " + name);
    restore.onclick = () => act(async () => {
      await call("POST", `snapshots/${encodeURIComponent(name)}/restore`);
      await loadStatus();
    }, `The org is as it was: ${name}`);
    actions.append(restore);
    item.append(element("span", name), actions);
    return item;
  }));
  find("snapshots-empty").hidden = status.snapshots.length > 0;
}

function showClock(now) {
  const [date, time] = now.split("T");
  text("now", `${date}  ${time.slice(0, 8)} UTC`);
}

setInterval(() => {
  if (!isFrozen && difference !== 0) showClock(new Date(Date.now() + difference).toISOString());
}, 1000);

for (const button of document.querySelectorAll("[data-clock]")) {
  button.onclick = () => act(async () => { await call("POST", "clock", JSON.parse(button.dataset.clock)); await loadStatus(); });
}
for (const button of document.querySelectorAll("[data-delete]")) {
  button.onclick = () => act(() => call("DELETE", button.dataset.delete), "The tokens have ended");
}
find("save").onsubmit = event => {
  event.preventDefault();
  const name = find("snapshot-name").value.trim();
  act(async () => {
    await call("PUT", "snapshots/" + encodeURIComponent(name));
    find("snapshot-name").value = "";
    await loadStatus();
  }, "Saved: " + name);
};
find("reset").onclick = () => find("confirm").showModal();
find("confirm").onclose = () => {
  if (find("confirm").returnValue !== "yes") return;
  act(async () => {
    await call("POST", "reset");
    forgetRequests();
    await loadFaults();
    await loadStatus();
    location.hash = "#connect";
  }, "The org is as new");
};
