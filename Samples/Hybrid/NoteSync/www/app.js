// Note sync: cases with their notes, written with or without the network, and synced as trees.
import { connect } from "./plugins/fieldforce/index.js";
import { byId, count, element, explain, later, moveWithArrows, requestLogin, show } from "./common.js";
import { Casebook } from "./casebook.js";
import { conflictView } from "./conflicts.js";
import { isUnsynced, mark, refusalOf } from "./records.js";
import { isSetUp, syncAll } from "./sync.js";

const SYNCS = { up: "cases-up", down: "cases-down" };
const CASE_FIELDS = [{ name: "Subject", label: "Subject" }, { name: "Description", label: "Description" }];
const NOTE_FIELDS = [{ name: "CommentBody", label: "Text" }];

const fieldforce = connect();
const casebook = new Casebook(fieldforce);
const { cases, notes, syncs } = casebook;
// `selected`: the entry id of a case. `editing`: what has a form: "case", "new note", or the entry id of a note; null for nothing.
const state = { text: "", trees: [], selected: null, editing: null, unsynced: 0, isSyncing: false, lastSync: null, failure: null };

// ------------------------------------------------------------------------------------------ messages

const button = (text, onclick, kind, label) => element("button", { type: "button", class: kind, onclick, "aria-label": label }, text);

function say(text, kind = "", ...actions) {
  show(byId("message"), element("div", { class: `message ${kind}` }, element("span", {}, text), actions));
}

const clearMessage = () => show(byId("message"));
const run = (action) => (...args) => Promise.resolve(action(...args)).catch((error) => say(explain(error).text, "bad"));

function showStatus() {
  const unsynced = state.unsynced > 0 ? `, ${state.unsynced} unsynced` : "";
  const [text, kind] = state.isSyncing ? ["Syncing", "warning"]
    : !navigator.onLine ? [`Offline${unsynced}`, "warning"]
    : state.failure ? [`Sync failed${unsynced}`, "bad"]
    : state.unsynced > 0 ? [`${state.unsynced} unsynced`, "warning"]
    : state.lastSync ? [`Synced at ${state.lastSync.toLocaleTimeString([], { timeStyle: "short" })}`, "good"]
    : ["Not synced yet", "warning"];
  byId("status").textContent = text;
  byId("status").className = `chip ${kind}`;
  byId("sync").disabled = state.isSyncing;
}

// ------------------------------------------------------------------------------------------ list

async function refresh() {
  state.trees = await casebook.list(state.text);
  state.unsynced = await casebook.unsynced();
  showList();
  showStatus();
  // A form keeps what a person is typing.
  if (state.editing === null) showDetail();
}

const chip = (record) => {
  const known = mark(record, record.conflict);
  return known && element("span", { class: `mark ${known[0]}` }, known[1]);
};

// A case carries the mark of a note if it has none of its own: something below it is not as on the server.
const chipOfTree = (tree) => chip(tree) || chip(tree.notes.find((note) => note.conflict) || tree.notes.find((note) => mark(note)) || {});

function showList() {
  const focused = byId("cases").contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const items = state.trees.map((tree) => {
    const id = tree._soupEntryId;
    return element(
      "li",
      { class: tree.__locally_deleted__ ? "deleted" : null },
      element(
        "button",
        { type: "button", "data-id": id, "aria-current": id === state.selected ? "true" : null, onclick: run(() => select(id)) },
        element("span", { class: "title" }, tree.Subject || "Without subject"),
        chipOfTree(tree),
        element("span", { class: "more muted small" }, [tree.CaseNumber && `Case ${tree.CaseNumber}`, count(tree.notes.length, "note")].filter(Boolean).join(", "))
      )
    );
  });
  show(byId("cases"), items);
  if (focused) byId("cases").querySelector(`[data-id="${focused}"]`)?.focus();
  byId("found").textContent = items.length > 0 ? count(items.length, "case") : state.text === "" ? "No cases yet" : "No cases with these words";
  byId("casebook").classList.toggle("has-selection", state.selected !== null);
}

