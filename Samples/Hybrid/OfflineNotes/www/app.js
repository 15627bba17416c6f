// Offline notes: notes are written on this device, with or without the network, and synced when there is one.
import { byId, count, currentUser, deviceReady, element, explain, later, moveWithArrows, requestLogin, show } from "./common.js";
import {
  FIELDS, create, decide, decideMissing, edit, isUnsynced, list, read, remove, revert, undelete, versions,
} from "./notes.js";
import { isSetUp, sync } from "./sync.js";
import { versionsTable } from "./versions.js";

const state = {
  text: "", notes: [], versions: new Map(), unsynced: 0, selected: null, shown: null,
  isSyncing: false, lastSync: null, failure: null,
};

// ------------------------------------------------------------------------------------------ messages

const button = (text, onclick, kind) => element("button", { type: "button", class: kind, onclick }, text);
const clearMessage = () => show(byId("message"));

function say(text, kind = "", ...actions) {
  show(byId("message"), element("div", { class: `message ${kind}` }, element("span", {}, text), actions));
}

function fail(error) {
  say(explain(error).text, "bad");
}

/** Runs what a person started; what fails is shown. */
const run = (action) => (...args) => Promise.resolve(action(...args)).catch(fail);

function showStatus() {
  const unsynced = state.unsynced > 0 ? `, ${state.unsynced} unsynced` : "";
  const [text, kind] = state.isSyncing
    ? ["Syncing", "warning"]
    : !navigator.onLine
      ? [`Offline${unsynced}`, "warning"]
      : state.failure
        ? [`Sync failed${unsynced}`, "bad"]
        : state.unsynced > 0
          ? [`${state.unsynced} unsynced`, "warning"]
          : state.lastSync
            ? [`Synced at ${state.lastSync.toLocaleTimeString([], { timeStyle: "short" })}`, "good"]
            : ["Not synced yet", "warning"];
  byId("status").textContent = text;
  byId("status").className = `chip ${kind}`;
  byId("sync").disabled = state.isSyncing;
}

// ------------------------------------------------------------------------------------------ list

async function refresh() {
  const all = await list();
  state.versions = await versions();
  state.unsynced = all.filter(isUnsynced).length;
  state.notes = state.text === "" ? all : await list(state.text);
  showList();
  showStatus();
}

/** What the server has in a conflict, null if it has nothing; undefined without a conflict. */
const serverOf = (note) => (isUnsynced(note) ? state.versions.get(note._soupEntryId)?.server : undefined);

function mark(note) {
  if (!isUnsynced(note)) return null;
  if (serverOf(note) !== undefined) return ["bad", "Conflict"];
  if (note.__last_error__) return ["bad", "Refused"];
  if (note.__locally_deleted__) return ["warning", "Deleted"];
  return ["warning", note.__locally_created__ ? "New" : "Edited"];
}

function showList() {
  const items = state.notes.map((note) => {
    const known = mark(note);
    const id = note._soupEntryId;
    return element(
      "li",
      { class: note.__locally_deleted__ ? "deleted" : null },
      element(
        "button",
        { type: "button", "data-id": id, "aria-current": id === state.selected ? "true" : null, onclick: run(() => select(id)) },
        element("span", { class: "title" }, note.Subject || "Untitled"),
        known && element("span", { class: `mark ${known[0]}` }, known[1]),
        element("span", { class: "more muted small" }, (note.Description || "No text").split("\n")[0])
      )
    );
  });
  const focused = byId("notes").contains(document.activeElement) ? document.activeElement.dataset.id : null;
  show(byId("notes"), items);
  if (focused) byId("notes").querySelector(`[data-id="${focused}"]`)?.focus();
  byId("found").textContent = items.length === 0 ? (state.text === "" ? "No notes yet" : "No notes with these words") : count(items.length, "note");
  byId("notebook").classList.toggle("has-selection", state.selected !== null);
}

// ------------------------------------------------------------------------------------------ one note

// Each pause in typing saves, and so does whatever leads away from the note.
const saveSoon = later(400, run(saveTyped));

const sheet = () => byId("detail").querySelector(".note");
const fieldsOf = (one) => [...one.querySelectorAll("[name]")];
const isTyped = (field) => field.value !== field.known;

