// MobileSync explorer: the contacts of the org on this device, edited with or without the network.
import { connect } from "./plugins/fieldforce/index.js";
import { byId, count, element, explain, later, moveWithArrows, requestLogin, show } from "./common.js";
import { conflictView } from "./conflicts.js";
import { Records, isUnsynced, mark, refusalOf } from "./records.js";
import { isSetUp, syncAll } from "./sync.js";

const FIELDS = [
  { name: "FirstName", label: "First name" },
  { name: "LastName", label: "Last name", required: true },
  { name: "Title", label: "Title" },
  { name: "Department", label: "Department" },
  { name: "Email", label: "Email", type: "email" },
  { name: "Phone", label: "Phone", type: "tel" },
];
const SYNCS = { up: "contacts-up", down: "contacts-down" };

const fieldforce = connect();
const syncs = fieldforce.syncs();
const contacts = new Records(fieldforce.store(), "contacts", "Contact");
// `selected`: the entry id of the contact that is shown, "new" for one that is being written, null for none.
const state = { text: "", shown: [], conflicts: new Map(), unsynced: 0, selected: null, isSyncing: false, lastSync: null, failure: null };

// ------------------------------------------------------------------------------------------ messages

const button = (text, onclick, kind) => element("button", { type: "button", class: kind, onclick }, text);

function say(text, kind = "", ...actions) {
  show(byId("message"), element("div", { class: `message ${kind}` }, element("span", {}, text), actions));
}

const clearMessage = () => show(byId("message"));

/** Runs what a person started; a failure is shown. */
const run = (action) => (...args) => Promise.resolve(action(...args)).catch((error) => say(explain(error).text, "bad"));

function status() {
  const unsynced = state.unsynced > 0 ? `, ${state.unsynced} unsynced` : "";
  if (state.isSyncing) return ["Syncing", "warning"];
  if (!navigator.onLine) return [`Offline${unsynced}`, "warning"];
  if (state.failure) return [`Sync failed${unsynced}`, "bad"];
  if (state.unsynced > 0) return [`${state.unsynced} unsynced`, "warning"];
  if (!state.lastSync) return ["Not synced yet", "warning"];
  return [`Synced at ${state.lastSync.toLocaleTimeString([], { timeStyle: "short" })}`, "good"];
}

function showStatus() {
  const [text, kind] = status();
  byId("status").textContent = text;
  byId("status").className = `chip ${kind}`;
  byId("sync").disabled = state.isSyncing;
}

// ------------------------------------------------------------------------------------------ list

const nameOf = ({ FirstName, LastName }) => [FirstName, LastName].filter(Boolean).join(" ") || "Unnamed";
const order = new Intl.Collator();

async function refresh() {
  const all = await contacts.list();
  state.conflicts = new Map((await syncs.conflicts("contacts")).map((conflict) => [conflict.entryId, conflict]));
  state.unsynced = all.filter(isUnsynced).length;
  const found = state.text === "" ? all : await contacts.list(state.text);
  state.shown = found.sort((a, b) => order.compare(a.LastName ?? "", b.LastName ?? "") || order.compare(a.FirstName ?? "", b.FirstName ?? ""));
  showList();
  showStatus();
}

const conflictOf = ({ _soupEntryId }) => state.conflicts.get(_soupEntryId);

function showList() {
  const focused = byId("contacts").contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const items = state.shown.map((contact) => {
    const id = contact._soupEntryId;
    const known = mark(contact, conflictOf(contact));
    return element(
      "li",
      { class: contact.__locally_deleted__ ? "deleted" : null },
      element(
        "button",
        { type: "button", "data-id": id, "aria-current": id === state.selected ? "true" : null, onclick: run(() => select(id)) },
        element("span", { class: "title" }, nameOf(contact)),
        known && element("span", { class: `mark ${known[0]}` }, known[1]),
        element("span", { class: "more muted small" }, [contact.Title, contact.Department].filter(Boolean).join(", ") || "No title")
      )
    );
  });
  show(byId("contacts"), items);
  if (focused) byId("contacts").querySelector(`[data-id="${focused}"]`)?.focus();
  byId("found").textContent = items.length > 0 ? count(items.length, "contact") : state.text === "" ? "No contacts yet" : "No contacts with these words";
  byId("explorer").classList.toggle("has-selection", state.selected !== null);
}

