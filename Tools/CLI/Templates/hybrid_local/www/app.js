// The page: a list of accounts whose names can be edited offline.
import { edited, isUnsynced, list, save, sync } from "./accounts.js";

const byId = (id) => document.getElementById(id);
const say = (text) => (byId("status").textContent = text);

/** Calls `work`, and shows a failure instead of losing it. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    say(error.message || JSON.stringify(error));
  }
}

async function show() {
  const accounts = await list();
  const items = accounts.map((account) => {
    const item = document.createElement("li");
    const name = document.createElement("span");
    // As text: a record can never become markup.
    name.textContent = account.Name;
    if (isUnsynced(account)) name.className = "unsynced";
    const button = document.createElement("button");
    button.textContent = "Rename";
    button.onclick = () => attempt(() => rename(account));
    item.append(name, button);
    return item;
  });
  byId("accounts").replaceChildren(...items);
  say(`${accounts.length} ${accounts.length === 1 ? "account" : "accounts"}`);
}

async function rename(account) {
  const name = window.prompt("New name", account.Name);
  if (!name) return;
  await save(edited(account, "Name", name));
  await show();
}

byId("sync").onclick = () =>
  attempt(async () => {
    say("Syncing");
    await sync();
    await show();
  });

if (window.cordova) {
  document.addEventListener("deviceready", () => {
    byId("sync").disabled = false;
    attempt(show);
  });
} else {
  window.location.replace("error.html");
}