async function saveTyped() {
  const typed = sheet() && fieldsOf(sheet()).filter(isTyped);
  if (!typed || typed.length === 0) return;
  const values = Object.fromEntries(typed.map((field) => [field.name, (field.known = field.value) || null]));
  const saved = await edit(Number(sheet().dataset.id), values);
  if (!saved) {
    say("This note was deleted. Copy what you need of it: it can't be saved any more.", "bad");
    return;
  }
  await refresh();
  await showDetail();
}

async function select(entryId) {
  await saveSoon.flush();
  clearMessage();
  state.selected = entryId;
  state.shown = null;
  showList();
  await showDetail();
}

const keyOf = (note) => JSON.stringify([note, serverOf(note)]);
const back = () => button("← All notes", run(() => select(null)), "plain back");

async function showDetail() {
  const note = state.selected === null ? null : await read(state.selected);
  if (!note) {
    Object.assign(state, { selected: null, shown: null });
    byId("notebook").classList.remove("has-selection");
    const text = state.notes.length === 0 && state.text === "" ? "Write a first note. It needs no network." : "Choose a note, or write a new one.";
    show(byId("detail"), element("div", { class: "empty muted" }, text));
    return;
  }
  const key = keyOf(note);
  if (key === state.shown) return;
  state.shown = key;
  const server = serverOf(note);
  if (server !== undefined) showCard(note, conflict(note, server));
  else if (note.__locally_deleted__) showCard(note, deleted(note));
  else showSheet(note);
}

function newSheet(id) {
  const typed = () => {
    sheet().querySelector(".saved").textContent = "";
    saveSoon();
  };
  return element(
    "article",
    { class: "note", "data-id": id },
    back(),
    element("p", { class: "bad refusal" }),
    element("input", { name: "Subject", "aria-label": "Title", placeholder: "Title", maxlength: "255", oninput: typed }),
    element("textarea", { name: "Description", "aria-label": "Text", placeholder: "Text", oninput: typed }),
    element("div", { class: "actions" })
  );
}

// A sheet that is there already stays: what a person is typing in it must not be replaced by what a sync brought.
function showSheet(note) {
  const { _soupEntryId: id, __last_error__: refusal } = note;
  if (sheet()?.dataset.id !== String(id)) show(byId("detail"), newSheet(id));
  for (const field of fieldsOf(sheet())) {
    if (field.known === undefined || !isTyped(field)) field.value = note[field.name] ?? "";
    field.known = note[field.name] ?? "";
  }
  const reason = sheet().querySelector(".refusal");
  reason.hidden = !refusal;
  reason.textContent = refusal ? `The server refused this note: ${reasonOf(refusal)}` : "";
  const isEdited = isUnsynced(note) && !note.__locally_created__;
  const status = !isUnsynced(note) ? "Synced" : isEdited ? "Saved on this device, not on the server yet" : "On this device only";
  show(
    sheet().querySelector(".actions"),
    element("span", { class: "saved muted small", role: "status" }, status),
    isEdited && button("Undo my changes", run(() => apply(id, revert(id), "The note is as the server knows it.")), "end"),
    button("Delete", run(() => removeNote(note)), isEdited ? "danger" : "danger end")
  );
}

// What the server said, kept as text on the entry.
function reasonOf(refusal) {
  try {
    const [first] = [JSON.parse(refusal)].flat();
    return first.message || refusal;
  } catch {
    return refusal;
  }
}

function showCard(note, ...body) {
  show(byId("detail"), back(), element("article", { class: "record" }, element("h2", {}, note.Subject || "Untitled"), element("div", { class: "card" }, body)));
}

function deleted({ _soupEntryId: id }) {
  return [
    element("p", {}, "You have deleted this note. The server deletes it with the next sync."),
    element("div", { class: "actions" }, button("Undo the deletion", run(() => apply(id, undelete(id), "The note is back.")), "primary")),
  ];
}