// ------------------------------------------------------------------------------------------ one contact

const form = () => byId("detail").querySelector("form");
const isChanged = () => Boolean(form()) && [...form().elements].some((field) => field.name && field.value !== field.known);

/** Shows a contact, unless the form has values that are not saved: then the person decides first. */
async function select(id) {
  if (isChanged()) {
    const leave = async () => {
      form().remove();
      await select(id);
    };
    const save = async () => {
      if (await saveForm()) await select(id);
    };
    say("This contact has values that are not saved.", "warning", button("Save them", run(save), "primary"), button("Drop them", run(leave)));
    return;
  }
  clearMessage();
  state.selected = id;
  showList();
  await showDetail();
}

const back = () => button("← All contacts", run(close), "plain back");

async function close() {
  const { selected } = state;
  await select(null);
  if (state.selected === null) byId("contacts").querySelector(`[data-id="${selected}"]`)?.focus();
}

async function showDetail() {
  if (state.selected === "new") return showForm({}, "New contact", null);
  const contact = state.selected === null ? null : await contacts.read(state.selected);
  if (!contact) {
    state.selected = null;
    byId("explorer").classList.remove("has-selection");
    return show(byId("detail"), element("div", { class: "empty muted" }, "Choose a contact, or create one. Neither needs the network."));
  }
  // What a person is typing must not be replaced by what a sync brought.
  if (form()?.dataset.id === String(contact._soupEntryId) && isChanged()) return undefined;
  const conflict = conflictOf(contact);
  if (conflict) return showCard(contact, conflictView(conflict, { fields: FIELDS, noun: "contact", resolve: run((how, text) => resolve(conflict, how, text)) }));
  if (contact.__locally_deleted__) return showCard(contact, deletedView(contact));
  return showForm(contact, nameOf(contact), contact);
}

function showCard(contact, body) {
  show(byId("detail"), back(), element("article", { class: "record" }, element("h2", {}, nameOf(contact)), element("div", { class: "card" }, body)));
}

const deletedView = ({ _soupEntryId: id }) => [
  element("p", {}, "You have deleted this contact. The server deletes it with the next sync."),
  element("div", { class: "actions" }, button("Undelete", run(() => undelete(id)), "primary")),
];

function showForm(values, title, contact) {
  const state = !contact ? "" : !isUnsynced(contact) ? "Synced" : contact.__locally_created__ ? "On this device only" : "Saved on this device, not on the server yet";
  const inputs = FIELDS.map(({ name, label, type = "text", required }) => {
    const input = element("input", { name, type, required, autocomplete: "off" });
    input.value = input.known = values[name] ?? "";
    return element("label", { class: "field" }, label, input);
  });
  const save = (event) => {
    event.preventDefault();
    run(saveForm)();
  };
  show(
    byId("detail"),
    back(),
    element(
      "article",
      { class: "record" },
      element("h2", {}, title),
      contact?.__last_error__ && element("p", { class: "bad" }, `The server refused this contact: ${refusalOf(contact)}`),
      element(
        "form",
        { class: "form card", "data-id": contact?._soupEntryId ?? "new", onsubmit: save },
        inputs,
        element(
          "div",
          { class: "actions" },
          element("button", { type: "submit", class: "primary" }, "Save"),
          element("span", { class: "muted small", role: "status" }, state),
          contact && button("Delete", run(() => remove(contact)), "danger end")
        )
      )
    )
  );
}

// ------------------------------------------------------------------------------------------ what a person does