// ------------------------------------------------------------------------------------------ one case

const selectedTree = () => state.trees.find((tree) => tree._soupEntryId === state.selected);
const back = () => button("← All cases", run(() => select(null)), "plain back");
const field = (name, label, value, attributes = {}) => {
  const input = element(name === "Subject" ? "input" : "textarea", { name, maxlength: name === "Subject" ? "255" : "4000", ...attributes });
  input.value = value ?? "";
  return element("label", { class: "field" }, label, input);
};

async function select(id) {
  const form = byId("detail").querySelector("form");
  const isChanged = form && [...form.elements].some((one) => one.name && one.value !== (one.known ?? ""));
  if (isChanged) {
    const leave = async () => {
      form.remove();
      await select(id);
    };
    say("There is text that is not saved.", "warning", button("Save it", () => form.requestSubmit(), "primary"), button("Drop it", run(leave)));
    return;
  }
  clearMessage();
  Object.assign(state, { selected: id, editing: null });
  showList();
  showDetail();
}

function showDetail() {
  const tree = selectedTree();
  if (!tree) {
    byId("casebook").classList.remove("has-selection");
    show(byId("detail"), element("div", { class: "empty muted" }, "Choose a case, or open one. Neither needs the network."));
    return;
  }
  const body = tree.conflict ? conflictView(tree.conflict, { fields: CASE_FIELDS, noun: "case", resolve: run((how, text) => resolve(tree.conflict, how, text)) })
    : tree.__locally_deleted__ ? deletedCase(tree)
    : state.editing === "case" ? caseForm(tree)
    : caseText(tree);
  show(
    byId("detail"),
    back(),
    element("article", { class: "record" }, element("h2", {}, tree.Subject || "Without subject"), element("div", { class: "card" }, body), !tree.__locally_deleted__ && noteList(tree))
  );
  byId("detail").querySelector("form [name]")?.focus();
}

const edit = (what) => run(() => {
  state.editing = what;
  showDetail();
});

const refusal = (record) => record.__last_error__ && element("p", { class: "bad" }, `The server refused this: ${refusalOf(record)}`);

const caseText = (tree) => [
  refusal(tree),
  element("p", { class: "text" }, tree.Description || "No description"),
  element("div", { class: "actions" }, button("Edit case", edit("case")), button("Delete case", run(() => removeCase(tree)), "danger end")),
];

const deletedCase = (tree) => [
  element("p", {}, "You have deleted this case with its notes. The server deletes them with the next sync."),
  element("div", { class: "actions" }, button("Undelete", run(() => apply(cases.undelete(tree._soupEntryId), "The case is back.")), "primary")),
];

function form(inputs, save) {
  const onsubmit = run((event) => {
    event.preventDefault();
    return save(Object.fromEntries([...event.target.elements].filter((one) => one.name).map((one) => [one.name, one.value.trim() || null])));
  });
  const cancel = button("Cancel", run(() => {
    state.editing = null;
    showDetail();
  }));
  const made = element("form", { class: "sheet", onsubmit }, inputs, element("div", { class: "actions" }, element("button", { type: "submit", class: "primary" }, "Save"), cancel));
  for (const one of made.elements) one.known = one.value;
  return made;
}

const caseForm = (tree) => [
  form(
    CASE_FIELDS.map(({ name, label }) => field(name, label, tree[name], { required: name === "Subject" })),
    (values) => apply(cases.edit(tree._soupEntryId, values))
  ),
];

function noteList(tree) {
  const items = tree.notes.map((note) => element("li", { class: `card note ${note.__locally_deleted__ ? "deleted" : ""}` }, noteBody(note)));
  const isNew = state.editing === "new note";
  const newNote = isNew
    ? form([field("CommentBody", "New note", "", { required: true })], (values) => apply(notes.create({ ...values, ParentId: tree.Id })))
    : button("New note", edit("new note"), "primary");
  return element("section", { class: "record", "aria-label": "Notes" }, element("h3", {}, count(tree.notes.length, "note")), element("ul", { class: "notes" }, items), element("div", {}, newNote));
}