function conflict(note, server) {
  const { _soupEntryId: id } = note;
  const ends = (action, text) => run(() => apply(id, action(), text));
  if (server === null) {
    return [
      element("p", {}, "Another user has deleted this note, and you have changed it."),
      element("p", { class: "muted" }, note.Description || "(no text)"),
      element(
        "div",
        { class: "actions" },
        button("Create it again", ends(() => decideMissing(id, true), "The next sync creates the note again."), "primary"),
        button("Delete it here too", ends(() => decideMissing(id, false), "The note was deleted."))
      ),
    ];
  }
  const base = state.versions.get(id)?.base ?? null;
  if (note.__locally_deleted__) {
    return [
      element("p", {}, "You have deleted this note. Another user has changed it since."),
      versionsTable(FIELDS, { base, mine: null, theirs: server }).table,
      element(
        "div",
        { class: "actions" },
        button("Delete it all the same", ends(() => decide(id, server, null), "The next sync deletes the note."), "primary"),
        button("Keep the server's", ends(() => decide(id, server, server), "The note is as the server has it."))
      ),
    ];
  }
  const { table, values } = versionsTable(FIELDS, { base, mine: note, theirs: server });
  const merged = () => Object.fromEntries(FIELDS.map(({ name }) => [name, (name in values() ? values()[name] : note[name]) || null]));
  return [
    element("p", {}, "You and another user have changed this note. Choose what it is to be."),
    table,
    element(
      "div",
      { class: "actions" },
      button("Keep what is chosen", ends(() => decide(id, server, merged()), "The next sync uploads what you chose."), "primary"),
      button("Take the server's", ends(() => decide(id, server, server), "The note is as the server has it."))
    ),
  ];
}

// ------------------------------------------------------------------------------------------ what a person does

async function apply(entryId, change, text) {
  await change;
  await refresh();
  await showDetail();
  const isLeft = state.notes.some((note) => isUnsynced(note) && note._soupEntryId === entryId);
  say(text, "", isLeft && navigator.onLine && button("Sync now", run(syncNow)));
}

async function newNote() {
  await saveSoon.flush();
  const note = await create({ Subject: "Untitled", Description: null });
  byId("search").value = "";
  state.text = "";
  await refresh();
  await select(note._soupEntryId);
  const title = byId("detail").querySelector("[name=Subject]");
  title.focus();
  title.select();
}

async function removeNote({ _soupEntryId: id, Subject, __locally_created__: isNew }) {
  await saveSoon.flush();
  await remove(id);
  state.selected = null;
  await refresh();
  await showDetail();
  // A note that the server never had is gone: there is nothing to take back.
  say(`“${Subject}” was deleted.`, "", !isNew && button("Undo", run(() => apply(id, undelete(id), "The note is back."))));
}

async function syncNow() {
  if (state.isSyncing) return;
  await saveSoon.flush();
  state.isSyncing = true;
  clearMessage();
  showStatus();
  const [bar, text] = byId("progress").children;
  byId("progress").hidden = false;
  try {
    await sync((what, percent) => {
      bar.value = percent;
      text.textContent = what;
    });
    Object.assign(state, { lastSync: new Date(), failure: null });
  } catch (error) {
    state.failure = explain(error).text;
    say(`The notes are not synced, and are kept on this device. ${state.failure}`, "warning", button("Try again", run(syncNow)));
  } finally {
    state.isSyncing = false;
    byId("progress").hidden = true;
    await refresh();
    await showDetail();
  }
  if (state.failure) return;
  const conflicts = state.notes.filter((note) => serverOf(note) !== undefined).length;
  const refused = state.notes.filter((note) => mark(note)?.[1] === "Refused").length;
  const parts = [conflicts > 0 && `${count(conflicts, "note needs", "notes need")} your decision`, refused > 0 && `the server refused ${count(refused, "note")}`].filter(Boolean);
  if (parts.length > 0) say(`${parts.join(", and ")}.`.replace(/^./, (first) => first.toUpperCase()), "warning");
}

// ------------------------------------------------------------------------------------------ start

async function start() {
  await deviceReady();
  if (!(await currentUser())) await requestLogin(byId("login"));
  if (!(await isSetUp())) {
    say("The syncs of this app do not exist yet. End the bridge and start it again: it creates them for the user who is logged in.", "bad");
    return;
  }
  byId("login").hidden = true;
  byId("notebook").hidden = false;
  byId("new").disabled = false;
  byId("new").addEventListener("click", run(newNote));
  byId("sync").addEventListener("click", run(syncNow));
  const search = later(200, run(() => ((state.text = byId("search").value.trim()), refresh())));
  byId("search").addEventListener("input", search);
  moveWithArrows(byId("notes"));
  window.addEventListener("online", run(syncNow));
  window.addEventListener("offline", showStatus);
  // A save takes two calls: a page that is closed in between would lose the last words, so the browser asks first.
  window.addEventListener("beforeunload", (event) => {
    if (!saveSoon.isDue()) return;
    saveSoon.flush();
    event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => document.hidden && saveSoon.flush());
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      saveSoon.flush();
    }
  });
  await refresh();
  await showDetail();
  if (navigator.onLine) await syncNow();
}

run(start)();