/** Saves the form on this device. Gives whether it was saved. */
async function saveForm() {
  const fields = [...form().elements].filter((field) => field.name);
  if (!form().reportValidity()) return false;
  const changed = fields.filter((field) => field.value !== field.known);
  const values = Object.fromEntries(changed.map((field) => [field.name, field.value.trim() || null]));
  for (const field of changed) field.known = field.value;
  if (state.selected === "new") {
    state.selected = (await contacts.create(values))._soupEntryId;
  } else if (changed.length > 0 && !(await contacts.edit(state.selected, values))) {
    say("This contact was deleted meanwhile. Copy what you need of it: it can't be saved any more.", "bad");
    return false;
  }
  clearMessage();
  await refresh();
  await showDetail();
  return true;
}

async function newContact() {
  await select("new");
  form()?.elements.FirstName.focus();
}

async function remove(contact) {
  const isKept = await contacts.remove(contact._soupEntryId);
  state.selected = null;
  await refresh();
  await showDetail();
  say(`${nameOf(contact)} was deleted.`, "", isKept && button("Undelete", run(() => undelete(contact._soupEntryId))));
}

async function undelete(id) {
  await contacts.undelete(id);
  await refresh();
  await showDetail();
  say("The contact is back.");
}

async function resolve(conflict, how, text) {
  await syncs.resolve(conflict, how);
  await refresh();
  await showDetail();
  say(text, "", state.unsynced > 0 && button("Sync now", run(syncNow)));
}

async function syncNow() {
  if (state.isSyncing) return;
  state.isSyncing = true;
  clearMessage();
  showStatus();
  const [bar, text] = byId("progress").children;
  byId("progress").hidden = false;
  try {
    await syncAll(syncs, SYNCS, (what, percent) => {
      bar.value = percent;
      text.textContent = what;
    });
    Object.assign(state, { lastSync: new Date(), failure: null });
  } catch (error) {
    state.failure = explain(error).text;
    say(`The contacts are not synced, and are kept on this device. ${state.failure}`, "warning", button("Try again", run(syncNow)));
  } finally {
    state.isSyncing = false;
    byId("progress").hidden = true;
    await refresh();
    await showDetail();
  }
  if (!state.failure) sayWhatIsLeft();
}

function sayWhatIsLeft() {
  const refused = state.shown.filter((contact) => mark(contact, conflictOf(contact))?.[1] === "Refused").length;
  const parts = [
    state.conflicts.size > 0 && `${count(state.conflicts.size, "contact needs", "contacts need")} your decision`,
    refused > 0 && `the server refused ${count(refused, "contact")}`,
  ].filter(Boolean);
  if (parts.length > 0) say(`${parts.join(", and ")}.`.replace(/^./, (first) => first.toUpperCase()), "warning");
}

// ------------------------------------------------------------------------------------------ start

// "/" goes to the search, Escape closes the contact, Control+S saves it.
function onKey(event) {
  const isInField = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "Escape" && state.selected !== null && document.activeElement !== byId("search")) run(close)();
  else if (event.key === "/" && !isInField) byId("search").focus();
  else if (event.key === "s" && (event.ctrlKey || event.metaKey) && form()) run(saveForm)();
  else return;
  event.preventDefault();
}

async function start() {
  if (!(await fieldforce.currentUser())) await requestLogin(byId("login"), async () => (await fieldforce.authenticate(), fieldforce.currentUser()));
  if (!(await isSetUp(syncs, SYNCS.down))) {
    say("The syncs of this app do not exist yet. End the bridge and start it again: it creates them for the user who is logged in.", "bad");
    return;
  }
  byId("login").hidden = true;
  byId("explorer").hidden = false;
  byId("new").disabled = false;
  byId("new").addEventListener("click", run(newContact));
  byId("sync").addEventListener("click", run(syncNow));
  byId("search").addEventListener("input", later(200, run(() => ((state.text = byId("search").value.trim()), refresh()))));
  moveWithArrows(byId("contacts"));
  document.addEventListener("keydown", onKey);
  window.addEventListener("online", run(syncNow));
  window.addEventListener("offline", showStatus);
  window.addEventListener("beforeunload", (event) => isChanged() && event.preventDefault());
  fieldforce.connection.on("fieldforceReload", () => location.reload());
  await refresh();
  await showDetail();
  if (navigator.onLine) await syncNow();
}

run(start)();