function noteBody(note) {
  const id = note._soupEntryId;
  const start = (note.CommentBody || "").split("\n")[0];
  if (note.conflict) return conflictView(note.conflict, { fields: NOTE_FIELDS, noun: "note", resolve: run((how, text) => resolve(note.conflict, how, text)) });
  if (state.editing === id) return form([field("CommentBody", "Text", note.CommentBody, { required: true })], (values) => apply(notes.edit(id, values)));
  const actions = note.__locally_deleted__
    ? [button("Undelete", run(() => apply(notes.undelete(id), "The note is back.")), "", `Undelete note ${start}`)]
    : [button("Edit", edit(id), "", `Edit note ${start}`), button("Delete", run(() => apply(notes.remove(id), "The note was deleted.")), "danger", `Delete note ${start}`)];
  return [refusal(note), element("p", { class: "text" }, note.CommentBody || ""), element("header", { class: "actions" }, actions, chip(note))];
}

// ------------------------------------------------------------------------------------------ what a person does

async function apply(change, text) {
  await change;
  state.editing = null;
  clearMessage();
  await refresh();
  if (text) say(text);
}

async function newCase() {
  await select(null);
  if (state.selected !== null) return;
  byId("search").value = state.text = "";
  const { _soupEntryId: id } = await cases.create({ Subject: "New case", Description: null });
  Object.assign(state, { selected: id, editing: "case" });
  await refresh();
  showDetail();
  byId("detail").querySelector("[name=Subject]").select();
}

async function removeCase(tree) {
  const isKept = await casebook.removeCase(tree);
  Object.assign(state, { selected: null, editing: null });
  await refresh();
  say(`${tree.Subject} was deleted.`, "", isKept && button("Undelete", run(() => apply(cases.undelete(tree._soupEntryId), "The case is back."))));
}

async function resolve(conflict, how, text) {
  await syncs.resolve(conflict, how);
  await refresh();
  say(text, "", state.unsynced > 0 && button("Sync now", run(syncNow)));
}

async function syncNow() {
  if (state.isSyncing) return;
  Object.assign(state, { isSyncing: true });
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
    say(`The cases are not synced, and are kept on this device. ${state.failure}`, "warning", button("Try again", run(syncNow)));
  } finally {
    state.isSyncing = false;
    byId("progress").hidden = true;
    await refresh();
  }
  const conflicts = await syncs.conflicts();
  if (!state.failure && conflicts.length > 0) say(`${count(conflicts.length, "record needs", "records need")} your decision.`, "warning");
}

// ------------------------------------------------------------------------------------------ start

// "/" goes to the search, Escape closes the form or the case.
function onKey(event) {
  const isInField = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "Escape" && state.editing !== null && !isInField) {
    state.editing = null;
    showDetail();
  } else if (event.key === "Escape" && state.selected !== null && document.activeElement !== byId("search")) run(() => select(null))();
  else if (event.key === "/" && !isInField) byId("search").focus();
  else return;
  event.preventDefault();
}

async function start() {
  fieldforce.connection.on("fieldforceReload", () => location.reload());
  if (!(await fieldforce.currentUser())) await requestLogin(byId("login"), async () => (await fieldforce.authenticate(), fieldforce.currentUser()));
  if (!(await isSetUp(syncs, SYNCS.down))) {
    say("The syncs of this app do not exist yet. End the bridge and start it again: it creates them for the user who is logged in.", "bad");
    return;
  }
  byId("login").hidden = true;
  byId("casebook").hidden = false;
  byId("new").disabled = false;
  byId("new").addEventListener("click", run(newCase));
  byId("sync").addEventListener("click", run(syncNow));
  byId("search").addEventListener("input", later(200, run(() => ((state.text = byId("search").value.trim()), refresh()))));
  moveWithArrows(byId("cases"));
  document.addEventListener("keydown", onKey);
  window.addEventListener("online", run(syncNow));
  window.addEventListener("offline", showStatus);
  await refresh();
  if (navigator.onLine) await syncNow();
}

run(start)();
